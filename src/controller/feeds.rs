//! Watches of the control plane's own objects: Applications, projects, settings, and Argo CD's controllers.
//!
//! In:  feeds.
//! Out: the stores filled, the verdict kept current, and applications put into the queue.
//! Source: APP-049, APP-058, APP-066, APP-232, APP-272 (`controller/appcontroller.go` `newApplicationInformerAndLister`).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::watch as signal;

use super::config::{Config, OWN_SECRET, POINTED, Raw};
use super::context::Context;
use super::queue::{AppKey, Purpose};
use super::sets;
use super::stores::{StoredApp, key_of};
use crate::api::{GroupVersionKind, ObjectExt, names};
use crate::compare::Level;
use crate::guard::{self, Controller, Presence, Verdict};
use crate::settings::trust;
use crate::watch::{Feed, FeedEvent, Selection};

/// The label of Argo CD's own settings.
const PART_OF: &str = "app.kubernetes.io/part-of=argocd";

/// What a sink is told.
pub(super) enum Told {
    Listing,
    Seen(Value),
    Gone(Value),
    Listed,
    Failed(String),
}

/// One watched kind of the control plane's namespace, or some of its objects.
#[derive(Clone, Copy)]
struct Kind {
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    labels: Option<&'static str>,
    name: Option<&'static str>,
}

impl Kind {
    const fn of(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self { api_version, kind, plural, labels: None, name: None }
    }

    /// What [`Raw`] calls it: some objects of a kind are a kind of their own there.
    fn known_as(&self) -> &'static str {
        let is_pointed_to = self.kind == "Secret" && self.labels == Some(PART_OF);
        self.name.unwrap_or(if is_pointed_to { POINTED } else { self.kind })
    }
}

/// How long a deletion that waited for its project leaves whoever brought that back to change his mind.
const BEFORE_DELETION: Duration = Duration::from_secs(5);

/// Starts the watches of settings, projects and Argo CD's controller; returns once all were listed.
pub async fn start_settings(ctx: &Rc<Context>) {
    let raw = Rc::new(RefCell::new(Raw::default()));
    let presence = Rc::new(RefCell::new(Sightings::default()));
    let mut ready = Vec::new();
    let (config_maps, secrets) = (Kind::of("v1", "ConfigMap", "configmaps"), Kind::of("v1", "Secret", "secrets"));
    let settings = [
        Kind { labels: Some(PART_OF), ..config_maps },
        // Argo CD mounts these by name, so that a missing label does no harm.
        Kind { name: Some(trust::TLS_CERTIFICATES), ..config_maps },
        Kind { name: Some(trust::SSH_KNOWN_HOSTS), ..config_maps },
        Kind { name: Some(trust::GPG_KEYS), ..config_maps },
        Kind { labels: Some("argocd.argoproj.io/secret-type"), ..secrets },
        Kind { name: Some(OWN_SECRET), ..secrets },
        Kind { labels: Some(PART_OF), ..secrets },
        Kind::of("argoproj.io/v1alpha1", "AppProject", "appprojects"),
    ];
    for kind in settings {
        let (ctx2, raw, name) = (ctx.clone(), raw.clone(), kind.known_as());
        ready.push(follow(ctx, kind, move |told| settings_told(&ctx2, &raw, name, told)));
    }
    for (api_version, kind, plural) in
        [("apps/v1", "StatefulSet", "statefulsets"), ("apps/v1", "Deployment", "deployments"), ("v1", "Pod", "pods")]
    {
        let (ctx2, presence) = (ctx.clone(), presence.clone());
        ready.push(follow(ctx, Kind::of(api_version, kind, plural), move |told| {
            guard_told(&ctx2, &presence, kind, told)
        }));
    }
    for mut listed in ready {
        let _ = listed.wait_for(|listed| *listed).await;
    }
    if raw.borrow().config_map.is_none() {
        tracing::warn!(
            namespace = ctx.namespace,
            "There is no ConfigMap argocd-cm with the label app.kubernetes.io/part-of: argocd; every Application is Unknown until there is one"
        );
    }
    let config = raw.borrow().config();
    ctx.webhooks.open(&config);
    ctx.config.replace(Rc::new(config));
}

/// Starts the watch of Applications; returns once they were listed.
pub async fn start_apps(ctx: &Rc<Context>) {
    let scope = if !ctx.parameters.application_namespaces.is_empty() { None } else { Some(ctx.namespace.clone()) };
    let gvk = GroupVersionKind::from_api_version("argoproj.io/v1alpha1", "Application");
    let feed = Feed::new(ctx.cluster.client(), &gvk, "applications", scope.as_deref());
    let seen = Rc::new(RefCell::new(None::<HashSet<AppKey>>));
    let ctx2 = ctx.clone();
    let mut listed = spawn(gvk, feed, move |told| apps_told(&ctx2, &seen, told));
    let _ = listed.wait_for(|listed| *listed).await;
}

fn follow(ctx: &Context, kind: Kind, sink: impl FnMut(Told) + 'static) -> signal::Receiver<bool> {
    let gvk = GroupVersionKind::from_api_version(kind.api_version, kind.kind);
    let selection = Selection { namespace: Some(&ctx.namespace), labels: kind.labels, name: kind.name };
    let feed = Feed::selected(ctx.cluster.client(), &gvk, kind.plural, selection);
    spawn(gvk, feed, sink)
}

pub(super) fn spawn(
    gvk: GroupVersionKind,
    mut feed: Feed,
    mut sink: impl FnMut(Told) + 'static,
) -> signal::Receiver<bool> {
    let (listed, receiver) = signal::channel(false);
    tokio::task::spawn_local(async move {
        loop {
            match feed.next().await {
                FeedEvent::Listing => sink(Told::Listing),
                FeedEvent::Seen(object) => sink(Told::Seen(object.parse(&gvk.api_version(), &gvk.kind))),
                FeedEvent::Gone(object) => sink(Told::Gone(object.parse(&gvk.api_version(), &gvk.kind))),
                FeedEvent::Listed => {
                    sink(Told::Listed);
                    listed.send_replace(true);
                }
                FeedEvent::Failed(text) => {
                    tracing::warn!(group = gvk.group, kind = gvk.kind, reason = text, "Failed to list or watch");
                    sink(Told::Failed(text));
                }
            }
        }
    });
    receiver
}

fn apps_told(ctx: &Context, seen: &RefCell<Option<HashSet<AppKey>>>, told: Told) {
    match &told {
        Told::Failed(text) => ctx.readiness.failed(text, Instant::now()),
        // A list that begins may fail yet.
        Told::Listing => {}
        Told::Seen(_) | Told::Gone(_) | Told::Listed => ctx.readiness.heard(),
    }
    match told {
        Told::Failed(_) => {}
        Told::Listing => drop(seen.replace(Some(HashSet::new()))),
        Told::Seen(object) => {
            let key = key_of(&object);
            if !ctx.parameters.is_app_namespace_allowed(&key.namespace, &ctx.namespace) {
                return;
            }
            if let Some(seen) = seen.borrow_mut().as_mut() {
                seen.insert(key.clone());
            }
            ctx.absorb(&object);
        }
        Told::Gone(object) => ctx.forget_app(&key_of(&object)),
        Told::Listed => {
            if let Some(seen) = seen.take() {
                for key in ctx.apps.besides(&seen) {
                    ctx.forget_app(&key);
                }
            }
        }
    }
}

/// Automated sync or self-heal turned on asks for a refresh (APP-058), and so does another word on what it may prune: who
/// approves wants it done now.
pub fn level_of_change(before: Value, now: &Value) -> Option<Level> {
    let before = StoredApp::from_value(before).ok()?;
    let now = StoredApp::from_value(now.clone()).ok()?;
    let on = |app: &StoredApp| app.app.spec.automated().is_some();
    let heals = |app: &StoredApp| app.app.spec.automated().is_some_and(|automated| automated.self_heal == Some(true));
    let turned_on = (!on(&before) && on(&now)) || (!heals(&before) && heals(&now));
    (turned_on || prune_words(&before) != prune_words(&now)).then_some(Level::Latest)
}

/// What an Application says on how much automated sync may prune.
fn prune_words(app: &StoredApp) -> [Option<&String>; 2] {
    [names::PRUNE_APPROVED, names::PRUNE_BUDGET].map(|name| app.app.metadata.annotations.get(name))
}

fn settings_told(ctx: &Context, raw: &RefCell<Raw>, kind: &'static str, told: Told) {
    {
        let mut raw = raw.borrow_mut();
        match told {
            Told::Listing => return raw.begin_list(kind),
            Told::Seen(object) => raw.put(kind, &object),
            Told::Gone(object) => raw.remove(kind, object.name()),
            Told::Listed => raw.end_list(kind),
            Told::Failed(_) => return,
        }
    }
    ctx.replace_config(raw.borrow().config());
}

/// What was seen of Argo CD's controllers, by kind and name.
#[derive(Default)]
struct Sightings {
    objects: BTreeMap<(&'static str, String), Value>,
    /// Names in the list that runs.
    names: HashSet<(&'static str, String)>,
    listed: HashSet<&'static str>,
}

fn guard_told(ctx: &Context, sightings: &RefCell<Sightings>, kind: &'static str, told: Told) {
    let mut seen = sightings.borrow_mut();
    match told {
        // What was seen before counts until the new list is complete.
        Told::Listing => seen.names.retain(|(known, _)| *known != kind),
        Told::Seen(mut object) if guard::identifies_argocd_controller(&object) => {
            seen.names.insert((kind, object.name().to_owned()));
            object.metadata_mut().remove("managedFields");
            seen.objects.insert((kind, object.name().to_owned()), object);
        }
        Told::Seen(object) | Told::Gone(object) => {
            seen.objects.remove(&(kind, object.name().to_owned()));
        }
        Told::Failed(_) => return,
        Told::Listed => {
            let Sightings { objects, names, listed } = &mut *seen;
            objects.retain(|key, _| key.0 != kind || names.contains(key));
            listed.insert(kind);
        }
    }
    // Until all three kinds were listed nobody knows, and who does not know does not write.
    let presence =
        |controller| (seen.listed.len() == 3).then(|| Presence::from_objects(controller, seen.objects.values()));
    let verdict = guard::decide(presence(Controller::Applications).as_ref(), ctx.observe);
    let of_sets = guard::decide_sets(&verdict, presence(Controller::ApplicationSets).as_ref());
    ctx.replace_verdict(verdict);
    sets::replace_verdict(ctx, of_sets);
}

impl Context {
    /// Puts new settings in force. Applications notice at their next refresh (APP-066), but for changed tracking, which
    /// changes whose objects are whose.
    pub(super) fn replace_config(&self, config: Config) {
        self.webhooks.follow(&config);
        let now = Rc::new(config);
        let known = self.config.replace(now.clone());
        self.look_again(&known, &now);
        sets::clusters_changed(self, &known, &now);
        self.watch_orphans(&known, &now);
        let settings = match &now.settings {
            Ok(settings) => settings,
            Err(reason) => {
                // Every object of the namespace leads here; what was said already stays true.
                if known.settings.as_ref().err() != Some(reason) {
                    tracing::warn!(reason, "argocd-cm cannot be used; every Application is Unknown until it can");
                }
                return;
            }
        };
        let before = self.last_good.replace(now.clone());
        let before = before.settings.as_ref().ok();
        let retracked = before.is_some_and(|before| before.tracking != settings.tracking);
        for live in self.lives() {
            if retracked { live.reclassify(self.classifier()) } else { live.classify_by(self.classifier()) }
        }
        let refiltered = before.is_some_and(|before| before.resource_filter != settings.resource_filter);
        if before.is_some_and(|before| before.prune_budget != settings.prune_budget) {
            self.reconsider_prunes();
        }
        if refiltered {
            self.drop_excluded(&settings.resource_filter);
        }
        if retracked {
            self.forget_orphans();
        }
        if retracked || refiltered {
            // What was dropped as foreign, or never watched, may be ours now.
            self.refresh_all.set(self.refresh_all.get() || retracked);
            self.sweep.notify_one();
        }
    }

    /// Looks at the applications whose automated sync may prune more or less than before.
    fn reconsider_prunes(&self) {
        for key in self.apps.keys() {
            let Ok(Some(stored)) = self.apps.get(&key) else { continue };
            if stored.app.spec.automated().is_some()
                && !stored.app.metadata.annotations.contains_key(names::PRUNE_BUDGET)
            {
                self.queue.add(&key, Some(Level::Latest));
            }
        }
    }

    /// Forgets the objects of kinds that are excluded now, lest they look as if they had left their sources.
    fn drop_excluded(&self, filter: &crate::settings::ResourceFilter) {
        let own = (names::IN_CLUSTER_SERVER.to_owned(), self.live.clone());
        let remote = self.remotes.all().into_iter().map(|remote| (remote.server, remote.live));
        for (server, live) in std::iter::once(own).chain(remote) {
            for kind in live.kinds() {
                if filter.is_excluded(&kind.group, &kind.kind, &server) {
                    live.stop(&kind);
                }
            }
        }
    }

    /// Stops watching for orphans when no project asks any more, and counts anew where projects changed.
    fn watch_orphans(&self, before: &Config, now: &Config) {
        let asks = |config: &Config| config.projects.iter().any(|project| project.spec.orphaned_resources.is_some());
        if !asks(before) && !asks(now) || before.projects == now.projects {
            return;
        }
        if !asks(now) {
            self.forget_orphans();
        }
        super::orphans::look_again(self, now);
    }

    /// Looks at the applications that could not be compared for want of what is there now: settings, or their project.
    /// Argo CD lets them wait for their next periodic comparison.
    fn look_again(&self, before: &Config, now: &Config) {
        let names = |config: &Config| -> HashSet<String> {
            config.projects.iter().map(|project| project.metadata.name.clone()).collect()
        };
        let (is_repaired, old) = (before.settings.is_err() && now.settings.is_ok(), names(before));
        let new: HashSet<String> = names(now).into_iter().filter(|name| !old.contains(name)).collect();
        if !is_repaired && new.is_empty() {
            return;
        }
        for key in self.apps.keys() {
            let Ok(Some(stored)) = self.apps.get(&key) else { continue };
            if !is_repaired && !new.contains(stored.app.spec.project_name()) {
                continue;
            }
            if stored.app.metadata.deletion_timestamp.is_some() {
                self.queue.add_after(&key, None, Purpose::Again, BEFORE_DELETION);
            } else {
                self.queue.add(&key, Some(Level::Latest));
            }
        }
    }

    fn forget_orphans(&self) {
        self.orphans.stop();
        self.remotes.all().iter().for_each(|remote| remote.orphans.stop());
    }

    /// Puts a new verdict in force; everything is looked at when writing becomes allowed.
    pub(super) fn replace_verdict(&self, verdict: Verdict) {
        let before = self.verdict.replace(verdict.clone());
        if before == verdict {
            return;
        }
        match &verdict {
            Verdict::Write(_) => {
                if before.is_present() {
                    tracing::info!("Argo CD's application controller is gone: taking over Applications");
                } else {
                    tracing::info!("Argo CD's application controller is not present: working on Applications");
                }
                for key in self.apps.keys() {
                    // Changes seen while standing down were not acted on.
                    self.queue.add(&key, Some(Level::Recent));
                }
            }
            Verdict::StandDown { reason, .. } => tracing::info!(coexistence = reason, "Standing down"),
        }
    }
}

/// The application of an instance name (APP-234).
pub fn key_of_instance(ctx: &Context, instance: &str) -> AppKey {
    match instance.split_once('_') {
        Some((namespace, name)) => AppKey { namespace: namespace.to_owned(), name: name.to_owned() },
        None => AppKey { namespace: ctx.namespace.clone(), name: instance.to_owned() },
    }
}

/// The label that marks objects as settings is fixed; nothing else of the namespace is read.
pub const CMD_PARAMS: &str = "argocd-cmd-params-cm";

/// Whether a live change is the application's own object (APP-061).
pub fn is_own_object(key: &crate::api::ResourceKey, app: &AppKey) -> bool {
    key.group == names::GROUP && key.kind == "Application" && key.name == app.name && key.namespace == app.namespace
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: Value, now: Value, expect: Option<Level>) {
        let app = |extra: Value| {
            let mut app = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
                "metadata": {"name": "a", "namespace": "argocd"},
                "spec": {"project": "default", "source": {"repoURL": "https://git.example.com/a.git", "path": "."},
                         "destination": {"server": "https://kubernetes.default.svc", "namespace": "a"}}});
            json_patch::merge(&mut app, &extra);
            app
        };
        assert_eq!(level_of_change(app(before.clone()), &app(now.clone())), expect, "{before} {now}");
    }

    #[test]
    fn automation_turned_on_and_other_words_on_pruning_ask_for_a_refresh() {
        let automated = |heals: bool| json!({"spec": {"syncPolicy": {"automated": {"selfHeal": heals}}}});
        let noted = |name: &str, value: &str| json!({"metadata": {"annotations": {name: value}}});
        check(json!({}), automated(false), Some(Level::Latest));
        check(automated(false), automated(true), Some(Level::Latest));
        check(automated(true), automated(false), None);
        for name in ["litecd.io/prune-approved", "litecd.io/prune-budget"] {
            check(json!({}), noted(name, "1"), Some(Level::Latest));
            check(noted(name, "1"), noted(name, "2"), Some(Level::Latest));
            check(noted(name, "1"), json!({}), Some(Level::Latest));
            check(noted(name, "1"), noted(name, "1"), None);
        }
        check(json!({}), noted("example.com/note", "1"), None);
        check(json!({}), json!({"status": {"reconciledAt": "2026-01-02T03:04:05Z"}}), None);
    }
}
