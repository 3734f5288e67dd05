//! What happens to the Applications of a set that is being deleted.
//!
//! In:  the set, its stored Applications, policy, the time.
//! Out: the next step.
//! Invariant: the set's finalizer goes last, and an Application that may not be deleted has lost its owner before.
//! Source: SET-095, SET-132 (`applicationset/controllers/applicationset_controller.go`,
//! `applicationset/progressivesync/progressive_sync.go` `PerformReverseDeletion`).

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::live::Live;
use super::options::Options;
use super::rollout::{Order, steps};
use crate::api::appset::ApplicationSet;
use crate::api::status::Time;

/// What comes next in the deletion of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Take all owner references from these Applications, then ask again.
    Disown(Vec<String>),
    /// Delete this Application, then ask again after [`WAIT`].
    Delete {
        /// Its name.
        name: String,
        /// Only the object with this uid is meant.
        uid: String,
    },
    /// An Application is on its way out: ask again after [`WAIT`].
    Wait,
    /// An Application has been on its way out for more than [`PATIENCE`]: read it from the API server; when it is gone,
    /// ask again without it, else retry later with this error.
    Stuck {
        /// Its name.
        name: String,
        /// Text for the log.
        error: String,
    },
    /// Take `resources-finalizer.argocd.argoproj.io` from the set.
    Release,
}

/// Time between looks while Applications go one after the other.
pub const WAIT: SignedDuration = SignedDuration::from_secs(10);

/// How long an Application may take to go.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// Whether Applications go one after the other, the last step first.
pub fn is_reversed(set: &ApplicationSet) -> bool {
    let order = set.spec.strategy.as_ref().map(|strategy| strategy.deletion_order.as_str()).unwrap_or_default();
    !steps(set).is_empty() && order.eq_ignore_ascii_case("Reverse")
}

/// What comes next in the deletion of a set.
pub fn step(set: &ApplicationSet, options: &Options, live: &[Live], now: Time) -> Step {
    let owned: Vec<&Live> = live.iter().filter(|app| app.is_owned_by(&set.metadata.name)).collect();
    if !options.policy_of(set).allows_delete() {
        // What may not be deleted has no owner any more, so that the order of deletion does not reach it either.
        let names: Vec<String> = owned.iter().map(|app| app.name.clone()).collect();
        return if names.is_empty() { Step::Release } else { Step::Disown(names) };
    }
    if !is_reversed(set) {
        return Step::Release;
    }
    let labels: Vec<BTreeMap<String, String>> = owned.iter().map(|app| labels(app)).collect();
    let order = Order::new(steps(set), owned.iter().map(|app| app.name.as_str()).zip(&labels));
    let stepped = owned.iter().filter_map(|app| Some((order.step.get(&app.name)?, *app)));
    // What no step takes is left to the garbage collector.
    let Some((_, app)) = stepped.max_by(|(a, left), (b, right)| a.cmp(b).then(right.name.cmp(&left.name))) else {
        return Step::Release;
    };
    match app.deleted_at() {
        None => Step::Delete { name: app.name.clone(), uid: app.uid().to_owned() },
        Some(since) if now.unix() - since.unix() > PATIENCE.as_secs() => Step::Stuck {
            name: app.name.clone(),
            error: "application has not been deleted in over 2 minutes".to_owned(),
        },
        Some(_) => Step::Wait,
    }
}

fn labels(app: &Live) -> BTreeMap<String, String> {
    let labels = app.metadata.get("labels").cloned().unwrap_or_default();
    serde_json::from_value(labels).unwrap_or_default()
}
