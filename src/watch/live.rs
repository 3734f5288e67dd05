//! The live store of one cluster, as the rest of litecd uses it: what is watched, and what is known.
//!
//! In:  feeds of the kinds in use; objects that litecd's own writes were answered with.
//! Out: live objects of an application, single objects by key, and [`Change`]s.
//! Invariant: an answer is given only for kinds whose list is complete; a write is visible at once, so that no
//! decision is made on a state older than the last write.
//! Source: APP-060 to APP-065, APP-079 (`controller/cache/cache.go`, `gitops-engine/pkg/cache/cluster.go`).

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::panic::AssertUnwindSafe;
use std::rc::{Rc, Weak};
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Feed;
use super::kept::name_hash;
use super::store::{Change, Classify, Followed, Progress, Store, Task};
use crate::api::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey};
use crate::status::pod_images;

/// How long a decision waits for a kind's first list.
const LIST_DEADLINE: Duration = Duration::from_secs(60);

/// Pause before a watch that ended is started anew.
const RESTART_DELAY: Duration = Duration::from_secs(5);

/// What the store knows under a key.
#[derive(Debug)]
pub enum Lookup {
    /// The whole object.
    Kept(Value),
    /// An object that is not tracked; read it from the API server when it matters.
    Foreign,
    /// No such object.
    Absent,
    /// The kind is not watched.
    Unwatched,
}

/// The live store of one cluster. Clones share one store.
#[derive(Clone)]
pub struct Live {
    client: kube::Client,
    pub(super) store: Rc<RefCell<Store>>,
}

impl Live {
    /// An empty store; nothing is watched until it is asked for.
    pub fn new(client: kube::Client, classify: Rc<dyn Classify>, changes: mpsc::UnboundedSender<Change>) -> Self {
        Self { client, store: Rc::new(RefCell::new(Store::new(classify, changes))) }
    }

    /// Starts watching a kind unless it is watched already or the store is closed; needs a running `LocalSet`. `places`
    /// are the namespaces to look at, empty for all.
    pub fn start(&self, gvk: &GroupVersionKind, plural: &str, places: &[String]) {
        let mut store = self.store.borrow_mut();
        if store.closed || store.kinds.contains_key(&gvk.group_kind()) {
            return;
        }
        let places: Rc<[String]> = places.into();
        store.open((gvk, plural), places.clone(), Some(self.follow(gvk, plural, places)));
    }

    fn follow(&self, gvk: &GroupVersionKind, plural: &str, places: Rc<[String]>) -> Task {
        let watch = Watch { client: self.client.clone(), gvk: gvk.clone(), plural: plural.to_owned(), places };
        let task = tokio::task::spawn_local(watch.supervise(Rc::downgrade(&self.store)));
        Task(task.abort_handle())
    }

    /// Whether a kind is watched.
    pub fn watches(&self, kind: &GroupKind) -> bool {
        self.store.borrow().kinds.contains_key(kind)
    }

    /// Waits until a watched kind's list is complete, though not for ever; the error is the API server's text, or says
    /// which kind is not listed yet.
    pub async fn ready(&self, kind: &GroupKind) -> Result<(), String> {
        self.ready_within(kind, LIST_DEADLINE).await
    }

    pub(super) async fn ready_within(&self, kind: &GroupKind, deadline: Duration) -> Result<(), String> {
        let receiver = {
            let store = self.store.borrow();
            if store.closed {
                return Err("the connection to the cluster was replaced".to_owned());
            }
            store.kinds.get(kind).map(|kind| kind.progress.subscribe())
        };
        let Some(mut progress) = receiver else { return Ok(()) };
        let outcome = timeout(deadline, progress.wait_for(|state| *state != Progress::Listing)).await;
        let name = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
        match outcome.as_ref().map(|listed| listed.as_deref()) {
            Ok(Ok(Progress::Failed(text))) => Err(text.clone()),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(format!("the watch of {name} was stopped")),
            Err(_) => Err(format!("{name} is not listed yet after {} seconds", deadline.as_secs())),
        }
    }

    /// Judges what arrives from now on by another classifier.
    pub fn classify_by(&self, classify: Rc<dyn Classify>) {
        self.store.borrow_mut().classify = classify;
    }

    /// Kinds that are watched.
    pub fn kinds(&self) -> Vec<GroupKind> {
        self.store.borrow().kinds.keys().cloned().collect()
    }

    /// Lists everything anew under a new classifier, since what was dropped may be ours now. What is kept stays until
    /// the new list is complete, so that no decision takes a cluster that is being read for an empty one.
    pub fn reclassify(&self, classify: Rc<dyn Classify>) {
        let mut store = self.store.borrow_mut();
        store.classify = classify;
        if store.closed {
            return;
        }
        for kind in store.kinds.values_mut() {
            kind.progress.send_replace(Progress::Listing);
            kind.task = Some(self.follow(&kind.gvk, &kind.plural, kind.places.clone()));
        }
    }

    /// Tells an application of changes to an object that it wants and that is not tracked, or not there. `seen` is what
    /// was read of it.
    pub fn want(&self, instance: &str, key: &ResourceKey, seen: Option<&Value>) {
        let mut store = self.store.borrow_mut();
        let digest = seen.map(|object| store.classify.digest(object));
        let Some(kind) = store.kinds.get_mut(&key.group_kind()) else { return };
        let place = name_hash(&key.namespace, &key.name);
        match kind.followed.get_mut(&place).filter(|followed| *followed.owner == *instance) {
            Some(followed) => followed.digest = digest.or(followed.digest),
            None => {
                kind.followed.insert(place, Followed { owner: instance.into(), digest });
            }
        }
    }

    /// Forgets what an application wanted before and does not want any more.
    pub fn want_only(&self, instance: &str, keys: &HashSet<ResourceKey>) {
        let wanted: HashSet<u64> = keys.iter().map(|key| name_hash(&key.namespace, &key.name)).collect();
        for kind in self.store.borrow_mut().kinds.values_mut() {
            kind.followed.retain(|place, followed| *followed.owner != *instance || wanted.contains(place));
        }
    }

    /// Stops watching a kind, when the cluster no longer serves it.
    pub fn stop(&self, kind: &GroupKind) {
        self.store.borrow_mut().kinds.remove(kind);
    }

    /// Stops all watches for good, when the cluster is reached in another way from now on. What is kept stays, so that
    /// a reconcile that is under way never takes a closed store for an empty cluster.
    pub fn close(&self) {
        let mut store = self.store.borrow_mut();
        store.closed = true;
        for kind in store.kinds.values_mut() {
            kind.task = None;
            kind.progress.send_replace(Progress::Failed("the connection to the cluster was replaced".to_owned()));
        }
    }

    /// The objects that an application tracks, without those that another object owns.
    pub fn owned_by(&self, instance: &str) -> Vec<Value> {
        let store = self.store.borrow();
        let records = store.kinds.values().flat_map(|kind| kind.kept.of_owner(instance));
        records.filter_map(|record| serde_json::from_slice(&record.json).ok()).collect()
    }

    /// Instance names that own anything.
    pub fn owners(&self) -> BTreeSet<String> {
        let store = self.store.borrow();
        store.kinds.values().flat_map(|kind| kind.kept.owners()).map(|owner| owner.to_string()).collect()
    }

    /// What is known under a key.
    pub fn lookup(&self, key: &ResourceKey) -> Lookup {
        let store = self.store.borrow();
        let Some(kind) = store.kinds.get(&key.group_kind()) else { return Lookup::Unwatched };
        if let Some(record) = kind.kept.get(&key.namespace, &key.name) {
            return serde_json::from_slice(&record.json).map_or(Lookup::Foreign, Lookup::Kept);
        }
        if kind.kept.is_foreign(&key.namespace, &key.name) { Lookup::Foreign } else { Lookup::Absent }
    }

    /// Takes in the answer to a write, so that the next decision sees it.
    pub fn written(&self, object: &Value) {
        self.store.borrow_mut().seen(&object.group_kind(), object);
    }

    /// Takes in that an object is gone.
    pub fn deleted(&self, key: &ResourceKey, uid: &str) {
        self.store.borrow_mut().gone(&key.group_kind(), (&key.namespace, &key.name), uid);
    }

    /// Images of the Pods among and below these objects, sorted.
    pub fn images(&self, roots: &[Value]) -> Vec<String> {
        let store = self.store.borrow();
        let mut images = BTreeSet::new();
        for root in roots {
            if root.kind() == "Pod" && root.group().is_empty() {
                images.extend(pod_images(root));
            }
            store.children.images_below(root.uid(), &mut images);
        }
        images.into_iter().collect()
    }

    /// Kinds watched and objects kept, for diagnostics: `(kinds, objects, bytes)`.
    pub fn size(&self) -> (usize, usize, usize) {
        let store = self.store.borrow();
        let (mut objects, mut bytes) = (0, 0);
        for record in store.kinds.values().flat_map(|kind| kind.kept.records()) {
            objects += 1;
            bytes += record.json.len();
        }
        (store.kinds.len(), objects, bytes)
    }
}

/// What a task follows; it holds the store weakly, so that a store nobody uses goes away with its tasks.
struct Watch {
    client: kube::Client,
    gvk: GroupVersionKind,
    plural: String,
    places: Rc<[String]>,
}

impl Watch {
    /// Follows the kind for as long as it is watched, whatever happens to a single attempt.
    async fn supervise(self, store: Weak<RefCell<Store>>) {
        let attempt = || {
            let feed = Feed::of_places(&self.client, &self.gvk, &self.plural, &self.places);
            follow(store.clone(), self.gvk.clone(), feed)
        };
        supervise((&store, &self.gvk), attempt, RESTART_DELAY).await;
    }
}

async fn follow(store: Weak<RefCell<Store>>, gvk: GroupVersionKind, mut feed: Feed) {
    loop {
        let event = feed.next().await;
        let Some(store) = store.upgrade() else { return };
        store.borrow_mut().take(&gvk, event);
    }
}

/// Makes attempts until the kind is no longer watched, and says meanwhile that it has no list.
pub(super) async fn supervise<F: Future<Output = ()>>(
    (store, gvk): (&Weak<RefCell<Store>>, &GroupVersionKind),
    mut attempt: impl FnMut() -> F,
    delay: Duration,
) {
    let kind = gvk.group_kind();
    loop {
        let outcome = AssertUnwindSafe(attempt()).catch_unwind().await;
        let Some(store) = store.upgrade().filter(|store| store.borrow().kinds.contains_key(&kind)) else { return };
        let text = if outcome.is_err() { "the watch panicked" } else { "the watch ended" };
        store.borrow_mut().broken(&kind, text);
        drop(store);
        sleep(delay).await;
    }
}
