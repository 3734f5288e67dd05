//! From a set to the Applications that shall be.
//!
//! In:  the set, options, what is known.
//! Out: open questions, Applications in the order of the generators, or the first error.
//! Invariant: one error stops the whole set; an entry that names no known generator is one, because taking it for an
//! empty list would delete what another version of it made.
//! Source: SET-004 to SET-008 (`applicationset/controllers/template/template.go` `GenerateApplications`,
//! `applicationset/utils/utils.go` `CheckInvalidGenerators`).

use serde_json::Value;

use super::generators::{Context, Level, Stop, kinds, run};
use super::options::{Options, World};
use super::params::Params;
use super::query::{Answers, Query};
use super::render::{application, merged};
use super::text::Engine;
use super::{Expansion, Failure};
use crate::api::Application;
use crate::api::appset::{ApplicationSet, Generator};
use crate::api::names::LAST_APPLIED;

/// Reason of an error in a generator.
pub const GENERATION: &str = "ApplicationGenerationFromParamsError";
/// Reason of an error in a template.
pub const RENDERING: &str = "RenderTemplateParamsError";

/// Expands a set as far as the answers reach.
pub fn expand(set: &ApplicationSet, options: &Options, world: &World, answers: &Answers) -> Expansion {
    let context = Context { set, options, world, answers, engine: Engine::of(set) };
    let mut applications = Vec::new();
    let mut needs: Vec<Query> = Vec::new();
    for (at, entry) in set.spec.generators.iter().enumerate() {
        match expand_entry(entry, at, &context) {
            Ok(more) => applications.extend(more),
            Err(Halt::Needs(queries)) => {
                needs.extend(queries.into_iter().filter(|query| !needs.contains(query)).collect::<Vec<_>>());
            }
            // The error of an earlier entry, which is not known yet, would go first.
            Err(Halt::Failed(_)) if !needs.is_empty() => break,
            Err(Halt::Failed(failure)) => return Expansion::Failed(failure),
        }
    }
    if needs.is_empty() { Expansion::Done(applications) } else { Expansion::Needs(needs) }
}

enum Halt {
    Needs(Vec<Query>),
    Failed(Failure),
}

fn expand_entry(entry: &Generator, at: usize, context: &Context) -> Result<Vec<Application>, Halt> {
    let failed = |reason, message| Halt::Failed(Failure { reason, message });
    if kinds(entry).is_empty() {
        return Err(failed(GENERATION, unrecognized(context.set, at)));
    }
    let outcomes = run(entry, context, &Params::new(), Level::Top).map_err(|stop| match stop {
        Stop::Needs(queries) => Halt::Needs(queries),
        Stop::Error(message) => failed(GENERATION, message),
    })?;
    let mut applications = Vec::new();
    for outcome in outcomes {
        let template =
            merged(outcome.template, &context.set.spec.template).map_err(|error| failed(GENERATION, error))?;
        for params in &outcome.params {
            let app = application(context.set, &template, params, &context.engine);
            applications.push(app.map_err(|error| failed(RENDERING, error))?);
        }
    }
    Ok(applications)
}

/// Says which generator is not known, as far as the manifest that was applied tells.
fn unrecognized(set: &ApplicationSet, at: usize) -> String {
    let applied = set.metadata.annotations.get(LAST_APPLIED).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let entry = applied.as_ref().and_then(|set| set.pointer(&format!("/spec/generators/{at}")));
    let name = entry.and_then(Value::as_object).and_then(|fields| fields.keys().next());
    let text = format!("ApplicationSet {} contains unrecognized generators", set.metadata.name);
    name.map_or(text.clone(), |name| format!("{text}: {name}"))
}
