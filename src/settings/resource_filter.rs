//! Which kinds of objects are looked at.
//!
//! In:  keys `resource.exclusions` and `resource.inclusions`.
//! Out: whether a kind on a cluster is excluded.
//! Source: APP-256, APP-257 (`util/settings/resources_filter.go`, `filtered_resource.go`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Error, keys};
use crate::api::wire::null_is_zero;
use crate::gocompat::glob;

/// Rules that leave kinds out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceFilter {
    exclusions: Vec<Rule>,
    inclusions: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    #[serde(deserialize_with = "null_is_zero")]
    api_groups: Vec<String>,
    #[serde(deserialize_with = "null_is_zero")]
    kinds: Vec<String>,
    #[serde(deserialize_with = "null_is_zero")]
    clusters: Vec<String>,
}

impl Rule {
    fn matches(&self, group: &str, kind: &str, server: &str) -> bool {
        globs_match(&self.api_groups, group)
            && (self.kinds.is_empty() || self.kinds.iter().any(|wanted| wanted == "*" || wanted == kind))
            && self.matches_cluster(server)
    }

    fn matches_cluster(&self, server: &str) -> bool {
        globs_match(&self.clusters, server)
    }
}

/// An empty list matches all.
fn globs_match(patterns: &[String], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| glob::matches(pattern, text, &[]))
}

impl ResourceFilter {
    pub(super) fn read(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        let rules = |key: &str| data.get(key).map_or(Ok(Vec::new()), |text| keys::from_yaml(key, text));
        Ok(Self { inclusions: rules("resource.inclusions")?, exclusions: rules("resource.exclusions")? })
    }

    /// Whether a kind is left out on a cluster, given by its server URL.
    pub fn is_excluded(&self, group: &str, kind: &str, server: &str) -> bool {
        if is_always_excluded(group, kind) || self.exclusions.iter().any(|rule| rule.matches(group, kind, server)) {
            return true;
        }
        let included = self.inclusions.iter().any(|rule| rule.matches(group, kind, server));
        // Inclusions that apply to the cluster leave everything else out.
        !included && self.inclusions.iter().any(|rule| rule.matches_cluster(server))
    }
}

/// Kinds whose objects come and go all the time and belong to nobody's sources.
fn is_always_excluded(group: &str, kind: &str) -> bool {
    matches!((group, kind), ("events.k8s.io" | "metrics.k8s.io", _) | ("", "Event") | ("coordination.k8s.io", "Lease"))
}
