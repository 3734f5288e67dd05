//! Label selectors over sets of parameters and over cluster Secrets.
//!
//! In:  a selector, flat parameters or labels.
//! Out: whether it matches.
//! Invariant: values have no limits, so that URLs can be selected; keys are qualified names.
//! Source: SET-009, SET-023 (`applicationset/utils/selector.go`, `k8s.io/apimachinery/pkg/labels`).

use std::collections::BTreeMap;

use crate::api::appset::LabelSelector;
use crate::gocompat::json;

/// A selector ready to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

/// Which values a selector may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Any text: parameters are selected.
    Any,
    /// What a label's value may be: Secrets are selected.
    Labels,
}

impl Selector {
    /// Reads a selector; an empty one matches everything.
    ///
    /// # Errors
    /// Kubernetes' text for the first requirement that is malformed.
    pub fn new(selector: &LabelSelector, values: Values) -> Result<Self, String> {
        let equal = selector.match_labels.iter().map(|(key, value)| {
            let value = vec![value.clone()];
            checked(key, Test::In(value), values)
        });
        let others = selector.match_expressions.iter().map(|expression| {
            let texts = expression.values.clone();
            let test = match expression.operator.as_str() {
                "In" => Test::In(texts),
                "NotIn" => Test::NotIn(texts),
                "Exists" if texts.is_empty() => Test::Exists,
                "DoesNotExist" if texts.is_empty() => Test::DoesNotExist,
                "Exists" | "DoesNotExist" => {
                    let problem = "values set must be empty for exists and does not exist";
                    return Err(format!("values: Invalid value: {}: {problem}", list(&texts)));
                }
                other => return Err(format!("{other:?} is not a valid pod selector operator")),
            };
            checked(&expression.key, test, values)
        });
        Ok(Self { requirements: equal.chain(others).collect::<Result<_, _>>()? })
    }

    /// Whether labels fit.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            match &requirement.test {
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
            }
        })
    }
}

fn checked(key: &str, test: Test, values: Values) -> Result<Requirement, String> {
    let mut problems = Vec::new();
    let bad_key = name_problems(key);
    if !bad_key.is_empty() {
        problems.push(format!("key: Invalid value: {key:?}: {}", bad_key.join("; ")));
    }
    if let Test::In(texts) | Test::NotIn(texts) = &test {
        if texts.is_empty() {
            problems
                .push("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty".to_owned());
        }
        for (at, text) in texts.iter().enumerate().filter(|_| values == Values::Labels) {
            for problem in value_problems(text) {
                problems.push(format!("values[{at}][{key}]: Invalid value: {text:?}: {problem}"));
            }
        }
    }
    match problems.len() {
        0 => Ok(Requirement { key: key.to_owned(), test }),
        1 => Err(problems.remove(0)),
        _ => Err(format!("[{}]", problems.join(", "))),
    }
}

fn list(texts: &[String]) -> String {
    json::to_string(&texts.into())
}

const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
                     regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const DOMAIN: &str = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
                      '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
                      for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with a qualified name.
fn name_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (prefix, name) = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => (None, (*name).to_owned()),
        [prefix, name] => (Some((*prefix).to_owned()), (*name).to_owned()),
        _ => {
            return vec![
                "a qualified name ".to_owned()
                    + NAME.trim_start_matches("name part ")
                    + " with an optional DNS subdomain \
                 prefix and '/' (e.g. 'example.com/MyName')",
            ];
        }
    };
    match prefix.as_deref() {
        Some("") => problems.push("prefix part must be non-empty".to_owned()),
        Some(prefix) if prefix.len() > 253 => problems.push("prefix part must be no more than 253 bytes".to_owned()),
        Some(prefix) if !prefix.split('.').all(is_label) => problems.push(DOMAIN.to_owned()),
        _ => {}
    }
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(&name) {
        problems.push(NAME.to_owned());
    }
    problems
}

fn value_problems(value: &str) -> Vec<&'static str> {
    let too_long = (value.len() > 63).then_some("must be no more than 63 bytes");
    let malformed = (!value.is_empty() && !is_name(value)).then_some(VALUE);
    too_long.into_iter().chain(malformed).collect()
}

fn is_name(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    edge(text.chars().next())
        && edge(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_label(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    edge(text.chars().next())
        && edge(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn matches(selector: Value, labels: &[(&str, &str)]) -> Result<bool, String> {
        let selector: LabelSelector = serde_json::from_value(selector).expect("a selector");
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Ok(Selector::new(&selector, Values::Any)?.matches(&labels))
    }

    #[test]
    fn all_requirements_must_hold_and_values_may_be_urls() {
        let selector = json!({
            "matchLabels": {"server": "https://a.b:6443/?c=x"},
            "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}, {"key": "old", "operator": "DoesNotExist"}],
        });
        assert_eq!(matches(selector.clone(), &[("server", "https://a.b:6443/?c=x")]), Ok(true));
        assert_eq!(matches(selector.clone(), &[("server", "https://a.b:6443/?c=x"), ("env", "dev")]), Ok(false));
        assert_eq!(matches(selector, &[("server", "https://a.b:6443/?c=x"), ("old", "")]), Ok(false));
        assert_eq!(matches(json!({}), &[]), Ok(true));
    }

    #[test]
    fn malformed_selectors_are_refused() {
        let by = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]});
        assert_eq!(
            matches(by("Like", json!(["x"])), &[]),
            Err("\"Like\" is not a valid pod selector operator".to_owned())
        );
        assert!(matches(by("In", json!([])), &[]).is_err());
        assert!(matches(by("Exists", json!(["x"])), &[]).is_err());
        let error = matches(json!({"matchLabels": {"path[0]": "x"}}), &[]).expect_err("no qualified name");
        assert!(error.starts_with("key: Invalid value: \"path[0]\": name part must consist of"), "{error}");
    }
}
