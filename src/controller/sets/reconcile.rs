//! One look at a set.
//!
//! In:  the set as it is stored.
//! Out: its questions asked, its Applications written, its status stored.
//! Invariant: the room `appset` decides from one state of settings and of the store; what it needs and could not be found
//! out changes nothing but conditions.
//! Source: SET-080 (`applicationset/controllers/applicationset_controller.go` `Reconcile`).

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tracing::Instrument;

use super::questions::Answerer;
use super::turns::End;
use super::{feed, removal, status, writes};
use crate::api::appset::ApplicationSet;
use crate::api::status::Time;
use crate::api::{Application, ObjectExt, names};
use crate::appset::{self, Answers, Expansion, Live, World, WriteError, WriteStage};
use crate::cluster::{Error, Target};
use crate::controller::clock::jq_timer;
use crate::controller::config::Config;
use crate::controller::context::Context;
use crate::controller::queue::AppKey;
use crate::desired::Anew;

/// More rounds of questions than generators can be nested.
const ROUNDS: usize = 16;

/// Looks at a set.
pub async fn run(ctx: Rc<Context>, key: AppKey) -> End {
    let span = tracing::info_span!("reconcile", applicationset = key.name, "appset-namespace" = key.namespace);
    look(&ctx, &key).instrument(span).await
}

async fn look(ctx: &Context, key: &AppKey) -> End {
    // When the verdict changes, every set is looked at.
    let Some(raw) = ctx.sets.store.raw(key).filter(|_| ctx.sets.is_at_work()) else { return End::Again(None) };
    let is_refresh = raw.annotation(names::SET_REFRESH).is_some();
    let mut set: ApplicationSet = match serde_json::from_value(raw) {
        Ok(set) => set,
        Err(error) => {
            // One broken set must not stop the others, and it changes when somebody repairs it.
            tracing::warn!(reason = %error, "Failed to read ApplicationSet");
            return End::Again(None);
        }
    };
    if set.metadata.deletion_timestamp.is_some() {
        return removal::run(ctx, key, &set).await;
    }
    match generate(ctx, key, &mut set, is_refresh).await {
        Ok(end) => end,
        Err(error) => {
            tracing::warn!(reason = %error, "Failed to work on ApplicationSet");
            End::Failed
        }
    }
}

async fn generate(ctx: &Context, key: &AppKey, set: &mut ApplicationSet, is_refresh: bool) -> Result<End, Error> {
    if let Some(list) = removal::wanted_finalizers(set, ctx.sets.options.progressive_syncs) {
        removal::finalizers(ctx, key, set, &json!(list)).await?;
        // The answer is in the store and in the queue.
        return Ok(End::Again(None));
    }
    let config = ctx.config();
    let projects: BTreeSet<String> = config.projects.iter().map(|project| project.metadata.name.clone()).collect();
    let world = World { cluster_secrets: &config.cluster_secrets, clusters: &config.clusters, projects: &projects };
    let anew = if is_refresh { Anew::Revisions } else { Anew::Nothing };
    let applications = match expand(ctx, &config, (set, &world), anew).await {
        Ok(applications) => applications,
        Err(failure) => {
            tracing::warn!(reason = failure.message, "Unable to generate Applications");
            let failed = appset::failed(set, &failure, now(ctx));
            status::store(ctx, set, failed).await?;
            return Ok(End::Again(duration(appset::RETRY)));
        }
    };
    if !is_current(ctx, key, set) {
        // Who changed or deleted it put it into the queue.
        return Ok(End::Again(None));
    }
    carry_out(ctx, key, (set, &world, applications), is_refresh).await
}

/// Whether a set is still what was expanded: its generators may have waited for a server.
fn is_current(ctx: &Context, key: &AppKey, set: &ApplicationSet) -> bool {
    ctx.sets.store.raw(key).is_some_and(|stored| {
        let same = |field: &str, known: &Value| stored["metadata"].get(field) == Some(known);
        !stored.is_deleting()
            && same("uid", &json!(set.metadata.uid))
            && stored.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
                == set.metadata.generation
    })
}

/// Asks until nothing is open.
async fn expand(
    ctx: &Context,
    config: &Config,
    (set, world): (&ApplicationSet, &World<'_>),
    anew: Anew,
) -> Result<Vec<Application>, appset::Failure> {
    let mut answerer = Answerer::new(ctx, config, &set.metadata.namespace, anew);
    let mut answers = Answers::default();
    for _ in 0..ROUNDS {
        match appset::expand(set, &ctx.sets.options, world, &answers) {
            Expansion::Done(applications) => return Ok(applications),
            Expansion::Failed(failure) => return Err(failure),
            Expansion::Needs(queries) => {
                for query in queries {
                    let answer = answerer.answer(&query).await;
                    answers.insert(query, answer);
                }
            }
        }
    }
    Err(appset::Failure {
        reason: "ApplicationGenerationFromParamsError",
        message: "the generators ask for ever".to_owned(),
    })
}

async fn carry_out(
    ctx: &Context,
    key: &AppKey,
    (set, world, applications): (&mut ApplicationSet, &World<'_>, Vec<Application>),
    is_refresh: bool,
) -> Result<End, Error> {
    let options = &ctx.sets.options;
    let live = concerned(ctx, key, &applications);
    let refused = |text: String| Error::Refused { text };
    let pass = appset::pass(set, options, world, applications, &live, jq_timer(), now(ctx)).map_err(refused)?;
    drop(live);
    status::store(ctx, set, pass.status.clone()).await?;
    let mut failure = writes::carry_out(ctx, set, &pass.changes).await;
    if failure.is_none() && is_refresh {
        failure = answered(ctx, key).await.err();
    }
    if !ctx.sets.is_at_work() {
        return Ok(End::Again(None));
    }
    let after = owned(ctx, key);
    let concluded = appset::conclude(set, options, &pass, &after, failure.as_ref(), now(ctx));
    status::store(ctx, set, concluded).await?;
    if failure.is_some() {
        return Ok(End::Failed);
    }
    Ok(End::Again(appset::requeue_after(set, options, &pass).and_then(duration)))
}

/// Takes the request for a refresh away.
async fn answered(ctx: &Context, key: &AppKey) -> Result<(), WriteError> {
    let body = json!({"metadata": {"annotations": {names::SET_REFRESH: null}}});
    let target = Target::new(&ctx.sets.resource, &key.namespace, &key.name);
    let taken = async {
        let answer = ctx.cluster.merge_patch(ctx.sets.leave()?, &target, &body, names::SETS_MANAGER).await?;
        feed::absorb(ctx, &answer);
        Ok(())
    };
    let failed = |error: Error| WriteError { stage: WriteStage::Refresh, message: error.to_string() };
    taken.await.map_err(failed)
}

/// The Applications that a set made.
pub fn owned(ctx: &Context, key: &AppKey) -> Vec<Live> {
    read(ctx, ctx.apps.of_set(key))
}

/// The same, and those that have the name of one that shall be.
fn concerned(ctx: &Context, key: &AppKey, applications: &[Application]) -> Vec<Live> {
    let mut keys: BTreeSet<AppKey> = ctx.apps.of_set(key).into_iter().collect();
    let named = |app: &Application| AppKey { namespace: key.namespace.clone(), name: app.metadata.name.clone() };
    keys.extend(applications.iter().map(named).filter(|key| ctx.apps.contains(key)));
    read(ctx, keys)
}

fn read(ctx: &Context, keys: impl IntoIterator<Item = AppKey>) -> Vec<Live> {
    keys.into_iter().filter_map(|key| ctx.apps.raw(&key)).filter_map(|object: Value| Live::read(&object)).collect()
}

/// The time as statuses tell it.
pub fn now(ctx: &Context) -> Time {
    Time::from_timestamp(ctx.now())
}

fn duration(time: SignedDuration) -> Option<Duration> {
    Duration::try_from(time).ok()
}
