//! Rules per kind: health scripts, ignored differences, ignored updates, fields with known types.
//!
//! In:  key `resource.customizations` and keys `resource.customizations.<type>.<group>_<kind>`.
//! Out: rules by `group/Kind`, `Kind` for core kinds, `*/*` for all.
//! Source: APP-276, DIFF-089 to DIFF-097 (`util/settings/settings.go` `GetResourceOverrides`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CompareOptions, Error, IgnoreStatus, keys};
use crate::api::wire::null_is_zero;
use crate::gocompat::strconv;
use crate::health::Script;

/// Key of the rules for all kinds.
pub const ALL_KINDS: &str = "*/*";
const CRD: &str = "apiextensions.k8s.io/CustomResourceDefinition";
const MAP_KEY: &str = "resource.customizations";

/// Rules for one kind, or for the kinds that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Override {
    /// Lua script that tells the health; empty when there is none.
    pub health_lua: String,
    /// Whether the script may use all Lua libraries.
    pub use_open_libs: bool,
    /// Resource actions as YAML; only Argo CD's API server runs them.
    pub actions: String,
    /// Fields left out of comparisons.
    pub ignore_differences: IgnoreRules,
    /// Fields whose changes cause no refresh.
    pub ignore_resource_updates: IgnoreRules,
    /// Fields of custom kinds that hold quantities and the like.
    pub known_type_fields: Vec<KnownTypeField>,
}

/// Ways to name fields.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IgnoreRules {
    /// JSON pointers.
    #[serde(deserialize_with = "null_is_zero")]
    pub json_pointers: Vec<String>,
    /// jq path expressions.
    #[serde(deserialize_with = "null_is_zero")]
    pub jq_path_expressions: Vec<String>,
    /// Field managers whose fields are meant.
    #[serde(deserialize_with = "null_is_zero")]
    pub managed_fields_managers: Vec<String>,
}

impl IgnoreRules {
    fn extend(&mut self, other: &Self) {
        self.json_pointers.extend_from_slice(&other.json_pointers);
        self.jq_path_expressions.extend_from_slice(&other.jq_path_expressions);
        self.managed_fields_managers.extend_from_slice(&other.managed_fields_managers);
    }
}

/// A field of a custom kind and its Kubernetes type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct KnownTypeField {
    /// Dotted path.
    #[serde(deserialize_with = "null_is_zero")]
    pub field: String,
    /// Such as `core/v1/PodSpec` or `core/Quantity`.
    #[serde(deserialize_with = "null_is_zero")]
    pub r#type: String,
}

/// The map form of one kind's rules, where the ignore rules are texts that hold YAML.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Raw {
    #[serde(rename = "health.lua", deserialize_with = "null_is_zero")]
    health_lua: String,
    #[serde(rename = "health.lua.useOpenLibs", deserialize_with = "null_is_zero")]
    use_open_libs: bool,
    #[serde(deserialize_with = "null_is_zero")]
    actions: String,
    #[serde(rename = "ignoreDifferences", deserialize_with = "null_is_zero")]
    ignore_differences: String,
    #[serde(rename = "ignoreResourceUpdates", deserialize_with = "null_is_zero")]
    ignore_resource_updates: String,
    #[serde(rename = "knownTypeFields", deserialize_with = "null_is_zero")]
    known_type_fields: Vec<KnownTypeField>,
}

/// Rules by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides(BTreeMap<String, Override>);

impl Overrides {
    /// Rules under exactly this key: `group/Kind`, `Kind` for core kinds, a pattern, or [`ALL_KINDS`].
    pub fn get(&self, key: &str) -> Option<&Override> {
        self.0.get(key)
    }

    /// All rules in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Override)> {
        self.0.iter().map(|(key, rules)| (key.as_str(), rules))
    }

    /// The health scripts by key, for kinds that have one.
    pub fn health_scripts(&self) -> BTreeMap<String, Script> {
        let scripted = self.0.iter().filter(|(_, rules)| !rules.health_lua.is_empty());
        let script = |rules: &Override| Script { script: rules.health_lua.clone(), open_libs: rules.use_open_libs };
        scripted.map(|(key, rules)| (key.clone(), script(rules))).collect()
    }

    pub(super) fn read(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        let mut overrides = Self::default();
        if let Some(text) = data.get(MAP_KEY) {
            let raw: BTreeMap<String, Option<Raw>> = keys::from_yaml(MAP_KEY, text)?;
            for (kind, raw) in raw {
                overrides.0.insert(kind, from_raw(raw.unwrap_or_default())?);
            }
        }
        for (key, text) in data.iter().filter(|(key, _)| key.starts_with(MAP_KEY)) {
            overrides.add_split_key(key, text)?;
        }
        Ok(overrides)
    }

    /// Takes one `resource.customizations.<type>.<group>_<kind>`; it replaces only what its type names.
    fn add_split_key(&mut self, key: &str, text: &str) -> Result<(), Error> {
        let parts: Vec<&str> = key.splitn(4, '.').collect();
        let [_, _, customization, kind] = parts.as_slice() else { return Ok(()) };
        let kind = override_key(kind)?;
        let rules = self.0.entry(kind).or_default();
        match *customization {
            "health" => text.clone_into(&mut rules.health_lua),
            "useOpenLibs" => {
                rules.use_open_libs =
                    strconv::parse_bool(text).map_err(|source| Error::Flag { key: key.to_owned(), source })?;
            }
            "actions" => text.clone_into(&mut rules.actions),
            "ignoreDifferences" => rules.ignore_differences = keys::from_yaml(key, text)?,
            "ignoreResourceUpdates" => rules.ignore_resource_updates = keys::from_yaml(key, text)?,
            "knownTypeFields" => rules.known_type_fields = keys::from_yaml(key, text)?,
            other => return Err(Error::CustomizationType(other.to_owned())),
        }
        Ok(())
    }

    /// Adds the rules that leave `status` out, as the compare options want them.
    pub(super) fn with_status_rules(mut self, options: &CompareOptions) -> Self {
        match options.ignore_resource_status_field {
            IgnoreStatus::All => self.ignore_pointer(ALL_KINDS, "/status"),
            IgnoreStatus::Crd => self.ignore_pointer(CRD, "/status"),
            IgnoreStatus::None => {}
        }
        self
    }

    /// The rules that decide which live changes cause no refresh, under `ignore_differences` because the same code
    /// applies them (DIFF-097).
    pub fn for_resource_updates(&self, options: &CompareOptions) -> Self {
        let mut updates = self.clone();
        for rules in updates.0.values_mut() {
            let mut ignored = std::mem::take(&mut rules.ignore_resource_updates);
            if options.ignore_differences_on_resource_updates {
                ignored.extend(&rules.ignore_differences);
            }
            rules.ignore_differences = ignored;
        }
        for pointer in ["/metadata/resourceVersion", "/metadata/generation", "/metadata/managedFields"] {
            updates.ignore_pointer(ALL_KINDS, pointer);
        }
        updates
    }

    fn ignore_pointer(&mut self, kind: &str, pointer: &str) {
        self.0.entry(kind.to_owned()).or_default().ignore_differences.json_pointers.push(pointer.to_owned());
    }
}

fn from_raw(raw: Raw) -> Result<Override, Error> {
    Ok(Override {
        health_lua: raw.health_lua,
        use_open_libs: raw.use_open_libs,
        actions: raw.actions,
        ignore_differences: keys::from_yaml(MAP_KEY, &raw.ignore_differences)?,
        ignore_resource_updates: keys::from_yaml(MAP_KEY, &raw.ignore_resource_updates)?,
        known_type_fields: raw.known_type_fields,
    })
}

/// `group_Kind` as `group/Kind`, `all` as `*/*`.
fn override_key(text: &str) -> Result<String, Error> {
    match text.split('_').collect::<Vec<_>>().as_slice() {
        ["all"] => Ok(ALL_KINDS.to_owned()),
        [kind] if !kind.is_empty() => Ok((*kind).to_owned()),
        [group, kind] => Ok(format!("{group}/{kind}")),
        _ => Err(Error::GroupKind(text.to_owned())),
    }
}
