//! Walks objects and notes the features they use.
//!
//! In:  documents with lines.
//! Out: uses, in the order of the file.
//! Invariant: a field, option, annotation of Argo CD or setting that the table does not know is noted as unknown.
//! Source: APP-001 to APP-023, SYNC-190, APP-272.

use std::collections::BTreeSet;

use super::document::{Content, Node};
use super::table::{Branch, Row, UNKNOWN, field_root, rows_for_name};
use super::{Part, Support, Use, patches, secret, valid, values};
use crate::api::names;

/// Label that marks Argo CD's own Secrets.
const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";
/// Kind and metadata: every object has them, so that they are no use of anything.
const IDENTITY: &str = "object.identity";
/// Domains whose annotations belong to Argo CD or are read by it; others are somebody else's.
const ANNOTATIONS: [&str; 7] = [
    "argocd.argoproj.io/",
    "link.argocd.argoproj.io/",
    "notice.argocd.argoproj.io/",
    "pref.argocd.argoproj.io/",
    "notifications.argoproj.io/",
    "helm.sh/hook",
    "helm.sh/resource-policy",
];

/// What the documents of one file use.
pub fn objects(file: &str, documents: &[Node]) -> Part {
    let part = Part { patches: patches::of(file, documents), ..Part::default() };
    let mut walk = Walk { file, part, seen: BTreeSet::new() };
    for document in documents {
        walk.object(document);
    }
    walk.part
}

/// A field's path as written, and its line.
struct At<'a> {
    path: &'a str,
    line: u64,
}

struct Walk<'a> {
    file: &'a str,
    part: Part,
    /// Features of the object at hand, with the map they were found in.
    seen: BTreeSet<(&'static str, String)>,
}

impl Walk<'_> {
    fn object(&mut self, node: &Node) {
        let text = |field: &str| node.get(field).and_then(Node::text).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if kind.ends_with("List")
            && let Some(items) = node.get("items")
        {
            for item in items.items() {
                self.object(item);
            }
            return;
        }
        let metadata = node.get("metadata");
        let name = metadata.and_then(|metadata| metadata.get("name")).and_then(Node::text).unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, kind) {
            (names::GROUP, _) if field_root(kind).is_some() => self.argo_cd_object(kind, node),
            ("", "ConfigMap") if name == "argocd-cm" || name == "argocd-cmd-params-cm" => self.settings(name, node),
            ("", "Secret") => {
                if name == secret::ARGOCD_SECRET {
                    self.count(name);
                    self.asked(name, node);
                }
                self.secret(node, metadata);
            }
            _ => {}
        }
        if let Some(metadata) = metadata {
            self.annotations(metadata.get("annotations"));
            self.finalizers(metadata.get("finalizers"));
        }
    }

    fn argo_cd_object(&mut self, kind: &str, node: &Node) {
        self.count(kind);
        self.part.problems.extend(valid::problems(self.file, kind, node));
        self.seen.clear();
        if let Some(root) = field_root(kind) {
            self.fields(root, node, "");
        }
    }

    fn count(&mut self, what: &str) {
        *self.part.objects.entry(what.to_owned()).or_default() += 1;
    }

    /// The fields of a map, or of every map in a list.
    fn fields(&mut self, branch: &'static Branch, node: &Node, path: &str) {
        for (index, item) in node.items().iter().enumerate() {
            self.fields(branch, item, &format!("{path}[{index}]"));
        }
        for entry in node.entries() {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", entry.key);
            let at = At { path: &path, line: entry.line };
            match branch.child(&entry.key) {
                Some(child) => self.field(child, &entry.value, &at),
                None => self.note(&UNKNOWN, &at),
            }
        }
    }

    fn field(&mut self, branch: &'static Branch, node: &Node, at: &At<'_>) {
        let nothing = node.is_null()
            || matches!(&node.content, Content::List(items) if items.is_empty())
            || node.text().is_some_and(str::is_empty);
        let whole = branch.is_whole();
        // An empty map switches on what has parts (`automated: {}`), and says nothing where it is only a container.
        let empty_map = matches!(&node.content, Content::Map(entries) if entries.is_empty());
        if nothing || (whole && empty_map) {
            return;
        }
        if let Some(row) = branch.row().filter(|row| !is_switched_off(row, node)) {
            // Several fields of one map can be one feature (a name prefix and a suffix), which is used once then.
            let parent = at.path.rsplit_once('.').map_or("", |(parent, _)| parent);
            if row.feature.id != IDENTITY && self.seen.insert((row.feature.id, parent.to_owned())) {
                self.note(row, at);
            }
            self.value(row.feature.id, node);
        }
        if !whole {
            self.fields(branch.inner(), node, at.path);
        }
    }

    /// Features that a field's value decides, not the field itself.
    fn value(&mut self, id: &str, node: &Node) {
        match id {
            "sync.options" | "operation.sync-options" => {
                for item in node.items() {
                    self.option("sync-option:", item.text().unwrap_or_default(), item.line);
                }
            }
            "source.repository" => self.repository(node),
            "destination.server" => self.destination(node, names::IN_CLUSTER_SERVER),
            "destination.name" => self.destination(node, names::IN_CLUSTER_NAME),
            "appset.template.annotations" => self.annotations(Some(node)),
            "appset.template.finalizers" => self.finalizers(Some(node)),
            _ => {}
        }
    }

    fn repository(&mut self, node: &Node) {
        let url = node.text().unwrap_or_default();
        let scp_like = !url.contains("://") && url.split_once(':').is_some_and(|(host, _)| host.contains('@'));
        if url.starts_with("oci://") {
            self.named("repository:oci", url, node.line);
        } else if url.starts_with("ssh://") || scp_like {
            self.named("repository:ssh", url, node.line);
        }
    }

    fn destination(&mut self, node: &Node, in_cluster: &str) {
        let text = node.text().unwrap_or_default();
        if text != in_cluster && !is_templated(text) {
            self.named("destination:remote", text, node.line);
        }
    }

    fn annotations(&mut self, node: Option<&Node>) {
        for entry in node.map(Node::entries).unwrap_or_default() {
            if !ANNOTATIONS.iter().any(|domain| entry.key.starts_with(domain)) {
                continue;
            }
            self.named(&format!("annotation:{}", entry.key), &entry.key, entry.line);
            let prefix = match entry.key.as_str() {
                names::SYNC_OPTIONS => "sync-option:",
                names::COMPARE_OPTIONS => "compare-option:",
                names::HOOK => "hook:",
                names::HELM_HOOK => "helm-hook:",
                _ => continue,
            };
            for part in entry.value.text().unwrap_or_default().split(',').map(str::trim) {
                self.option(prefix, part, entry.line);
            }
        }
    }

    /// `Key=value` or `Key`; a templated or empty one says nothing yet, and one set to `false` may be switched off.
    fn option(&mut self, prefix: &str, text: &str, line: u64) {
        if text.is_empty() || is_templated(text) {
            return;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let found = rows_for_name(&format!("{prefix}{key}"));
        let off = value == "false" && found.iter().any(|row| is_left_undone(row));
        if !off {
            self.named(&format!("{prefix}{key}"), text, line);
        }
    }

    fn finalizers(&mut self, node: Option<&Node>) {
        for item in node.map(Node::items).unwrap_or_default() {
            let text = item.text().unwrap_or_default();
            if text.contains("argocd.argoproj.io") {
                self.named(&format!("finalizer:{text}"), text, item.line);
            }
        }
    }

    fn settings(&mut self, name: &str, node: &Node) {
        self.count(name);
        self.part.problems.extend(values::problems(self.file, name, node));
        for entry in node.get("data").map(Node::entries).unwrap_or_default() {
            let address = format!("{name}:{}", entry.key);
            let off = rows_for_name(&address).iter().any(|row| is_switched_off(row, &entry.value));
            if !off {
                self.named(&address, &entry.key, entry.line);
            }
        }
    }

    fn secret(&mut self, node: &Node, metadata: Option<&Node>) {
        let label = metadata.and_then(|metadata| metadata.get("labels")).and_then(|labels| labels.entry(SECRET_TYPE));
        if let Some(label) = label {
            self.count("Secret");
            let text = label.value.text().unwrap_or_default();
            self.named(&format!("secret:{text}"), &format!("{SECRET_TYPE}: {text}"), label.line);
            self.asked(text, node);
            if text == "cluster" {
                self.part.problems.extend(values::cluster_problems(self.file, node));
            }
        }
    }

    /// What the data of a Secret asks for.
    fn asked(&mut self, secret_type: &str, node: &Node) {
        for asked in secret::asked(secret_type, node) {
            // What has no row of its own (a URL, a name) is no feature of its own.
            if let Some(row) = rows_for_name(&asked.address).first().copied() {
                self.note(row, &At { path: &asked.key, line: asked.line });
            }
        }
    }

    fn named(&mut self, address: &str, shown: &str, line: u64) {
        let row = rows_for_name(address).first().copied().unwrap_or(&UNKNOWN);
        self.note(row, &At { path: shown, line });
    }

    fn note(&mut self, row: &'static Row, at: &At<'_>) {
        self.part.uses.push(Use {
            feature: &row.feature,
            file: self.file.to_owned(),
            line: at.line,
            what: at.path.to_owned(),
        });
    }
}

/// What litecd does not do does no harm where it is set to its zero value.
fn is_switched_off(row: &Row, node: &Node) -> bool {
    is_left_undone(row) && matches!(node.text(), Some("false" | "" | "0"))
}

fn is_left_undone(row: &Row) -> bool {
    matches!(row.feature.support, Support::No(_) | Support::Other(_))
}

fn is_templated(text: &str) -> bool {
    text.contains("{{")
}
