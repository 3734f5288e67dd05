//! Finds tracked objects of kinds that no application names any more.
//!
//! In:  discovery; one metadata-only list of every listable kind that is not watched.
//! Out: those kinds watched, so that what left Git while nobody looked is seen and can be pruned.
//! Source: APP-079; a full watch of every kind, as Argo CD keeps it, costs the memory that this sweep saves.

use std::rc::Rc;
use std::time::Duration;

use super::context::Context;
use super::destination::Destination;
use super::feeds::key_of_instance;
use crate::api::ObjectExt;
use crate::cluster::{Error, Resource};
use crate::compare::Level;
use crate::settings::Settings;
use crate::track::{self, Tracking};

/// Sweeps the own cluster shortly after the start, and again until every kind was listed.
pub async fn sweep_at_start(ctx: Rc<Context>) {
    let mut pause = Duration::from_secs(5);
    while !ctx.swept.get() {
        let config = ctx.config();
        let own =
            crate::api::Destination { server: crate::api::names::IN_CLUSTER_SERVER.to_owned(), ..Default::default() };
        let outcome = match ctx.destination(&config, &own) {
            Ok(destination) => sweep_once(&ctx, &destination).await,
            // The own cluster may be switched off as a destination.
            Err(_) => return,
        };
        let Err(reason) = outcome else { return };
        tracing::warn!(reason, "Could not look for tracked objects of kinds that are not watched");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(300));
    }
}

/// Sweeps a cluster unless it was swept before; the error says what could not be listed.
pub async fn sweep_once(ctx: &Context, at: &Destination) -> Result<(), String> {
    if at.swept.get() {
        return Ok(());
    }
    let config = ctx.config();
    let settings = config.settings.as_ref().map_err(Clone::clone)?;
    sweep(ctx, at, (&settings.settings, &settings.tracking)).await?;
    at.swept.set(true);
    Ok(())
}

async fn sweep(ctx: &Context, at: &Destination, (settings, tracking): (&Settings, &Tracking)) -> Result<(), String> {
    let resources = at.cluster.all_listable().await.map_err(|error| error.to_string())?;
    let mut found = 0_usize;
    for resource in resources {
        let kind = resource.group_kind();
        let excluded = settings.resource_filter.is_excluded(&kind.group, &kind.kind, &at.server);
        if excluded || !resource.verbs.has("watch") || at.live.watches(&kind) {
            continue;
        }
        for owner in owners(at, &resource, tracking).await? {
            found += 1;
            at.follow(&resource);
            let key = key_of_instance(ctx, &owner);
            if ctx.apps.contains(&key) && at.live.ready(&kind).await.is_ok() {
                ctx.queue.add(&key, Some(Level::Recent));
            }
        }
    }
    tracing::debug!(found, "Looked for tracked objects of kinds that are not watched");
    Ok(())
}

/// Instance names that track objects of a kind. Kinds that may not be listed, or are gone again, hold none of ours.
async fn owners(at: &Destination, resource: &Resource, tracking: &Tracking) -> Result<Vec<String>, String> {
    let Some(places) = at.places(resource) else { return Ok(Vec::new()) };
    let everywhere = places.is_empty().then_some(None);
    let mut owners: Vec<String> = Vec::new();
    for place in places.iter().map(|place| Some(place.as_str())).chain(everywhere) {
        let listed = match at.cluster.list_metadata(resource, place, "").await {
            Ok(listed) => listed,
            Err(Error::Forbidden(_) | Error::NotFound(_)) => continue,
            Err(error) if error.status().is_some_and(|status| status.code == 405) => continue,
            Err(error) => return Err(format!("{}: {error}", resource.qualified())),
        };
        let ours = listed.items.iter().filter(|object| !object.has_owner());
        owners.extend(ours.filter_map(|object| track::owner(object, tracking)));
    }
    owners.sort();
    owners.dedup();
    Ok(owners)
}
