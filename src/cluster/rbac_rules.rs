//! Compares RBAC rules: which permissions one set of rules lacks compared to another.
//!
//! In:  `rules` of two roles.
//! Out: the missing permissions, broken down to one verb on one resource each, and their printed form.
//! Source: component-helpers v0.36 `auth/rbac/validation/policy_comparator.go`; SYNC-150 for the print.

use serde_json::{Map, Value};

/// One PolicyRule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    non_resource_urls: Vec<String>,
}

/// The rules of a role.
pub(super) fn rules_of(role: &Value) -> Vec<Rule> {
    role.get("rules").and_then(Value::as_array).into_iter().flatten().map(Rule::from_value).collect()
}

/// What `wanted` permits and `owned` does not.
pub(super) fn missing(owned: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let parts = wanted.iter().flat_map(Rule::break_down);
    parts.filter(|part| !owned.iter().any(|rule| rule.covers(part))).collect()
}

impl Rule {
    fn from_value(value: &Value) -> Self {
        let strings = |field| {
            let list = value.get(field).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            verbs: strings("verbs"),
            api_groups: strings("apiGroups"),
            resources: strings("resources"),
            resource_names: strings("resourceNames"),
            non_resource_urls: strings("nonResourceURLs"),
        }
    }

    /// As the API takes it: `verbs` always, the rest where it says something.
    pub fn to_value(&self) -> Value {
        let optional = [
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
        ];
        let mut map = Map::new();
        map.insert("verbs".to_owned(), self.verbs.clone().into());
        for (field, list) in optional.into_iter().filter(|(_, list)| !list.is_empty()) {
            map.insert(field.to_owned(), list.clone().into());
        }
        Value::Object(map)
    }

    /// Equal permissions as rules of one verb, one group, one resource and at most one name, or one verb and one URL.
    fn break_down(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut parts = Vec::new();
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let part =
                        Self { verbs: one(verb), api_groups: one(group), resources: one(resource), ..Self::default() };
                    if self.resource_names.is_empty() {
                        parts.push(part);
                    } else {
                        let named = |name| Self { resource_names: one(name), ..part.clone() };
                        parts.extend(self.resource_names.iter().map(named));
                    }
                }
            }
        }
        for url in &self.non_resource_urls {
            let of_verb = |verb| Self { verbs: one(verb), non_resource_urls: one(url), ..Self::default() };
            parts.extend(self.verbs.iter().map(of_verb));
        }
        parts
    }

    fn covers(&self, part: &Self) -> bool {
        let covers_names = self.resource_names.is_empty()
            || (!part.resource_names.is_empty() && has_all(&self.resource_names, &part.resource_names));
        has_all_or_star(&self.verbs, &part.verbs)
            && has_all_or_star(&self.api_groups, &part.api_groups)
            && covers_resources(&self.resources, &part.resources)
            && covers_names
            && part.non_resource_urls.iter().all(|url| self.non_resource_urls.iter().any(|own| covers_url(own, url)))
    }
}

fn has(set: &[String], text: &str) -> bool {
    set.iter().any(|own| own == text)
}

fn has_all(set: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|text| has(set, text))
}

fn has_all_or_star(set: &[String], wanted: &[String]) -> bool {
    has(set, "*") || has_all(set, wanted)
}

/// `*/status` covers `pods/status`.
fn covers_resources(set: &[String], wanted: &[String]) -> bool {
    has(set, "*")
        || wanted.iter().all(|path| {
            has(set, path) || path.split_once('/').is_some_and(|(_, subresource)| has(set, &format!("*/{subresource}")))
        })
}

fn covers_url(own: &str, url: &str) -> bool {
    own == url || (own.ends_with('*') && url.starts_with(own.trim_end_matches('*')))
}

/// As Go prints the struct with field names.
impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{{Verbs:[{}] APIGroups:[{}] Resources:[{}] ResourceNames:[{}] NonResourceURLs:[{}]}}",
            self.verbs.join(" "),
            self.api_groups.join(" "),
            self.resources.join(" "),
            self.resource_names.join(" "),
            self.non_resource_urls.join(" ")
        )
    }
}
