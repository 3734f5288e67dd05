//! The Secret that holds an application's diff.
//!
//! In:  an Application and its diff.
//! Out: Secret `<application>.diff` beside it, owned by it.
//! Invariant: it carries none of Argo CD's labels, and no tracking id, so that Argo CD takes it for nobody's.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::diff::Room;
use crate::api::{Application, ObjectExt, names};

/// Type of the Secret, by which litecd knows its own; the API server lets nobody change it.
const TYPE: &str = "litecd.io/diff";

/// Key of the diff in the Secret.
const KEY: &str = "diff";

/// Where the digest of the text stands, so that a list of metadata tells what was published.
const DIGEST: &str = "litecd.io/digest";

/// Labels by which all published diffs are found.
pub const SELECTOR: &str = "app.kubernetes.io/managed-by=litecd,app.kubernetes.io/component=diff";

/// Room for the text: far below what a Secret may hold, since it is written at each change; and made in milliseconds,
/// since everything else waits meanwhile.
pub const ROOM: Room = Room { all: 64 << 10, each: 16 << 10, lines: 3_000 };

/// What a name may be long.
const LONGEST_NAME: usize = 253;

/// Name of the Secret; nothing for an application whose name leaves no room for it.
pub fn name(app: &str) -> Option<String> {
    Some(format!("{app}.diff")).filter(|name| name.len() <= LONGEST_NAME)
}

/// Name of the application that a Secret's name stands for.
pub fn application(secret: &str) -> Option<&str> {
    secret.strip_suffix(".diff")
}

/// The Secret.
pub fn secret(app: &Application, text: &str) -> Option<Value> {
    let meta = &app.metadata;
    Some(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {
            "name": name(&meta.name)?,
            "namespace": meta.namespace,
            "labels": {"app.kubernetes.io/managed-by": "litecd", "app.kubernetes.io/component": "diff"},
            "annotations": {DIGEST: digest(text)},
            "ownerReferences": [{
                "apiVersion": format!("{}/v1alpha1", names::GROUP),
                "kind": "Application",
                "name": meta.name,
                "uid": meta.uid,
            }],
        },
        "stringData": {KEY: text},
    }))
}

/// Whether litecd made this Secret.
pub fn is_ours(secret: &Value) -> bool {
    secret.get("type").and_then(Value::as_str) == Some(TYPE)
}

/// The digest that a published Secret carries; empty when somebody took it away.
pub fn digest_of(secret: &Value) -> &str {
    secret.annotation(DIGEST).unwrap_or_default()
}

/// Digest of a text; half of it tells texts apart well enough.
pub fn digest(text: &str) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()).iter().take(16) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
