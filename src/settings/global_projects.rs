//! Projects whose rules are added to other projects.
//!
//! In:  key `globalProjects`; labels of a project.
//! Out: names of projects, and whose rules they extend.
//! Source: APP-211, APP-284 (`util/argo/argo.go` `GetGlobalProjects`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::keys;
use crate::api::wire::null_is_zero;

/// A project whose rules are added to all projects that its selector matches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GlobalProject {
    /// Name of the project that gives its rules.
    #[serde(deserialize_with = "null_is_zero")]
    pub project_name: String,
    /// Which projects receive them; an empty selector matches all.
    #[serde(deserialize_with = "null_is_zero")]
    pub label_selector: LabelSelector,
}

/// A Kubernetes label selector.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that must have these values.
    #[serde(deserialize_with = "null_is_zero")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(deserialize_with = "null_is_zero")]
    pub match_expressions: Vec<Requirement>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// Label key.
    #[serde(deserialize_with = "null_is_zero")]
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[serde(deserialize_with = "null_is_zero")]
    pub operator: String,
    /// Values of `In` and `NotIn`.
    #[serde(deserialize_with = "null_is_zero")]
    pub values: Vec<String>,
}

impl GlobalProject {
    /// A value that cannot be read means that there are none: Argo CD logs it and goes on.
    pub(super) fn read(data: &BTreeMap<String, String>) -> Vec<Self> {
        const KEY: &str = "globalProjects";
        data.get(KEY).map(|text| keys::from_yaml(KEY, text).unwrap_or_default()).unwrap_or_default()
    }
}

impl LabelSelector {
    /// Whether the labels match; `None` when the selector itself is wrong.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> Option<bool> {
        let mut all = self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
        for requirement in &self.match_expressions {
            let label = labels.get(&requirement.key);
            let listed = label.is_some_and(|label| requirement.values.contains(label));
            let has_values = !requirement.values.is_empty();
            all &= match (requirement.operator.as_str(), has_values) {
                ("In", true) => listed,
                ("NotIn", true) => !listed,
                ("Exists", false) => label.is_some(),
                ("DoesNotExist", false) => label.is_none(),
                _ => return None,
            };
        }
        Some(all)
    }
}
