//! The kinds an API server offered at one moment, in compact form.
//!
//! In:  groups, versions and kinds in the server's order of preference.
//! Out: look-ups by kind, and the lists made from all of them.
//! Source: client-go v0.36.1 `discovery/discovery_client.go` `ServerPreferredResources`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::{GroupKind, GroupVersionKind};
use crate::cluster::Resource;

/// Kinds sorted by group and kind; within a kind, versions in the group's order of preference.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Snapshot {
    resources: Vec<Arc<Resource>>,
    /// `group/version`s the server listed without their kinds.
    pub unreadable: Vec<String>,
    /// The server's version.
    pub version: String,
    /// Tags of the documents it was read from, where the server gave each one.
    pub tags: Vec<String>,
}

impl Snapshot {
    /// `resources` must come in order of preference within each group.
    pub fn new(resources: Vec<Resource>, unreadable: Vec<String>, version: String) -> Self {
        let mut resources: Vec<_> = resources.into_iter().map(Arc::new).collect();
        // The sort is stable, which keeps the order of preference.
        resources.sort_by(|a, b| (&a.group, &a.kind).cmp(&(&b.group, &b.kind)));
        resources.shrink_to_fit();
        Self { resources, unreadable, version, tags: Vec::new() }
    }

    fn versions_of(&self, group: &str, kind: &str) -> impl Iterator<Item = &Arc<Resource>> {
        let start = self.resources.partition_point(|known| (known.group.as_str(), known.kind.as_str()) < (group, kind));
        let rest = self.resources.get(start..).unwrap_or_default();
        rest.iter().take_while(move |known| known.group == group && known.kind == kind)
    }

    pub fn find(&self, gvk: &GroupVersionKind, verb: &str) -> Option<Arc<Resource>> {
        self.versions_of(&gvk.group, &gvk.kind)
            .find(|known| known.version == gvk.version && (verb.is_empty() || known.verbs.has(verb)))
            .cloned()
    }

    pub fn preferred(&self, kind: &GroupKind) -> Option<Arc<Resource>> {
        self.versions_of(&kind.group, &kind.kind).next().cloned()
    }

    pub fn listable(&self) -> Vec<Arc<Resource>> {
        // One plural may serve a kind in several versions, and one kind may have several plurals; the plural decides.
        let mut seen = BTreeSet::new();
        let fresh = self.resources.iter().filter(|known| seen.insert((known.group.as_str(), known.plural.as_str())));
        fresh.filter(|known| is_listable(known)).cloned().collect()
    }

    pub fn api_versions(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for known in self.resources.iter().filter(|known| is_listable(known)) {
            let version = known.api_version();
            names.insert(format!("{version}/{}", known.kind));
            names.insert(version);
        }
        names.into_iter().collect()
    }
}

fn is_listable(resource: &Resource) -> bool {
    resource.verbs.has("list") && resource.verbs.has("watch")
}
