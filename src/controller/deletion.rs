//! One pass of an Application's deletion.
//!
//! In:  an Application with a deletion timestamp and finalizers of ours.
//! Out: hooks created, objects deleted, finalizers removed; errors as the condition `DeletionError`.
//! Invariant: nothing is deleted unless every kind that the application is known to use was listed.
//! Source: APP-192 to APP-208 (`controller/appcontroller.go` `finalizeApplicationDeletion`).

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::config::{Config, InForce};
use super::context::Context;
use super::destination::{Destination, Unreachable, kinds_of};
use super::execute::Executor;
use super::queue::Purpose;
use super::stores::StoredApp;
use super::{leftovers, persist};
use crate::api::status::{Condition, Time};
use crate::api::{Application, ObjectExt, ResourceKey, names};
use crate::desired::{self, Anew};
use crate::project::Project;
use crate::sync::deletion::{self, Cascade, Cleanup, HookStage, Stage, Trouble};
use crate::sync::hooks::DeleteHook;
use crate::sync::{self, Action, Answer, ObjectRef, Propagation};
use crate::{cluster, health, status, track};

/// How often a deletion that waits is looked at even if nothing tells of a change.
const PATIENCE: Duration = Duration::from_secs(5);

/// How soon a deletion that failed is tried again.
const AFTER_ERROR: Duration = Duration::from_secs(30);

/// An object that two applications list goes with the one whose tracking id it carries, as in Argo CD.
const NONE_SHARED: fn(&ResourceKey) -> bool = |_| false;

/// Whether the stage is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Done,
    Waits,
}

/// Runs one pass.
pub async fn run(ctx: &Rc<Context>, app: &StoredApp) {
    let key = app.key();
    // What the store holds may be old; finalizers must not be decided on that.
    let fresh = match ctx.read_app(&key).await {
        Ok(Some(fresh)) => fresh,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(reason = %error, "Unable to get refreshed application info prior deleting resources");
            return ctx.again(&key, None);
        }
    };
    if let Err(text) = pass(ctx, &fresh).await {
        tell(ctx, &fresh, &text).await;
        ctx.queue.add_after(&key, None, Purpose::Again, AFTER_ERROR);
    }
}

/// Shows why the deletion does not go on (APP-208).
async fn tell(ctx: &Context, app: &StoredApp, text: &str) {
    let now = Time::from_timestamp(ctx.now());
    let known = app.app.status.conditions.iter().any(|c| c.r#type == "DeletionError" && c.message == text);
    // Told once: the same event every few seconds would bury all others.
    if !known {
        tracing::warn!(reason = text, "Unable to delete application; trying again from time to time");
        let conditions = status::set_conditions(
            &app.app.status.conditions,
            vec![Condition::new("DeletionError", text)],
            &["DeletionError"],
            now,
        );
        let patch = serde_json::json!({"status": {"conditions": conditions}});
        if let Err(error) = ctx.patch_app(app, &patch).await {
            tracing::warn!(reason = %error, "Error updating application");
        }
        persist::event(ctx, app, &status::events::deletion_failed(text)).await;
    }
}

async fn pass(ctx: &Rc<Context>, app: &StoredApp) -> Result<(), String> {
    if deletion::stage(&app.app.metadata.finalizers) == Stage::Finished {
        return Ok(());
    }
    let config = ctx.config();
    let project = super::projects::find(ctx, &config, &app.app).map_err(|error| error.to_string())?;
    let destination = match ctx.destination(&config, &app.app.spec.destination) {
        Ok(destination) => destination,
        Err(error @ Unreachable::Unusable(_)) => return Err(error.to_string()),
        Err(Unreachable::Undefined(text)) => {
            tracing::warn!(reason = text, "Unable to get destination cluster");
            let edit = |list: &[String]| Some(deletion::give_up(list)).filter(|left| left != list);
            return persist::finalizers(ctx, &app.key(), edit).await.map_err(|error| error.to_string());
        }
    };
    let settings = config.settings.as_ref().map_err(Clone::clone)?;
    let scene = Scene { ctx, app: &app.app, config: &config, settings, project: &project, destination: &destination };
    let mut finalizers = app.app.metadata.finalizers.clone();
    loop {
        let stage = deletion::stage(&finalizers);
        if stage == Stage::Finished || scene.stage(stage).await? == Progress::Waits {
            if stage != Stage::Finished {
                ctx.queue.add_after(&app.key(), None, Purpose::Again, PATIENCE);
            }
            return Ok(());
        }
        finalizers = deletion::after(stage, &finalizers);
        let edit = |list: &[String]| Some(deletion::after(stage, list)).filter(|left| left != list);
        persist::finalizers(ctx, &app.key(), edit)
            .await
            .map_err(|error| stage.error(Trouble::Finalizers, &error.to_string()))?;
        // Only the first stage flows on into the next (APP-196).
        if stage != Stage::Hooks(DeleteHook::PreDelete) {
            ctx.queue.add(&app.key(), None);
            return Ok(());
        }
    }
}

/// What became of hooks that were to be created.
#[derive(Default)]
struct Created {
    /// Whether any was created now.
    any: bool,
    /// Objects of that name that exist, as they are.
    there_already: Vec<Value>,
}

struct Scene<'a> {
    ctx: &'a Rc<Context>,
    app: &'a Application,
    config: &'a Config,
    settings: &'a InForce,
    project: &'a Project,
    destination: &'a Destination,
}

impl Scene<'_> {
    async fn stage(&self, stage: Stage) -> Result<Progress, String> {
        let live = self.live().await.map_err(|text| stage.error(Trouble::Reading, &text))?;
        let worked = match stage {
            Stage::Hooks(kind) => self.hooks(kind, &live).await,
            Stage::Cascade => self.cascade(&live).await,
            Stage::Cleanup(kind) => self.clean_up(kind, &live).await,
            Stage::Finished => Ok(Progress::Done),
        };
        worked.map_err(|text| stage.error(Trouble::Working, &text))
    }

    /// Live objects of the application that the project permits.
    async fn live(&self) -> Result<Vec<Value>, String> {
        self.destination.watch(&kinds_of(self.app), &self.settings.resource_filter).await?;
        // A kind that no status names may hold objects too; until that is known nothing may be called gone.
        leftovers::sweep_once(self.ctx, self.destination).await?;
        let mut live = self.destination.live.owned_by(&self.app.instance_name(&self.ctx.namespace));
        live.retain(|object| self.project.live_permitted(object, &self.destination.settings));
        Ok(live)
    }

    async fn cascade(&self, live: &[Value]) -> Result<Progress, String> {
        match deletion::cascade(self.app, live, &NONE_SHARED) {
            Cascade::Wait => {
                tracing::info!(remaining = live.len(), "objects remaining for deletion");
                Ok(Progress::Waits)
            }
            Cascade::AwaitApproval(key) => {
                tracing::info!(resource = %key, "Resource requires manual confirmation to delete");
                Ok(Progress::Waits)
            }
            Cascade::Delete(objects, propagation) => {
                tracing::info!(count = objects.len(), "Deleting resources");
                self.delete(objects, propagation).await?;
                let left = self.live().await?;
                Ok(if deletion::is_gone(self.app, &left, &NONE_SHARED) { Progress::Done } else { Progress::Waits })
            }
            Cascade::Done => Ok(Progress::Done),
        }
    }

    async fn hooks(&self, kind: DeleteHook, live: &[Value]) -> Result<Progress, String> {
        let targets = self.targets().await?;
        let wanted = deletion::hooks_to_create(kind, self.app, targets, live);
        let Created { any, there_already } = self.create(wanted).await?;
        if any {
            return Ok(Progress::Waits);
        }
        // Argo CD takes a hook that its cache does not show yet for one that is done, and deletes it unrun.
        let judged: Vec<Value> = live.iter().cloned().chain(there_already).collect();
        match deletion::judge_hooks(kind, &judged, &|object| self.health(object))? {
            HookStage::Wait => Ok(Progress::Waits),
            HookStage::Done => Ok(Progress::Done),
            HookStage::Failed { delete, text } => {
                self.delete(delete, Propagation::Background).await?;
                Err(text)
            }
        }
    }

    /// Renders the sources at their target revisions (APP-204).
    async fn targets(&self) -> Result<Vec<Value>, String> {
        let sources = self.app.spec.effective_sources();
        let revisions: Vec<String> = sources.iter().map(|source| source.target_revision.clone()).collect();
        let inputs = desired::Inputs {
            app: self.app,
            instance: &self.app.instance_name(&self.ctx.namespace),
            sources: &sources,
            revisions: &revisions,
            multi: self.app.spec.has_multiple_sources(),
            anew: Anew::Nothing,
            project: self.project,
            settings: &self.settings.settings,
            repositories: &self.config.repositories,
            cluster: &self.destination.facts().await?,
        };
        let rendered = self.ctx.desired.manifests(&inputs).await.map_err(|error| error.to_string())?;
        Ok(rendered.sources.into_iter().flat_map(|source| source.manifests).collect())
    }

    /// Creates hooks that are not there.
    async fn create(&self, hooks: Vec<Value>) -> Result<Created, String> {
        let instance = self.app.instance_name(&self.ctx.namespace);
        let mut created = Created::default();
        for mut hook in hooks {
            let tracked =
                track::set(&mut hook, &self.settings.tracking, &instance, &self.app.spec.destination.namespace);
            tracked.map_err(|error| error.to_string())?;
            let resource = self.destination.cluster.resource(&hook.gvk()).await.map_err(|error| error.text)?;
            match self
                .destination
                .cluster
                .create(self.ctx.permit().ok_or("standing down")?, &resource, &hook, names::BINARY_MANAGER)
                .await
            {
                Ok(object) => {
                    created.any = true;
                    self.destination.keep(&object).await;
                }
                Err(cluster::Error::AlreadyExists(_)) => {
                    let found = self.destination.cluster.get(&resource, hook.namespace(), hook.name()).await;
                    let found = found.map_err(|error| error.to_string())?;
                    if let Some(object) = &found {
                        self.destination.keep(object).await;
                    }
                    // Gone in between: the next pass creates it.
                    created.any |= found.is_none();
                    created.there_already.extend(found);
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(created)
    }

    async fn clean_up(&self, kind: DeleteHook, live: &[Value]) -> Result<Progress, String> {
        match deletion::clean_up(kind, live, &|object| self.health(object))? {
            Cleanup::Done => Ok(Progress::Done),
            Cleanup::Wait(objects) => {
                self.delete(objects, Propagation::Background).await?;
                Ok(Progress::Waits)
            }
        }
    }

    fn health(&self, object: &Value) -> Result<Option<sync::Health>, String> {
        match health::of(object, &self.settings.health) {
            Ok(found) => Ok(found.map(|h| sync::Health { status: h.status.to_string(), message: h.message })),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Deletes all; what is gone already counts as deleted, the first other failure is reported.
    async fn delete(&self, objects: Vec<ObjectRef>, propagation: Propagation) -> Result<(), String> {
        let actions = objects.into_iter().map(|object| Action::Delete { object, propagation }).collect();
        let executor = Executor { ctx: self.ctx, destination: self.destination, app: None };
        for answer in executor.all(actions).await {
            match answer {
                Answer::Done(Err(failure)) if failure.kind != sync::FailureKind::NotFound => {
                    return Err(failure.message);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
