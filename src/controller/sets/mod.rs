//! ApplicationSets: watched, looked at one at a time each, and carried out.
//!
//! In:  watches of sets, changes of their Applications and of clusters, timers.
//! Out: Applications created, changed and deleted; the sets' statuses, events and finalizers.
//! Invariant: nothing is written without the verdict on ApplicationSets, which wants both of Argo CD's controllers gone;
//! every decision is made in the room `appset`, and a set that changed nothing writes nothing.
//! Source: SET-080, SET-140 to SET-145 (`applicationset/controllers/applicationset_controller.go`).
//!
//! ```text
//! feed, triggers → queue → turns → reconcile ⇄ questions (git, cluster, hosts)
//!                                  reconcile → writes → Applications, status, events
//! ```

mod feed;
mod git;
mod hosts;
mod questions;
mod reconcile;
mod removal;
mod status;
mod triggers;
mod turns;
mod writes;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::config::Config;
use super::context::Context;
use super::queue::{AppKey, Queue};
use super::stores::{Objects, set_of};
use crate::api::{ObjectExt, names};
use crate::appset::{Globbing, Options, Policy};
use crate::cluster::{Error, Resource};
use crate::guard::{self, Permit, Verdict};
use crate::repo::github::Tokens;
use crate::settings::ApplicationSets;

/// ApplicationSets, and the work on them.
pub struct Sets {
    /// The sets of the allowed namespaces.
    pub store: Objects,
    /// Which set is next.
    pub queue: Queue,
    /// Settings in the words of the room that decides.
    options: Options,
    /// The last verdict on who works on sets.
    verdict: RefCell<Verdict>,
    /// How often each set failed in a row.
    failures: RefCell<HashMap<AppKey, u32>>,
    /// Tokens of GitHub Apps that generators refer to.
    tokens: Tokens,
    /// The `applicationsets` resource.
    resource: Resource,
}

impl Sets {
    /// Nothing is known yet.
    pub fn new(parameters: &ApplicationSets, namespace: &str) -> Self {
        Self {
            store: Objects::default(),
            queue: Queue::default(),
            options: options(parameters, namespace),
            tokens: Tokens::default(),
            verdict: RefCell::new(guard::decide(None, false)),
            failures: RefCell::default(),
            resource: Resource {
                group: names::GROUP.to_owned(),
                version: "v1alpha1".to_owned(),
                kind: crate::appset::live::KIND.to_owned(),
                plural: "applicationsets".to_owned(),
                namespaced: true,
                ..Resource::default()
            },
        }
    }

    /// The permit to write, asked for anew before each write.
    fn leave(&self) -> Result<Permit, Error> {
        let refused = || Error::Refused { text: "standing down: no ApplicationSet is worked on".to_owned() };
        self.verdict.borrow().permit().ok_or_else(refused)
    }

    /// Whether sets are worked on.
    fn is_at_work(&self) -> bool {
        self.verdict.borrow().permit().is_some()
    }

    /// Forgets a set that is gone.
    fn forget(&self, key: &AppKey) {
        self.store.remove(key);
        self.queue.forget(key);
        self.failures.borrow_mut().remove(key);
    }
}

/// The parameters in the words of the room that decides.
fn options(parameters: &ApplicationSets, namespace: &str) -> Options {
    Options {
        argocd_namespace: namespace.to_owned(),
        policy: Policy::parse(&parameters.policy).unwrap_or(Policy::CreateOnly),
        policy_override: parameters.policy_override.unwrap_or(parameters.policy.is_empty()),
        preserved_annotations: parameters.preserved_annotations.clone(),
        preserved_labels: parameters.preserved_labels.clone(),
        progressive_syncs: parameters.progressive_syncs,
        max_resources: parameters.max_resources,
        globbing: if parameters.new_file_globbing { Globbing::Doublestar } else { Globbing::Pathspec },
        scm_enabled: parameters.scm_enabled,
        scm_allowed: parameters.scm_allowed.clone(),
        requeue_after: parameters.requeue_after,
    }
}

/// Starts the watch of sets and the work on them.
pub fn start(ctx: &Rc<Context>) {
    if let Some(conflict) = ctx.parameters.application_sets.conflict() {
        tracing::error!(reason = conflict, "ApplicationSets are left alone");
        return;
    }
    tokio::task::spawn_local(feed::follow(ctx.clone()));
    tokio::task::spawn_local(turns::hand_out(ctx.clone()));
}

/// Puts a new verdict in force; every set is looked at when working on them becomes allowed.
pub fn replace_verdict(ctx: &Context, verdict: Verdict) {
    let before = ctx.sets.verdict.replace(verdict.clone());
    if before == verdict {
        return;
    }
    match &verdict {
        Verdict::Write(_) => {
            tracing::info!("Argo CD's ApplicationSet controller is not present: working on ApplicationSets");
            add_all(ctx, |_| true);
        }
        // Who stands down from Applications has said so already.
        Verdict::StandDown { .. } if *ctx.verdict.borrow() == verdict => {}
        Verdict::StandDown { reason, .. } => tracing::info!(coexistence = reason, "Standing down from ApplicationSets"),
    }
}

/// Looks at the set of an Application that changed in a way that matters to it (SET-142).
pub fn application_changed(ctx: &Context, before: Option<&serde_json::Value>, now: &serde_json::Value) {
    // A new one is the set's own work, or was there before litecd and is seen when its set is.
    let Some(before) = before else { return };
    let owners = [set_of(before), set_of(now)];
    if owners == [None, None] || !triggers::application_changed(before, now, &ctx.sets.options) {
        return;
    }
    for name in owners.into_iter().flatten() {
        let key = AppKey { namespace: now.namespace().to_owned(), name: name.to_owned() };
        if ctx.sets.store.contains(&key) {
            ctx.sets.queue.add(&key, None);
        }
    }
}

/// Looks at the sets that ask for clusters when those changed (SET-143).
pub fn clusters_changed(ctx: &Context, before: &Config, now: &Config) {
    if before.cluster_secrets != now.cluster_secrets {
        add_all(ctx, triggers::asks_for_clusters);
    }
}

/// Looks at all sets of a kind.
fn add_all(ctx: &Context, is_meant: impl Fn(&serde_json::Value) -> bool) {
    for key in ctx.sets.store.keys() {
        if ctx.sets.store.raw(&key).is_some_and(|set| is_meant(&set)) {
            ctx.sets.queue.add(&key, None);
        }
    }
}
