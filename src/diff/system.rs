//! The rules of `argocd-cm` that take part in every comparison.
//!
//! In:  overrides per group and kind, the setting `ignoreResourceStatusField`.
//! Out: plain rules for the comparer.
//! Source: DIFF-063, DIFF-075, DIFF-089 to DIFF-094 (`util/settings/settings.go` GetResourceOverrides).

use std::collections::BTreeMap;

use super::ignore::IgnoreRules;
use super::normalize::KnownTypeField;

/// Rules by key: `group/Kind`, `Kind` for core kinds, `*/*` for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SystemRules {
    /// Fields left out of comparisons.
    pub ignore: BTreeMap<String, IgnoreRules>,
    /// Fields of custom resources that hold built-in types.
    pub known_types: BTreeMap<String, Vec<KnownTypeField>>,
    /// Whether the rules of aggregated roles are left out.
    pub ignore_aggregated_roles: bool,
}

/// Whose `.status` is left out of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StatusField {
    /// Every kind's.
    #[default]
    All,
    /// That of CustomResourceDefinitions.
    Crd,
    /// Nobody's.
    None,
}

impl StatusField {
    /// Reads the setting; nothing when the word is unknown, which Argo CD logs and treats as `all`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "all" => Some(Self::All),
            "crd" => Some(Self::Crd),
            "none" | "off" | "false" => Some(Self::None),
            _ => None,
        }
    }
}

impl SystemRules {
    /// Adds the rule that a setting of `ignoreResourceStatusField` stands for.
    pub fn ignore_status(&mut self, setting: StatusField) {
        let key = match setting {
            StatusField::All => "*/*",
            StatusField::Crd => "apiextensions.k8s.io/CustomResourceDefinition",
            StatusField::None => return,
        };
        let status = IgnoreRules { json_pointers: vec!["/status".to_owned()], ..IgnoreRules::default() };
        self.ignore.entry(key.to_owned()).or_default().extend(&status);
    }
}
