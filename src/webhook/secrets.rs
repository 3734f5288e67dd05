//! What senders of webhooks sign with.
//!
//! In:  the data of `argocd-secret`, and of Secrets that its values may point to.
//! Out: one secret per kind of sender; empty where none is set.
//! Invariant: `Debug` prints none of them.
//! Source: HOOK-002, HOOK-004 (`util/settings/settings.go` `updateSettingsFromSecret`, `ReplaceStringSecret`).

use crate::settings::Secret;

/// Secrets of senders.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secrets {
    /// GitHub, and its registry.
    pub github: String,
    /// GitLab.
    pub gitlab: String,
    /// Bitbucket Cloud.
    pub bitbucket_uuid: String,
    /// Bitbucket Server.
    pub bitbucket_server: String,
    /// Gogs, Gitea and Forgejo.
    pub gogs: String,
    /// User of Azure DevOps.
    pub azure_user: String,
    /// Password of Azure DevOps.
    pub azure_password: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Secrets {
    /// Reads the values of `argocd-secret`; `$key` points into it, `$name:key` into another Secret.
    pub fn read<'a>(own: Option<&Secret>, others: impl Iterator<Item = &'a Secret> + Clone) -> Self {
        let of = |key: &str| {
            let value = own.map(|own| own.text(key)).unwrap_or_default();
            let Some(pointer) = value.strip_prefix('$') else { return value };
            let text = |secret: &Secret, key: &str| secret.data.contains_key(key).then(|| secret.text(key));
            let found = own.and_then(|own| text(own, pointer)).or_else(|| {
                let (name, key) = pointer.split_once(':')?;
                text(others.clone().find(|other| other.name == name)?, key)
            });
            found.map_or(value, |found| found.trim().to_owned())
        };
        Self {
            github: of("webhook.github.secret"),
            gitlab: of("webhook.gitlab.secret"),
            bitbucket_uuid: of("webhook.bitbucket.uuid"),
            bitbucket_server: of("webhook.bitbucketserver.secret"),
            gogs: of("webhook.gogs.secret"),
            azure_user: of("webhook.azuredevops.username"),
            azure_password: of("webhook.azuredevops.password"),
        }
    }
}
