//! The live store of one cluster: what is watched, what is kept, and who is told of a change.
//!
//! In:  feeds of the kinds in use; objects that litecd's own writes were answered with.
//! Out: live objects of an application, single objects by key, and [`Change`]s.
//! Invariant: an answer is given only for kinds whose list is complete; a write is visible at once, so that no
//! decision is made on a state older than the last write.
//! Source: APP-060 to APP-065, APP-079 (`controller/appcontroller.go` `handleObjectUpdated`).

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;
use tokio::sync::{mpsc, watch as signal};

use super::children::{Children, pod_images};
use super::kept::{Kept, Record};
use super::{Arrival, Feed, FeedEvent};
use crate::api::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey};

/// A change that an application should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A tracked object appeared, changed in a way that counts, or went away.
    Root {
        /// Instance name of the application.
        owner: String,
        /// Which object.
        key: ResourceKey,
    },
    /// Something below a tracked object changed.
    Below {
        /// Instance name of the application.
        owner: String,
    },
}

/// What the classifier says of an object.
#[derive(Debug, Clone)]
pub enum Seen {
    /// Tracked by the application of this instance name; `digest` covers what counts as a change.
    Ours {
        /// Instance name.
        owner: String,
        /// Digest of manifest and health.
        digest: u64,
    },
    /// Nobody's, or another installation's.
    Foreign,
}

/// Judges an object on arrival: whose it is, and what of it counts as a change.
pub type Classify = dyn Fn(&Value) -> Seen;

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

/// State of one kind's watch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Progress {
    Listing,
    Ready,
    Failed(String),
}

struct Kind {
    gvk: GroupVersionKind,
    kept: Kept,
    progress: signal::Sender<Progress>,
    /// Whether the kind is watched for its place below tracked objects.
    below: bool,
    task: Option<tokio::task::AbortHandle>,
}

struct Inner {
    kinds: HashMap<GroupKind, Kind>,
    children: Children,
    classify: Rc<Classify>,
    changes: mpsc::UnboundedSender<Change>,
}

/// The live store of one cluster. Clones share one store.
#[derive(Clone)]
pub struct Live {
    client: kube::Client,
    inner: Rc<RefCell<Inner>>,
}

impl Live {
    /// An empty store; nothing is watched until it is asked for.
    pub fn new(client: kube::Client, classify: Rc<Classify>, changes: mpsc::UnboundedSender<Change>) -> Self {
        let inner = Inner { kinds: HashMap::new(), children: Children::default(), classify, changes };
        Self { client, inner: Rc::new(RefCell::new(inner)) }
    }

    /// Starts watching a kind unless it is watched already; needs a running `LocalSet`.
    pub fn start(&self, gvk: &GroupVersionKind, plural: &str) {
        let mut inner = self.inner.borrow_mut();
        if inner.kinds.contains_key(&gvk.group_kind()) {
            return;
        }
        let below =
            matches!((gvk.group.as_str(), gvk.kind.as_str()), ("", "Pod") | ("apps", "ReplicaSet") | ("batch", "Job"));
        let feed = Feed::new(self.client.clone(), gvk, plural, None);
        let task = tokio::task::spawn_local(self.clone().follow(gvk.clone(), feed)).abort_handle();
        let kind = Kind {
            gvk: gvk.clone(),
            kept: Kept::default(),
            progress: signal::Sender::new(Progress::Listing),
            below,
            task: Some(task),
        };
        inner.kinds.insert(gvk.group_kind(), kind);
    }

    /// Whether a kind is watched.
    pub fn watches(&self, kind: &GroupKind) -> bool {
        self.inner.borrow().kinds.contains_key(kind)
    }

    /// Waits until a watched kind's list is complete; the error is the API server's text.
    pub async fn ready(&self, kind: &GroupKind) -> Result<(), String> {
        let receiver = self.inner.borrow().kinds.get(kind).map(|kind| kind.progress.subscribe());
        let Some(mut progress) = receiver else { return Ok(()) };
        let outcome = progress.wait_for(|state| *state != Progress::Listing).await;
        match outcome.as_deref() {
            Ok(Progress::Failed(text)) => Err(text.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(format!("the watch of {}/{} was stopped", kind.group, kind.kind)),
        }
    }

    /// Judges what arrives from now on by another classifier.
    pub fn classify_by(&self, classify: Rc<Classify>) {
        self.inner.borrow_mut().classify = classify;
    }

    /// Kinds that are watched.
    pub fn kinds(&self) -> Vec<GroupKind> {
        self.inner.borrow().kinds.keys().cloned().collect()
    }

    /// Stops everything and starts over under a new classifier, since what was dropped may be ours now.
    pub fn reclassify(&self, classify: Rc<Classify>, plural: impl Fn(&GroupVersionKind) -> Option<String>) {
        let kinds: Vec<GroupVersionKind> = {
            let mut inner = self.inner.borrow_mut();
            inner.classify = classify;
            let kinds = std::mem::take(&mut inner.kinds);
            kinds
                .into_values()
                .map(|kind| {
                    if let Some(task) = kind.task {
                        task.abort();
                    }
                    kind.gvk
                })
                .collect()
        };
        for gvk in kinds {
            if let Some(plural) = plural(&gvk) {
                self.start(&gvk, &plural);
            }
        }
    }

    /// Stops watching a kind, when the cluster no longer serves it.
    pub fn stop(&self, kind: &GroupKind) {
        if let Some(kind) = self.inner.borrow_mut().kinds.remove(kind)
            && let Some(task) = kind.task
        {
            task.abort();
        }
    }

    /// The objects that an application tracks, without those that another object owns.
    pub fn owned_by(&self, instance: &str) -> Vec<Value> {
        let inner = self.inner.borrow();
        let records = inner.kinds.values().flat_map(|kind| kind.kept.iter().map(|(_, record)| record));
        records
            .filter(|record| *record.owner == *instance)
            .filter_map(|record| serde_json::from_slice(&record.json).ok())
            .collect()
    }

    /// Instance names that own anything.
    pub fn owners(&self) -> BTreeSet<String> {
        let inner = self.inner.borrow();
        inner.kinds.values().flat_map(|kind| kind.kept.iter()).map(|(_, record)| record.owner.to_string()).collect()
    }

    /// What is known under a key.
    pub fn lookup(&self, key: &ResourceKey) -> Lookup {
        let inner = self.inner.borrow();
        let Some(kind) = inner.kinds.get(&key.group_kind()) else { return Lookup::Unwatched };
        if let Some(record) = kind.kept.get(&key.namespace, &key.name) {
            return serde_json::from_slice(&record.json).map_or(Lookup::Foreign, Lookup::Kept);
        }
        if kind.kept.is_foreign(&key.namespace, &key.name) { Lookup::Foreign } else { Lookup::Absent }
    }

    /// Takes in the answer to a write, so that the next decision sees it.
    pub fn written(&self, object: &Value) {
        let mut inner = self.inner.borrow_mut();
        if inner.kinds.contains_key(&object.group_kind()) {
            inner.seen(&object.group_kind(), object);
        }
    }

    /// Takes in that an object is gone.
    pub fn deleted(&self, key: &ResourceKey, uid: &str) {
        self.inner.borrow_mut().gone(&key.group_kind(), &key.namespace, &key.name, uid);
    }

    /// Images of the Pods among and below these objects, sorted.
    pub fn images(&self, roots: &[Value]) -> Vec<String> {
        let inner = self.inner.borrow();
        let mut images = BTreeSet::new();
        for root in roots {
            if root.kind() == "Pod" && root.group().is_empty() {
                images.extend(pod_images(root).map(str::to_owned));
            }
            inner.children.images_below(root.uid(), &mut images);
        }
        images.into_iter().collect()
    }

    /// Kinds watched and objects kept, for diagnostics: `(kinds, objects, bytes)`.
    pub fn size(&self) -> (usize, usize, usize) {
        let inner = self.inner.borrow();
        let (mut objects, mut bytes) = (0, 0);
        for (_, record) in inner.kinds.values().flat_map(|kind| kind.kept.iter()) {
            objects += 1;
            bytes += record.json.len();
        }
        (inner.kinds.len(), objects, bytes)
    }

    async fn follow(self, gvk: GroupVersionKind, mut feed: Feed) {
        let group_kind = gvk.group_kind();
        loop {
            let event = feed.next().await;
            let mut inner = self.inner.borrow_mut();
            if !inner.kinds.contains_key(&group_kind) {
                return;
            }
            inner.take(&gvk, event);
        }
    }
}

impl Inner {
    fn take(&mut self, gvk: &GroupVersionKind, event: FeedEvent) {
        let group_kind = gvk.group_kind();
        match event {
            FeedEvent::Listing => {
                if let Some(kind) = self.kinds.get_mut(&group_kind) {
                    kind.kept.begin_list();
                }
            }
            FeedEvent::Seen(arrival) => self.arrived(gvk, &arrival),
            FeedEvent::Listed => self.listed(&group_kind),
            FeedEvent::Gone(arrival) => {
                let object = arrival.parse(&gvk.api_version(), &gvk.kind);
                self.gone(&group_kind, arrival.namespace(), arrival.name(), object.uid());
            }
            FeedEvent::Failed(text) => self.failed(&group_kind, text),
        }
    }

    fn arrived(&mut self, gvk: &GroupVersionKind, arrival: &Arrival) {
        let object = arrival.parse(&gvk.api_version(), &gvk.kind);
        self.seen(&gvk.group_kind(), &object);
    }

    fn listed(&mut self, group_kind: &GroupKind) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let gone = kind.kept.end_list();
        kind.progress.send_replace(Progress::Ready);
        for (namespace, name, record) in gone {
            self.children.forget(&record.uid);
            self.tell(group_kind, (&namespace, &name), &record.owner);
        }
    }

    fn failed(&mut self, group_kind: &GroupKind, text: String) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        tracing::warn!(group = group_kind.group, kind = group_kind.kind, reason = text, "Failed to list or watch");
        // A watch that breaks later is repaired with what is known meanwhile; only a kind never listed has no answer.
        if *kind.progress.borrow() != Progress::Ready {
            kind.progress.send_replace(Progress::Failed(text));
        }
    }

    fn seen(&mut self, group_kind: &GroupKind, object: &Value) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        if kind.below && self.children.note(object) {
            self.tell_below(object.uid());
        }
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let (namespace, name) = (object.namespace(), object.name());
        let verdict = if object.has_owner() { Seen::Foreign } else { (self.classify)(object) };
        match verdict {
            Seen::Ours { owner, digest } => {
                let record = Record {
                    owner: owner.as_str().into(),
                    uid: object.uid().into(),
                    version: object.resource_version().parse().unwrap_or(0),
                    digest,
                    json: serde_json::to_vec(object).unwrap_or_default().into_boxed_slice(),
                };
                let Ok(before) = kind.kept.keep(namespace, name, record) else { return };
                if let Some(before) = &before
                    && *before.owner != *owner
                {
                    self.tell(group_kind, (namespace, name), &before.owner);
                }
                if before.is_none_or(|before| before.digest != digest || *before.owner != *owner) {
                    self.tell(group_kind, (namespace, name), &owner);
                }
            }
            Seen::Foreign => {
                if let Some(before) = kind.kept.note_foreign(namespace, name) {
                    self.tell(group_kind, (namespace, name), &before.owner);
                }
            }
        }
    }

    fn gone(&mut self, group_kind: &GroupKind, namespace: &str, name: &str, uid: &str) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let below = kind.below;
        if let Some(record) = kind.kept.forget(namespace, name, uid) {
            self.tell(group_kind, (namespace, name), &record.owner);
        }
        if below {
            self.tell_below(uid);
            self.children.forget(uid);
        }
    }

    /// Tells the application that tracks the top of an owner chain.
    fn tell_below(&self, uid: &str) {
        let root = self.children.root(uid);
        if root == uid {
            return;
        }
        let found = self.kinds.values().flat_map(|kind| kind.kept.iter()).find(|(_, record)| *record.uid == *root);
        if let Some((_, record)) = found {
            let _ = self.changes.send(Change::Below { owner: record.owner.to_string() });
        }
    }

    fn tell(&self, group_kind: &GroupKind, (namespace, name): (&str, &str), owner: &str) {
        let key = ResourceKey {
            group: group_kind.group.clone(),
            kind: group_kind.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        // The receiver lives as long as the controller; nobody listens during shutdown.
        let _ = self.changes.send(Change::Root { owner: owner.to_owned(), key });
    }
}
