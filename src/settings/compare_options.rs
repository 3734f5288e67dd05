//! Options of comparisons.
//!
//! In:  key `resource.compareoptions`.
//! Out: the options with their defaults.
//! Source: APP-279, DIFF-093, DIFF-094 (`util/settings/settings.go` `GetResourceCompareOptions`).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Error, keys};

/// Whose `status` is left out of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IgnoreStatus {
    /// Everybody's, also when the setting has an unknown value.
    #[default]
    All,
    /// That of CustomResourceDefinitions.
    Crd,
    /// Nobody's.
    None,
}

/// Options of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareOptions {
    /// Whether rules of aggregated ClusterRoles are left out.
    pub ignore_aggregated_roles: bool,
    /// Whose `status` is left out.
    pub ignore_resource_status_field: IgnoreStatus,
    /// Whether `ignoreDifferences` rules also decide which live changes are ignored.
    pub ignore_differences_on_resource_updates: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            ignore_aggregated_roles: false,
            ignore_resource_status_field: IgnoreStatus::All,
            ignore_differences_on_resource_updates: true,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Raw {
    ignore_aggregated_roles: Option<bool>,
    /// A text, or a boolean where the user wrote `off` without quotes.
    ignore_resource_status_field: Option<Value>,
    ignore_differences_on_resource_updates: Option<bool>,
}

impl CompareOptions {
    pub(super) fn read(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        const KEY: &str = "resource.compareoptions";
        let Some(text) = data.get(KEY) else { return Ok(Self::default()) };
        let raw: Raw = keys::from_yaml(KEY, text)?;
        let default = Self::default();
        let status = match raw.ignore_resource_status_field {
            None => IgnoreStatus::All,
            Some(Value::Bool(false)) => IgnoreStatus::None,
            Some(Value::String(text)) => match text.as_str() {
                "crd" => IgnoreStatus::Crd,
                "none" | "off" | "false" => IgnoreStatus::None,
                _ => IgnoreStatus::All,
            },
            Some(_) => IgnoreStatus::All,
        };
        Ok(Self {
            ignore_aggregated_roles: raw.ignore_aggregated_roles.unwrap_or(default.ignore_aggregated_roles),
            ignore_resource_status_field: status,
            ignore_differences_on_resource_updates: raw
                .ignore_differences_on_resource_updates
                .unwrap_or(default.ignore_differences_on_resource_updates),
        })
    }
}
