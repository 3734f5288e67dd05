//! What Argo CD's Secrets ask for by what they hold.
//!
//! In:  a Secret with lines and the value of its `secret-type` label, or `argocd-secret`.
//! Out: addresses of rows (`repository-secret:sshPrivateKey`), each with its line and what stands there.
//! Invariant: a value is looked at and never repeated: it may be a credential.
//! Source: APP-210, REND-048 (`util/db/repository_secrets.go`, `util/db/cluster.go`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::document::Node;

/// Name of the Secret that Argo CD reads by its name.
pub const ARGOCD_SECRET: &str = "argocd-secret";

/// Something a Secret asks for.
pub struct Asked {
    /// Address in the table.
    pub address: String,
    /// Key of the Secret's data.
    pub key: String,
    /// Line of the key, counted from 1.
    pub line: u64,
}

/// What the data of a Secret asks for besides what its label says; `secret_type` is the label's value, or the name of
/// the Secret that needs none.
pub fn asked(secret_type: &str, secret: &Node) -> Vec<Asked> {
    let mut found = Vec::new();
    for (field, is_encoded) in [("data", true), ("stringData", false)] {
        for entry in secret.get(field).map(Node::entries).unwrap_or_default() {
            let text = entry.value.text().unwrap_or_default();
            let value = if is_encoded { decoded(text) } else { text.to_owned() };
            for address in addresses(secret_type, &entry.key, &value) {
                found.push(Asked { address, key: entry.key.clone(), line: entry.line });
            }
        }
    }
    found
}

/// Sealed and templated values cannot be read; they say nothing then.
fn decoded(text: &str) -> String {
    STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn addresses(secret_type: &str, key: &str, value: &str) -> Vec<String> {
    match (secret_type, key) {
        ("repository" | "repo-creds", "type") => vec![format!("repository-secret:type={value}")],
        ("repository" | "repo-creds", _) if !matches!(value, "" | "false" | "0") => {
            vec![format!("repository-secret:{key}")]
        }
        ("cluster", "namespaces") if !value.trim().is_empty() => vec!["cluster-secret:namespaces".to_owned()],
        ("cluster", "config") => {
            let config: serde_json::Value = serde_json::from_str(value).unwrap_or_default();
            let methods = ["execProviderConfig", "awsAuthConfig"].into_iter();
            let used = methods.filter(|name| config.get(*name).is_some_and(|method| !method.is_null()));
            used.map(|name| format!("cluster-secret:{name}")).collect()
        }
        // Argo CD finds its own Secret by name; what else is in it belongs to its API server.
        (ARGOCD_SECRET, key) if key.starts_with("webhook.") && !value.is_empty() => {
            vec![format!("{ARGOCD_SECRET}:{key}")]
        }
        _ => Vec::new(),
    }
}
