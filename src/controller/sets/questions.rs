//! Answers what the generators of a set ask.
//!
//! In:  questions.
//! Out: an answer or the reason why there is none.
//! Invariant: a question that could not be answered is an error, never an empty answer.
//! Source: SET-027 to SET-058 (`applicationset/generators`, `applicationset/services`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::git::{Commits, Place};
use super::hosts::Hosts;
use crate::api::ObjectExt;
use crate::api::appset::LabelSelector;
use crate::appset::globs::Pattern;
use crate::appset::{Answer, Globbing, Query, QueryError, Stage};
use crate::cluster::{Error, Resource, Target};
use crate::controller::config::Config;
use crate::controller::context::Context;
use crate::desired::Anew;

/// Who answers the questions of one look at a set.
pub struct Answerer<'a> {
    ctx: &'a Context,
    git: Commits<'a>,
    hosts: Hosts<'a>,
}

impl<'a> Answerer<'a> {
    /// Nothing was asked yet for a set of this namespace.
    pub fn new(ctx: &'a Context, config: &'a Config, namespace: &'a str, anew: Anew) -> Self {
        Self { ctx, git: Commits::new(ctx, config, anew), hosts: Hosts::new(ctx, namespace) }
    }

    /// The answer to a question.
    pub async fn answer(&mut self, query: &Query) -> Result<Answer, QueryError> {
        match query {
            Query::GitDirectories { repo_url, revision, project } => {
                self.git.folders(Place { repo_url, revision, project }).await.map(Answer::Directories)
            }
            Query::GitFiles { repo_url, revision, project, pattern, globbing } => {
                let matcher = Pattern::new(pattern, *globbing);
                let wanted = move |path: &str| matcher.matches(path);
                // Git's own listing of files does not look into submodules, a walk of the disk does.
                let submodules = *globbing == Globbing::Doublestar;
                let place = Place { repo_url, revision, project };
                self.git.files(place, (pattern, wanted), submodules).await.map(Answer::Files)
            }
            Query::ConfigMap { name } => self.config_map(name).await.map(Answer::ConfigMap),
            Query::Objects { group, version, resource, name, selector } => {
                let kind = Resource {
                    group: group.clone(),
                    version: version.clone(),
                    plural: resource.clone(),
                    namespaced: true,
                    ..Resource::default()
                };
                self.objects(&kind, name, selector).await.map(Answer::Objects)
            }
            Query::ScmProvider(wanted) => self.hosts.repositories(wanted).await.map(Answer::Repositories),
            Query::PullRequests(wanted) => self.hosts.pull_requests(wanted).await.map(Answer::PullRequests),
            Query::Plugin(query) => self.hosts.plugin(query).await.map(Answer::Parameters),
        }
    }

    async fn config_map(&self, name: &str) -> Result<BTreeMap<String, String>, QueryError> {
        let maps = Resource {
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            plural: "configmaps".to_owned(),
            namespaced: true,
            ..Resource::default()
        };
        let found = self.ctx.cluster.fetch(&Target::new(&maps, &self.ctx.namespace, name)).await;
        let data = found.map_err(|error| asked(&error))?["data"].take();
        // A ConfigMap without data is an empty one.
        Ok(serde_json::from_value(data).unwrap_or_default())
    }

    async fn objects(&self, kind: &Resource, name: &str, selector: &LabelSelector) -> Result<Vec<Value>, QueryError> {
        let text = if name.is_empty() { selector_text(selector) } else { String::new() };
        let list = self.ctx.cluster.list(kind, Some(&self.ctx.namespace), &text).await;
        let mut items = list.map_err(|error| asked(&error))?.items;
        items.retain(|object| name.is_empty() || object.name() == name);
        Ok(items)
    }
}

fn asked(error: &Error) -> QueryError {
    QueryError { stage: Stage::Asked, text: error.to_string() }
}

/// A selector as the API server reads it, and as Go prints it.
fn selector_text(selector: &LabelSelector) -> String {
    let labels = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    let expressions = selector.match_expressions.iter().map(|rule| {
        let values = rule.values.join(",");
        match rule.operator.as_str() {
            "In" => format!("{} in ({values})", rule.key),
            "NotIn" => format!("{} notin ({values})", rule.key),
            "Exists" => rule.key.clone(),
            "DoesNotExist" => format!("!{}", rule.key),
            // The API server refuses it, in its own words.
            other => format!("{} {other} ({values})", rule.key),
        }
    });
    labels.chain(expressions).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_written_as_the_api_server_reads_them() {
        let selector: LabelSelector = serde_json::from_value(json!({
            "matchLabels": {"a": "b", "c": "d"},
            "matchExpressions": [
                {"key": "e", "operator": "In", "values": ["1", "2"]},
                {"key": "f", "operator": "NotIn", "values": ["3"]},
                {"key": "g", "operator": "Exists"},
                {"key": "h", "operator": "DoesNotExist"},
            ],
        }))
        .unwrap();
        assert_eq!(selector_text(&selector), "a=b,c=d,e in (1,2),f notin (3),g,!h");
    }
}
