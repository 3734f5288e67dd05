//! Finds tracked objects of kinds that no application names any more.
//!
//! In:  discovery; one metadata-only list of every listable kind that is not watched.
//! Out: those kinds watched, so that what left Git while nobody looked is seen and can be pruned.
//! Source: APP-079; a full watch of every kind, as Argo CD keeps it, costs the memory that this sweep saves.

use std::rc::Rc;

use super::context::Context;
use super::feeds::key_of_instance;
use crate::api::ObjectExt;
use crate::cluster::Resource;
use crate::compare::Level;
use crate::track;

/// Sweeps once, shortly after the start.
pub async fn sweep_at_start(ctx: Rc<Context>) {
    sweep(&ctx).await;
}

/// Lists every unwatched kind once.
pub async fn sweep(ctx: &Context) {
    let config = ctx.config();
    let Ok(settings) = &config.settings else { return };
    let (tracking, filter) = (&settings.tracking, &settings.resource_filter);
    let mut found = 0_usize;
    let Ok(resources) = ctx.cluster.all_listable().await else { return };
    for resource in resources {
        let kind = resource.gvk().group_kind();
        if filter.is_excluded(&kind.group, &kind.kind, crate::api::names::IN_CLUSTER_SERVER) || ctx.live.watches(&kind) {
            continue;
        }
        for owner in owners(ctx, &resource, tracking).await {
            found += 1;
            ctx.live.start(&resource.gvk(), &resource.plural);
            let key = key_of_instance(ctx, &owner);
            if ctx.apps.contains(&key) && ctx.live.ready(&kind).await.is_ok() {
                ctx.queue.add(&key, Some(Level::Recent));
            }
        }
    }
    tracing::debug!(found, "Looked for tracked objects of kinds that are not watched");
}

/// Instance names that track objects of a kind.
async fn owners(ctx: &Context, resource: &Resource, tracking: &track::Tracking) -> Vec<String> {
    let listed = match ctx.cluster.list_metadata(resource, None, "").await {
        Ok(listed) => listed,
        Err(error) => {
            tracing::debug!(group = resource.group, kind = resource.kind, reason = %error, "Cannot list");
            return Vec::new();
        }
    };
    let mut owners: Vec<String> =
        listed.items.iter().filter(|object| !object.has_owner()).filter_map(|object| track::owner(object, tracking)).collect();
    owners.sort();
    owners.dedup();
    owners
}
