//! The watch of ApplicationSets.
//!
//! In:  a feed; the answers to litecd's own writes.
//! Out: the store filled, and sets put into the queue when they are due.
//! Source: SET-141, SET-145 (`applicationset/controllers/applicationset_controller.go` `SetupWithManager`).

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::triggers;
use crate::api::ObjectExt;
use crate::controller::context::Context;
use crate::controller::feeds::{Told, spawn};
use crate::controller::queue::AppKey;
use crate::controller::stores::key_of;
use crate::watch::Feed;

/// How often it is looked for the CRD while there is none.
const CRD: Duration = Duration::from_secs(30);

/// Watches sets, once their kind exists: who uses none needs no CRD.
pub async fn follow(ctx: Rc<Context>) {
    let gvk = ctx.sets.resource.gvk();
    let mut told = false;
    while ctx.cluster.resource(&gvk).await.is_err() {
        if !told {
            tracing::info!("There is no ApplicationSet CRD: nothing is generated until there is");
            told = true;
        }
        tokio::time::sleep(CRD).await;
        ctx.cluster.forget_discovery();
    }
    let elsewhere = !ctx.parameters.application_sets.namespaces.is_empty();
    let scope = (!elsewhere).then(|| ctx.namespace.clone());
    let feed = Feed::new(ctx.cluster.client(), &gvk, &ctx.sets.resource.plural, scope.as_deref());
    let seen = RefCell::new(None::<HashSet<AppKey>>);
    spawn(gvk, feed, move |event| heard(&ctx, &seen, event));
}

fn heard(ctx: &Context, seen: &RefCell<Option<HashSet<AppKey>>>, told: Told) {
    match told {
        Told::Failed(_) => {}
        Told::Listing => drop(seen.replace(Some(HashSet::new()))),
        Told::Seen(object) => {
            let key = key_of(&object);
            if !ctx.parameters.application_sets.is_namespace_allowed(&key.namespace, &ctx.namespace) {
                return;
            }
            if !ctx.parameters.is_app_namespace_allowed(&key.namespace, &ctx.namespace) {
                // Which Applications it made is not known there.
                return tracing::warn!(
                    applicationset = key.name,
                    "appset-namespace" = key.namespace,
                    "Left alone: Applications of this namespace are not managed (application.namespaces)"
                );
            }
            if let Some(seen) = seen.borrow_mut().as_mut() {
                seen.insert(key);
            }
            absorb(ctx, &object);
        }
        Told::Gone(object) => ctx.sets.forget(&key_of(&object)),
        Told::Listed => {
            let Some(seen) = seen.take() else { return };
            ctx.sets.store.besides(&seen).iter().for_each(|key| ctx.sets.forget(key));
        }
    }
}

/// Takes in a set as the API server answered it; an older answer than what is known changes nothing.
pub fn absorb(ctx: &Context, object: &Value) {
    let key = key_of(object);
    // The last patch of a deletion is answered with an object that is gone already.
    if object.is_deleting() && object.finalizers().is_empty() {
        return ctx.sets.forget(&key);
    }
    let Ok(before) = ctx.sets.store.put(object) else { return };
    if before.is_none_or(|before| triggers::set_changed(&before, object, &ctx.sets.options)) {
        ctx.sets.queue.add(&key, None);
    }
}
