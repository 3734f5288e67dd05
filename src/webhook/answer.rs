//! The answers to webhooks, word for word.
//!
//! In:  why a request was refused, and at which endpoint.
//! Out: status code and text.
//! Invariant: no answer holds anything of a secret or of a body.
//! Source: HOOK-005, HOOK-019 (`util/webhook/webhook.go` `Handler`, `applicationset/webhook/webhook.go` `Handler`).

use super::claim::Endpoint;

/// Status code and text of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status code.
    pub code: u16,
    /// Body, without its final newline.
    pub text: String,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No header names a sender that is known.
    #[error("Unknown webhook event")]
    UnknownSender,
    /// The body is empty, too large or broken off.
    #[error("error parsing payload")]
    Payload,
    /// The signature of a registry is missing or wrong.
    #[error("HMAC verification failed")]
    Registry,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    /// The answer to the sender.
    pub fn answer(&self, endpoint: Endpoint, method: &str, limit: u64) -> Answer {
        let refused = |code: u16, text: String| Answer { code, text };
        if *self == Self::UnknownSender {
            return refused(400, self.to_string());
        }
        let code = if method == "POST" { 400 } else { 405 };
        if endpoint == Endpoint::ApplicationSets {
            return refused(code, format!("Webhook processing failed: {}", escaped(&self.to_string())));
        }
        match self {
            Self::Registry => refused(401, "Unauthorized".to_owned()),
            Self::Payload => refused(
                400,
                format!("Webhook processing failed: payload must be valid JSON under {} MB", limit / 1024 / 1024),
            ),
            _ => refused(code, "Webhook processing failed".to_owned()),
        }
    }
}

impl Answer {
    /// The event was taken.
    pub fn accepted() -> Self {
        Self { code: 200, text: String::new() }
    }
    /// Too many events wait already.
    pub fn full() -> Self {
        Self { code: 503, text: "Queue is full, discarding webhook payload".to_owned() }
    }
}

/// As Go's `html.EscapeString`.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\'', "&#39;").replace('"', "&#34;")
}
