//! kubectl's words: what it prints when it did something, and what Argo CD makes of its errors.
//!
//! In:  an object and a verb; an error and the manifest it came from.
//! Out: texts for `syncResult.resources[].message`.
//! Source: SYNC-140, SYNC-147, SYNC-148, SYNC-152; kubectl v0.36.1 `pkg/cmd/apply/apply.go`, cli-runtime
//! `pkg/printers/name.go`, `kube.go` `cleanKubectlOutput`, `resource_ops.go` `handleLogOutput`.

use serde_json::Value;

use super::{Error, Resource};
use crate::api::{ObjectExt, names};

/// What a kubectl command wrote.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The message: both streams trimmed, joined by `. `.
    pub fn message(&self) -> String {
        let parts = [self.stdout.trim(), self.stderr.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ")
    }

    /// Prints `deployment.apps/web created`.
    pub fn print(&mut self, object: &Value, verb: &str) {
        self.stdout.push_str(&format!("{} {verb}\n", reference(object)));
    }
}

fn reference(object: &Value) -> String {
    let name = match object.name() {
        "" => "<unknown>",
        name => name,
    };
    format!("{}/{name}", kind_name(object.group(), object.kind()))
}

/// `deployment.apps`, `pod`.
fn kind_name(group: &str, kind: &str) -> String {
    let kind = kind.to_lowercase();
    if group.is_empty() { kind } else { format!("{kind}.{group}") }
}

/// `job.batch "x" deleted from ns namespace`.
pub(super) fn deleted(resource: &Resource, object: &Value) -> String {
    let from = if resource.namespaced { format!(" from {} namespace", object.namespace()) } else { String::new() };
    format!("{} \"{}\" deleted{from}\n", kind_name(&resource.group, &resource.kind), object.name())
}

/// The base command's name is empty in Argo CD, hence the double spaces.
pub(super) fn missing_last_applied(resource: &Resource, name: &str) -> String {
    format!(
        "Warning: resource {}/{name} is missing the {} annotation which is required by  apply.  apply should only be \
         used on resources created declaratively by either  create --save-config or  apply. The missing annotation \
         will be patched automatically.\n",
        resource.plural,
        names::LAST_APPLIED
    )
}

/// Said when an object that was written is on its way out.
pub(super) fn being_deleted(object: &Value) -> String {
    if object.is_deleting() {
        format!("Warning: Detected changes to resource {} which is currently being deleted.\n", object.name())
    } else {
        String::new()
    }
}

/// kubectl's advice on a conflict, which no longer tells field conflicts (always forced here) from a `resourceVersion` in
/// the manifest that is not the live one.
pub(super) fn conflict_advice(error: &Error) -> String {
    format!(
        "{error}\nPlease review the fields above--they currently have other managers. Here\nare the ways you can resolve \
         this warning:\n* If you intend to manage all of these fields, please re-run the apply\n  command with the \
         `--force-conflicts` flag.\n* If you do not intend to manage all of the fields, please edit your\n  manifest to \
         remove references to the fields that should keep their\n  current managers.\n* You may co-own fields by updating \
         your manifest to match the existing\n  value; in this case, you'll become the manager if the other manager(s)\n  \
         stop managing the field (remove it from their configuration).\nSee \
         https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
    )
}

/// A failed step of the migration that follows a server-side apply; the apply itself succeeded.
pub(super) fn migration_rejected(error: &Error) -> String {
    format!(
        "Warning: server rejected managed fields migration to Server-Side Apply. This is non-fatal and will be retried \
         next time you apply. Error: {error}\n"
    )
}

/// See [`migration_rejected`].
pub(super) fn reapply_failed(error: &Error) -> String {
    format!(
        "Warning: failed to re-apply configuration after performing Server-Side Apply migration. This is non-fatal and \
         will be retried next time you apply. Error: {error}\n"
    )
}

/// kubectl's wrapping of an error with the file it was working on.
pub(super) fn while_doing(verb: &str, file: &str, error: &str) -> String {
    format!("error when {verb} \"{file}\": {error}")
}

/// The name of the file Argo CD would have handed to kubectl: `/dev/shm/<digits>`.
///
/// litecd writes no file, but the name is part of texts people and scripts know. The digits are a hash (FNV-1a) of the
/// object's key, so that the same failure reads the same on every attempt instead of changing the status each time.
pub(super) fn file_of(object: &Value) -> String {
    let key = object.key().to_string();
    let hash = key.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("/dev/shm/{hash}")
}

/// Argo CD's clean-up of kubectl's error texts.
pub(super) fn clean(text: &str) -> String {
    let text = without_source(text.trim());
    let text = text.split('\n').map(without_map).collect::<Vec<_>>().join("\n");
    text.replace("; if you choose to ignore these errors, turn validation off with --validate=false", "")
}

/// Drops a leading `error when creating "<file>": ` or `error validating "<file>": `.
fn without_source(text: &str) -> &str {
    let rest = text.strip_prefix("error: ").unwrap_or(text);
    let after_verb = ["error validating \"", "error when creating \""].iter().find_map(|verb| rest.strip_prefix(verb));
    let Some(after_verb) = after_verb else { return text };
    match after_verb.split_once(' ') {
        Some((file, rest)) if file.len() > 2 && file.ends_with("\":") && !file.contains(char::is_whitespace) => rest,
        _ => text,
    }
}

/// Drops everything from the first `map[` to the last `]` of a line.
fn without_map(line: &str) -> String {
    let Some((before, rest)) = line.split_once("map[") else { return line.to_owned() };
    match rest.rsplit_once(']') {
        Some((_, after)) => format!("{before}{after}"),
        None => line.to_owned(),
    }
}
