//! Finds settings that nobody can read, and the ConfigMap that nobody sees.
//!
//! In:  `argocd-cm`, `argocd-cmd-params-cm` or a cluster Secret, with lines.
//! Out: one problem per value that litecd's own readers refuse, at the value's line.
//! Invariant: nothing is said of a value that a template has still to fill in; a Secret's value is never repeated.
//! Source: APP-224, APP-272 to APP-302 (`util/settings/settings.go` `getConfigMap`).

use std::collections::BTreeMap;

use super::document::{Entry, Node};
use super::{Problem, ProblemKind};
use crate::gocompat::duration;
use crate::settings::{Clusters, Parameters, Secret, Settings, TrackingMethod};

/// Label and value without which Argo CD's informer, and so litecd, does not see `argocd-cm`.
const LABEL: (&str, &str) = ("app.kubernetes.io/part-of", "argocd");
/// Keys whose unreadable values Argo CD replaces by their defaults without a word in any status.
const TIMEOUTS: [&str; 3] = ["timeout.reconciliation", "timeout.reconciliation.jitter", "timeout.hard.reconciliation"];

/// What is wrong with one of Argo CD's two ConfigMaps.
pub fn problems(file: &str, name: &str, object: &Node) -> Vec<Problem> {
    let entries = object.get("data").map(Node::entries).unwrap_or_default();
    let problem = |line: u64, text: String| Problem {
        file: file.to_owned(),
        line,
        message: format!("ConfigMap {name}: {text}"),
        kind: ProblemKind::Unusable,
    };
    if name == "argocd-cmd-params-cm" {
        return each(entries, parameter).map(|(line, text)| problem(line, text)).collect();
    }
    let mut found: Vec<Problem> = unlabelled(file, object).into_iter().collect();
    found.extend(each(entries, setting).map(|(line, text)| problem(line, text)));
    if found.iter().all(|problem| problem.kind != ProblemKind::Unusable) {
        // What single keys do not show: two that contradict each other.
        let all = entries.iter().filter(|entry| !is_open(entry)).filter_map(pair).collect();
        found.extend(Settings::from_config_map(&all).err().map(|error| problem(object.line, error.to_string())));
    }
    found
}

/// What is wrong with a cluster Secret.
pub fn cluster_problems(file: &str, object: &Node) -> Option<Problem> {
    let value = object.to_value();
    let secret = Secret::from_object(&value)?;
    if secret.text("config").contains("{{") {
        return None;
    }
    let clusters = Clusters::from_secrets([&secret], true);
    let rejected = clusters.rejected().first()?;
    let at = ["data", "stringData"].into_iter().find_map(|field| object.get(field)?.entry("config"));
    Some(Problem {
        file: file.to_owned(),
        line: at.map_or(object.line, |entry| entry.line),
        message: format!("Secret {}: {}", rejected.secret_name, rejected.reason),
        kind: ProblemKind::Unusable,
    })
}

fn unlabelled(file: &str, object: &Node) -> Option<Problem> {
    let metadata = object.get("metadata")?;
    let value = metadata.get("labels").and_then(|labels| labels.get(LABEL.0)).and_then(Node::text);
    if value.is_some_and(|value| value == LABEL.1 || value.contains("{{")) {
        return None;
    }
    let (key, value) = LABEL;
    Some(Problem {
        file: file.to_owned(),
        line: metadata.line,
        message: format!(
            "ConfigMap argocd-cm: without the label {key}: {value} neither Argo CD nor litecd sees it, and every \
             Application is Unknown"
        ),
        kind: ProblemKind::Unlabelled,
    })
}

/// What a reader says of single values, with their lines.
fn each(
    entries: &[Entry],
    read: fn(&str, &BTreeMap<String, String>) -> Option<String>,
) -> impl Iterator<Item = (u64, String)> {
    entries.iter().filter(|entry| !is_open(entry)).filter_map(move |entry| {
        let (key, value) = pair(entry)?;
        let text = read(&key, &BTreeMap::from([(key.clone(), value)]))?;
        Some((entry.line, text))
    })
}

fn parameter(_: &str, data: &BTreeMap<String, String>) -> Option<String> {
    let (_, problems) = Parameters::from_config_map(data);
    Some(format!("{}; the default holds", problems.first()?))
}

fn setting(key: &str, data: &BTreeMap<String, String>) -> Option<String> {
    let value = data.get(key)?;
    if TIMEOUTS.contains(&key) && !value.is_empty() {
        let is_readable = duration::parse_setting(value).is_some_and(|read| !read.is_negative());
        return (!is_readable)
            .then(|| format!("{key}: {value:?} is no duration such as 180s or 1h; the default holds"));
    }
    if key == "application.resourceTrackingMethod"
        && let TrackingMethod::Other(other) = TrackingMethod::parse(value)
    {
        return Some(format!("{key}: {other:?} is neither annotation, label nor annotation+label"));
    }
    let error = Settings::from_config_map(data).err()?;
    Some(format!("{error}; every Application is Unknown until it can be read"))
}

fn pair(entry: &Entry) -> Option<(String, String)> {
    Some((entry.key.clone(), entry.value.text()?.to_owned()))
}

/// Whether a template has still to fill the value in.
fn is_open(entry: &Entry) -> bool {
    entry.value.text().is_some_and(|text| text.contains("{{"))
}
