//! Limits of webhooks.
//!
//! In:  the data of `argocd-cm`.
//! Out: typed limits with Argo CD's defaults.
//! Source: HOOK-006, HOOK-015 (`util/settings/settings.go` `GetMaxWebhookPayloadSize`, `GetWebhookRefreshJitter`).

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::gocompat::duration;

/// Limits of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookLimits {
    /// Longest body in bytes.
    pub max_payload: u64,
    /// Longest random delay of a refresh; zero is none.
    pub jitter: SignedDuration,
    /// How many Applications one event refreshes without a delay.
    pub jitter_threshold: usize,
}

impl Default for WebhookLimits {
    fn default() -> Self {
        Self { max_payload: 50 << 20, jitter: SignedDuration::ZERO, jitter_threshold: 10 }
    }
}

impl WebhookLimits {
    /// Reads `argocd-cm`; what cannot be read is as if it were not there.
    pub fn read(data: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| data.get(key).map_or("", String::as_str);
        let default = Self::default();
        let mebibytes = text("webhook.maxPayloadSizeMB").parse::<i64>().ok();
        Self {
            // Nothing fits below zero, as in Argo CD.
            max_payload: mebibytes
                .map_or(default.max_payload, |size| u64::try_from(size).unwrap_or(0).saturating_mul(1 << 20)),
            jitter: duration::parse_setting(text("webhook.refresh.jitter"))
                .filter(|jitter| jitter.is_positive())
                .unwrap_or(default.jitter),
            jitter_threshold: text("webhook.refresh.jitter.threshold").parse().unwrap_or(default.jitter_threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_defaults_and_unreadable_ones_count_as_absent() {
        let read = |size: &str, jitter: &str, threshold: &str| {
            let data =
                [("maxPayloadSizeMB", size), ("refresh.jitter", jitter), ("refresh.jitter.threshold", threshold)];
            WebhookLimits::read(&data.map(|(key, text)| (format!("webhook.{key}"), text.to_owned())).into())
        };
        assert_eq!(WebhookLimits::read(&BTreeMap::new()), WebhookLimits::default());
        assert_eq!(read("many", "soon", "-1"), WebhookLimits::default());
        let limits = WebhookLimits { max_payload: 2 << 20, jitter: SignedDuration::from_mins(1), jitter_threshold: 0 };
        assert_eq!(read("2", "1m", "0"), limits);
        assert_eq!(read("-1", "", "").max_payload, 0);
    }
}
