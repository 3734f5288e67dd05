//! The generators: each makes sets of parameters from its own part of a set and from answers.
//!
//! In:  one generator entry, the set's way of rendering texts, what is known.
//! Out: sets of parameters in their order, open questions, or an error with Argo CD's text.
//! Invariant: an answer that is an error is an error of the generator; it never means an empty list.
//! Source: SET-004, SET-009, SET-011, SET-012 (`applicationset/generators/generator_spec_processor.go` `Transform`,
//! `value_interpolation.go`).

mod clusters;
mod decision;
mod git;
mod hosts;
mod list;
mod matrix;
mod merge;
mod plugin;

pub use matrix::as_entry as child_entry;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::interpolate;
use super::options::{Options, World};
use super::params::{Params, flatten};
use super::query::{Answer, Answers, Query, QueryError, Stage};
use super::selector::{Selector, Values};
use super::text::Engine;
use crate::api::appset::{ApplicationSet, ApplicationSetTemplate, Generator};

/// Why a generator gives no parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// Something must be known first.
    Needs(Vec<Query>),
    /// The text of the condition.
    Error(String),
}

impl Stop {
    /// The same, with a text before an error's.
    pub fn within(self, context: &str) -> Self {
        match self {
            Self::Error(text) => Self::Error(format!("{context}{text}")),
            needs @ Self::Needs(_) => needs,
        }
    }
}

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Self::Error(text)
    }
}

/// What every generator looks at besides its own entry.
pub struct Context<'a> {
    /// The set.
    pub set: &'a ApplicationSet,
    /// The controller's options.
    pub options: &'a Options,
    /// What is known of the cluster.
    pub world: &'a World<'a>,
    /// What was asked and answered.
    pub answers: &'a Answers,
    /// How texts are rendered.
    pub engine: Engine,
}

impl Context<'_> {
    /// The answer to a question.
    fn ask(&self, query: Query) -> Result<Result<&Answer, &QueryError>, Stop> {
        match self.answers.get(&query) {
            Some(answer) => Ok(answer.as_ref()),
            None => Err(Stop::Needs(vec![query])),
        }
    }
}

/// An answer of another kind than was asked for. It must not pass for an empty one.
fn misfit() -> Stop {
    Stop::Error("the answer does not fit the question".to_owned())
}

/// What one key of an entry gave.
pub struct Outcome<'a> {
    /// Sets of parameters that the entry's selector keeps.
    pub params: Vec<Params>,
    /// The generator's own template.
    pub template: &'a ApplicationSetTemplate,
}

/// How deep a generator stands: what a combination may hold gets less with each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Entry of the set.
    Top,
    /// Child of a matrix or merge.
    Nested,
    /// Grandchild: no combination any more.
    Terminal,
}

impl Level {
    /// The level of a combination's children.
    pub fn below(self) -> Self {
        match self {
            Self::Top => Self::Nested,
            Self::Nested | Self::Terminal => Self::Terminal,
        }
    }
}

/// The names of an entry's generators, in Argo CD's order.
pub fn kinds(entry: &Generator) -> Vec<&'static str> {
    let present = [
        ("list", entry.list.is_some()),
        ("clusters", entry.clusters.is_some()),
        ("git", entry.git.is_some()),
        ("scmProvider", entry.scm_provider.is_some()),
        ("clusterDecisionResource", entry.cluster_decision_resource.is_some()),
        ("pullRequest", entry.pull_request.is_some()),
        ("matrix", entry.matrix.is_some()),
        ("merge", entry.merge.is_some()),
        ("plugin", entry.plugin.is_some()),
    ];
    present.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}

/// Runs every generator of an entry; `parent` are the parameters that its texts are rendered with first.
///
/// # Errors
/// The first error, or all open questions before it.
pub fn run<'a>(
    entry: &'a Generator,
    context: &Context,
    parent: &Params,
    level: Level,
) -> Result<Vec<Outcome<'a>>, Stop> {
    let selector = match &entry.selector {
        Some(selector) => Some(
            Selector::new(selector, Values::Any)
                .map_err(|error| Stop::Error(format!("error parsing label selector: {error}")))?,
        ),
        None => None,
    };
    let interpolated = interpolate::generator(entry, &context.engine, parent).map_err(Stop::Error)?;
    let mut outcomes = Gathered::default();
    for kind in kinds(entry) {
        outcomes.add(generate(kind, &interpolated, context, level));
    }
    let keeps = |params: &Params| selector.as_ref().is_none_or(|selector| selector.matches(&flatten(params)));
    let sets = outcomes.finish()?;
    let outcome = |(kind, params): (&str, Vec<Params>)| Outcome {
        params: params.into_iter().filter(keeps).collect(),
        template: template_of(entry, kind),
    };
    Ok(kinds(entry).into_iter().zip(sets).map(outcome).collect())
}

/// Results in order, until the first error; open questions before it are all kept.
pub struct Gathered<T> {
    values: Vec<T>,
    needs: Vec<Query>,
    error: Option<String>,
}

impl<T> Default for Gathered<T> {
    fn default() -> Self {
        Self { values: Vec::new(), needs: Vec::new(), error: None }
    }
}

impl<T> Gathered<T> {
    /// Adds a result; what comes behind an error does not count.
    pub fn add(&mut self, result: Result<T, Stop>) {
        if self.error.is_some() {
            return;
        }
        match result {
            Ok(value) => self.values.push(value),
            Err(Stop::Needs(queries)) => {
                for query in queries {
                    if !self.needs.contains(&query) {
                        self.needs.push(query);
                    }
                }
            }
            Err(Stop::Error(text)) => self.error = Some(text),
        }
    }

    /// All results; questions come before the error, which one of their answers may precede.
    ///
    /// # Errors
    /// Open questions, or the first error.
    pub fn finish(self) -> Result<Vec<T>, Stop> {
        match (self.needs.is_empty(), self.error) {
            (false, _) => Err(Stop::Needs(self.needs)),
            (true, Some(text)) => Err(Stop::Error(text)),
            (true, None) => Ok(self.values),
        }
    }
}

fn generate(kind: &str, entry: &Generator, context: &Context, level: Level) -> Result<Vec<Params>, Stop> {
    const EMPTY: &str = "ApplicationSet is empty";
    let missing = || Stop::Error(EMPTY.to_owned());
    match kind {
        "list" => list::params(entry.list.as_ref().ok_or_else(missing)?, context),
        "clusters" => clusters::params(entry.clusters.as_ref().ok_or_else(missing)?, context),
        "git" => git::params(entry.git.as_ref().ok_or_else(missing)?, context),
        "scmProvider" => hosts::repositories(entry.scm_provider.as_ref().ok_or_else(missing)?, context),
        "clusterDecisionResource" => {
            decision::params(entry.cluster_decision_resource.as_ref().ok_or_else(missing)?, context)
        }
        "pullRequest" => hosts::pull_requests(entry.pull_request.as_ref().ok_or_else(missing)?, context),
        "matrix" => matrix::params(entry.matrix.as_ref().ok_or_else(missing)?, context, level.below()),
        "merge" => merge::params(entry.merge.as_ref().ok_or_else(missing)?, context, level.below()),
        "plugin" => plugin::params(entry.plugin.as_ref().ok_or_else(missing)?, context),
        _ => Err(missing()),
    }
}

fn template_of<'a>(entry: &'a Generator, kind: &str) -> &'a ApplicationSetTemplate {
    static NONE: std::sync::LazyLock<ApplicationSetTemplate> = std::sync::LazyLock::new(Default::default);
    let found = match kind {
        "list" => entry.list.as_ref().map(|part| &part.template),
        "clusters" => entry.clusters.as_ref().map(|part| &part.template),
        "git" => entry.git.as_ref().map(|part| &part.template),
        "scmProvider" => entry.scm_provider.as_ref().map(|part| &part.template),
        "clusterDecisionResource" => entry.cluster_decision_resource.as_ref().map(|part| &part.template),
        "pullRequest" => entry.pull_request.as_ref().map(|part| &part.template),
        "matrix" => entry.matrix.as_ref().map(|part| &part.template),
        "merge" => entry.merge.as_ref().map(|part| &part.template),
        _ => entry.plugin.as_ref().map(|part| &part.template),
    };
    found.unwrap_or(&NONE)
}

/// Adds a generator's `values`, each rendered with the generator's own parameters alone.
fn add_values(params: &mut Params, values: &BTreeMap<String, String>, engine: &Engine) -> Result<(), String> {
    let mut rendered = Map::new();
    for (key, text) in values {
        let text = engine.replace(text, params).map_err(|error| {
            format!(
                "failed to replace templated string: failed to replace templated string with rendered values: {error}"
            )
        })?;
        rendered.insert(key.clone(), Value::String(text));
    }
    put_values(params, rendered, engine);
    Ok(())
}

/// Puts texts under `values`: as a map for Go templates, else each under its own name.
fn put_values(params: &mut Params, values: Map<String, Value>, engine: &Engine) {
    if values.is_empty() {
        return;
    }
    if engine.go {
        params.insert("values".to_owned(), Value::Object(values));
    } else {
        params.extend(values.into_iter().map(|(key, text)| (format!("values.{key}"), text)));
    }
}

/// A text as parameter.
fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

/// Whether an answer failed before anything was asked.
fn is_setup(error: &QueryError) -> bool {
    error.stage == Stage::Setup
}
