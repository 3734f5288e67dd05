//! Which objects that no application owns a project wants to hear of.
//!
//! In:  `spec.orphanedResources`; an object's key.
//! Out: whether orphans are looked for, warned of, and whether an object is left out.
//! Source: APP-253 to APP-255, PROJ-025 (`controller/appcontroller.go` `isKnownOrphanedResourceExclusion`).

use super::Project;
use crate::api::ResourceKey;
use crate::gocompat::glob;

impl Project {
    /// Whether orphans are looked for at all.
    pub fn monitors_orphans(&self) -> bool {
        self.spec.orphaned_resources.is_some()
    }

    /// Whether orphans give a warning; absent means no.
    pub fn warns_of_orphans(&self) -> bool {
        self.spec.orphaned_resources.as_ref().is_some_and(|orphans| orphans.warn == Some(true))
    }

    /// Whether an object is no orphan: Kubernetes makes it in every namespace, the project ignores it, or the project
    /// forbids its kind.
    pub fn excludes_orphan(&self, key: &ResourceKey) -> bool {
        let rules = self.spec.orphaned_resources.as_ref().map(|orphans| orphans.ignore.as_slice()).unwrap_or_default();
        let matches = |pattern: &str, text: &str| glob::matches(pattern, text, &[]);
        let ignored = rules.iter().any(|rule| {
            (rule.kind.is_empty() || matches(&rule.kind, &key.kind))
                // An empty group is the core group and nothing else.
                && matches(&rule.group, &key.group)
                && (rule.name.is_empty() || matches(&rule.name, &key.name))
        });
        ignored || is_everywhere(key) || !self.kind_permitted(&key.group_kind(), &key.name, true)
    }
}

fn is_everywhere(key: &ResourceKey) -> bool {
    match (key.group.as_str(), key.kind.as_str(), key.name.as_str()) {
        ("", "Service", "kubernetes") => key.namespace == "default",
        ("", "ServiceAccount", "default") | ("", "ConfigMap", "kube-root-ca.crt") => true,
        _ => false,
    }
}
