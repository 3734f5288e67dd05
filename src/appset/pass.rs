//! One pass over an expanded set: what is written, and what the status says before.
//!
//! In:  the set, its generated Applications, the stored ones, what is known of the cluster, the time.
//! Out: writes and status; when the set is looked at again.
//! Invariant: Applications that are not valid are neither written nor deleted.
//! Source: SET-080, SET-103, SET-140 (`applicationset/controllers/applicationset_controller.go` `Reconcile`,
//! `getMinRequeueAfter`).

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::generators::{Level, child_entry};
use super::live::Live;
use super::options::{Options, World};
use super::plan::{Comparer, plan};
use super::{Pass, rollout, status, validate};
use crate::api::Application;
use crate::api::appset::{ApplicationSet, Generator};
use crate::api::status::Time;
use crate::diff::StartTimer;

/// When a set that failed is looked at again.
pub const RETRY: SignedDuration = SignedDuration::from_mins(3);

/// How often hosts and plugins are asked by default.
const HOSTS: SignedDuration = SignedDuration::from_mins(30);

/// Decides one pass. `live` are the stored Applications that the set owns or whose names it generates.
///
/// # Errors
/// A rule of the set does not compile: nothing may be written.
pub fn pass(
    set: &ApplicationSet,
    options: &Options,
    world: &World,
    applications: Vec<Application>,
    live: &[Live],
    timer: StartTimer,
    now: Time,
) -> Result<Pass, String> {
    let invalid = validate::invalid(set, &applications, world);
    let comparer = Comparer::new(set, options, timer)?;
    let mut status = set.status.clone();
    let mut wanted: Vec<Application> =
        applications.iter().filter(|app| !invalid.contains_key(&app.metadata.name)).cloned().collect();
    if options.progressive_syncs && rollout::is_rolling(set) {
        let may_sync = roll(set, &mut status, &comparer, &applications, live, now);
        if !rollout::steps(set).is_empty() {
            wanted.iter_mut().for_each(|app| rollout::prepare(app, &set.status, &may_sync));
        }
    } else {
        status.application_status.clear();
    }
    if let Some(message) = validate::message(&invalid) {
        status::report_invalid(set, &mut status, &message, now);
    }
    let generated: BTreeSet<&str> = applications.iter().map(|app| app.metadata.name.as_str()).collect();
    let changes = plan(&comparer, &wanted, &generated, live, world);
    Ok(Pass { status, changes, invalid })
}

/// Moves the rolling sync on; names that may sync.
fn roll(
    set: &ApplicationSet,
    status: &mut crate::api::appset::ApplicationSetStatus,
    comparer: &Comparer,
    applications: &[Application],
    live: &[Live],
    now: Time,
) -> BTreeSet<String> {
    let owned: Vec<&Live> = live.iter().filter(|app| app.is_owned_by(&set.metadata.name)).collect();
    let desired: BTreeMap<&str, &Application> =
        applications.iter().map(|app| (app.metadata.name.as_str(), app)).collect();
    let differs = |app: &&&Live| {
        desired.get(app.name.as_str()).is_some_and(|desired| {
            let mut desired = (*desired).clone();
            rollout::disarm(&mut desired);
            comparer.spec_differs(app, &desired)
        })
    };
    let changed = owned.iter().filter(differs).map(|app| app.name.clone()).collect();
    rollout::advance(set, status, &owned, applications, &changed, now)
}

/// When the set is looked at again although nothing happened; nothing when never.
pub fn requeue_after(set: &ApplicationSet, options: &Options, pass: &Pass) -> Option<SignedDuration> {
    let shortest = set.spec.generators.iter().filter_map(|entry| interval(entry, options, Level::Top)).min();
    shortest.or((!pass.invalid.is_empty()).then_some(RETRY))
}

/// The shortest interval of an entry's generators.
fn interval(entry: &Generator, options: &Options, level: Level) -> Option<SignedDuration> {
    let after = |given: Option<i64>, default: SignedDuration| given.map_or(default, SignedDuration::from_secs);
    let children = entry.matrix.as_ref().map(|matrix| &matrix.generators);
    let others = entry.merge.as_ref().map(|merge| &merge.generators);
    let below = children.into_iter().chain(others).flatten();
    let below = below.filter_map(|child| interval(&child_entry(child, level.below()).ok()?, options, level.below()));
    let own = [
        entry.git.as_ref().map(|part| after(part.requeue_after_seconds, options.requeue_after)),
        entry.cluster_decision_resource.as_ref().map(|part| after(part.requeue_after_seconds, options.requeue_after)),
        entry.scm_provider.as_ref().map(|part| after(part.requeue_after_seconds, HOSTS)),
        entry.pull_request.as_ref().map(|part| after(part.requeue_after_seconds, HOSTS)),
        entry.plugin.as_ref().map(|part| after(part.requeue_after_seconds, HOSTS)),
    ];
    own.into_iter().flatten().chain(below).filter(|time| time.is_positive()).min()
}
