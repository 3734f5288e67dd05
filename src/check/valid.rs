//! Holds an object of Argo CD's kinds against the schema of its CRD.
//!
//! In:  an object with lines.
//! Out: one problem per fault, at the line of the field that is at fault.
//! Invariant: nothing is said of a value that a template has still to fill in.
//! Source: APP-001 (`manifests/crds/*.yaml`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::document::{Content, Node};
use super::{Problem, ProblemKind};
use crate::api::{schema, schema_of};

static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(|| {
    let kinds = ["Application", "AppProject", "ApplicationSet"];
    kinds.into_iter().filter_map(|kind| Some((kind, schema_of(kind)?))).collect()
});

/// Why the API server would refuse an object; nothing for kinds that are not Argo CD's.
pub fn problems(file: &str, kind: &str, object: &Node) -> Vec<Problem> {
    let Some(schema) = SCHEMAS.get(kind) else { return Vec::new() };
    let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text);
    let whose = format!("{kind} {}", name.unwrap_or("without a name"));
    let faults = schema::validate(schema, &object.to_value());
    let problem = |fault: String| {
        let (path, why) = fault.split_once(": ").unwrap_or(("", &fault));
        let kind = if why == "Required value" { ProblemKind::Incomplete } else { ProblemKind::Invalid };
        Problem { file: file.to_owned(), line: line_of(object, path), message: format!("{whose}: {fault}"), kind }
    };
    // An ApplicationSet is stored with its templates, in a text of a Helm chart they are gone before it is.
    let is_open = |fault: &String| kind != "ApplicationSet" && fault.contains("{{");
    faults.into_iter().filter(|fault| !is_open(fault)).map(problem).collect()
}

/// The line of `path` (`spec.sources[0].path`), or of the nearest thing around it that exists.
fn line_of(root: &Node, path: &str) -> u64 {
    let (mut node, mut line, mut rest) = (root, root.line, path);
    loop {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let step = match &node.content {
            Content::List(items) => {
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(at, rest)| {
                    let item = items.get(at.parse::<usize>().ok()?)?;
                    Some((item, item.line, rest))
                })
            }
            // A key may hold dots itself, so that the longest one that fits is meant.
            Content::Map(entries) => entries
                .iter()
                .filter_map(|entry| Some((entry, rest.strip_prefix(entry.key.as_str())?)))
                .filter(|(_, after)| after.is_empty() || after.starts_with(['.', '[']))
                .max_by_key(|(entry, _)| entry.key.len())
                .map(|(entry, after)| (&entry.value, entry.line, after)),
            Content::Scalar { .. } => None,
        };
        match step {
            Some(found) => (node, line, rest) = found,
            None => return line,
        }
    }
}
