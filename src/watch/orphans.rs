//! Watches the metadata of everything namespaced in one cluster, for projects that monitor orphaned resources.
//!
//! In:  the namespaces that are monitored, the kinds of the cluster.
//! Out: counts of orphans; applications told when a count may have changed.
//! Invariant: nothing is watched until a project asks for it, and nothing outside the monitored namespaces is kept.
//! Source: APP-060, APP-253 (`controller/appcontroller.go` `handleObjectUpdated`).

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::{Rc, Weak};
use std::time::Duration;

use futures::StreamExt;
use kube::runtime::watcher::{Error, Event};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch as signal};
use tokio::time::timeout;

use super::feed::{self, Metadata};
use super::store::{Change, Task};
use super::strays::{Census, Stray, Strays};
use crate::api::{GroupKind, GroupVersionKind};

/// How long a count waits for the first lists.
const LIST_DEADLINE: Duration = Duration::from_secs(60);

/// Tells whose an object is, from its labels and annotations.
pub type Whose = dyn Fn(&Value) -> Option<String>;

/// The orphans of one cluster; clones share them.
#[derive(Clone)]
pub struct Orphans {
    client: kube::Client,
    inner: Rc<RefCell<Inner>>,
}

struct Inner {
    namespaces: BTreeSet<String>,
    /// Applications to tell, by namespace.
    listeners: HashMap<String, BTreeSet<String>>,
    kinds: HashMap<GroupKind, Kind>,
    strays: Strays,
    whose: Rc<Whose>,
    changes: mpsc::UnboundedSender<Change>,
}

struct Kind {
    kind: Rc<GroupKind>,
    /// What was seen of the list that runs.
    listing: Option<HashSet<(String, String)>>,
    /// Namespaces that changed while it ran.
    changed: HashSet<String>,
    /// Whether there is an answer to the first list, be it a refusal.
    listed: signal::Sender<bool>,
    _task: Option<Task>,
}

/// What to watch.
pub struct Wanted<'a> {
    /// All namespaces that are monitored in this cluster.
    pub namespaces: BTreeSet<String>,
    /// Namespaced kinds that can be listed, with their plural names.
    pub kinds: &'a [(GroupVersionKind, String)],
    /// Tells whose an object is.
    pub whose: Rc<Whose>,
}

impl Orphans {
    /// Watches nothing yet.
    pub fn new(client: kube::Client, changes: mpsc::UnboundedSender<Change>) -> Self {
        let inner = Inner {
            namespaces: BTreeSet::new(),
            listeners: HashMap::new(),
            kinds: HashMap::new(),
            strays: Strays::default(),
            whose: Rc::new(|_| None),
            changes,
        };
        Self { client, inner: Rc::new(RefCell::new(inner)) }
    }

    /// Whether a namespace is monitored.
    pub fn monitors(&self, namespace: &str) -> bool {
        self.inner.borrow().namespaces.contains(namespace)
    }

    /// Makes sure that all that is wanted is watched; needs a running `LocalSet`. A new namespace starts all lists
    /// over, since what was not monitored was not kept.
    pub fn watch(&self, wanted: Wanted<'_>) {
        let mut inner = self.inner.borrow_mut();
        let grows = !wanted.namespaces.is_subset(&inner.namespaces);
        inner.namespaces.extend(wanted.namespaces);
        inner.whose = wanted.whose;
        let served: HashSet<GroupKind> = wanted.kinds.iter().map(|(gvk, _)| gvk.group_kind()).collect();
        let gone: Vec<GroupKind> = inner.kinds.keys().filter(|kind| !served.contains(*kind)).cloned().collect();
        for kind in gone {
            inner.kinds.remove(&kind);
            inner.strays.retain(&kind, |_, _| false);
        }
        for (gvk, plural) in wanted.kinds {
            let kind = gvk.group_kind();
            if grows || !inner.kinds.contains_key(&kind) {
                let follow = follow(Rc::downgrade(&self.inner), self.client.clone(), (gvk.clone(), plural.clone()));
                let task = Task(tokio::task::spawn_local(follow).abort_handle());
                inner.open(kind, Some(task));
            }
        }
    }

    /// Waits until all lists have an answer.
    pub async fn ready(&self) -> Result<(), String> {
        let next = || {
            let inner = self.inner.borrow();
            inner.kinds.values().map(|kind| kind.listed.subscribe()).find(|listed| !*listed.borrow())
        };
        let all = async {
            // A list that was started over meanwhile ends its signal unanswered; then its successor is waited for.
            while let Some(mut listed) = next() {
                let _ = listed.wait_for(|listed| *listed).await;
            }
        };
        let late =
            |_| format!("the metadata of all objects is not listed yet after {} seconds", LIST_DEADLINE.as_secs());
        timeout(LIST_DEADLINE, all).await.map_err(late)
    }

    /// Counts orphans, and tells `instance` from now on when the count may have changed.
    pub fn count(&self, instance: &str, census: &Census<'_>) -> usize {
        let mut inner = self.inner.borrow_mut();
        inner.listeners.entry(census.namespace.to_owned()).or_default().insert(instance.to_owned());
        inner.strays.count(census)
    }

    /// Forgets everything.
    pub fn stop(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.kinds.clear();
        inner.strays = Strays::default();
        inner.namespaces.clear();
        inner.listeners.clear();
    }
}

impl Inner {
    fn open(&mut self, kind: GroupKind, task: Option<Task>) {
        let fresh = Kind {
            kind: Rc::new(kind.clone()),
            listing: None,
            changed: HashSet::new(),
            listed: signal::Sender::new(false),
            _task: task,
        };
        self.kinds.insert(kind, fresh);
    }

    fn take(&mut self, kind: &GroupKind, event: Event<Metadata>) {
        match event {
            Event::Init => {
                if let Some(kind) = self.kinds.get_mut(kind) {
                    kind.listing = Some(HashSet::new());
                }
            }
            Event::InitApply(object) | Event::Apply(object) => self.seen(kind, &object),
            Event::InitDone => self.listed(kind),
            Event::Delete(object) => {
                let (namespace, name) = place(&object);
                let Some(known) = self.kinds.get(kind).map(|kind| kind.kind.clone()) else { return };
                if self.strays.remove(&known, (namespace, name)) {
                    self.tell(namespace);
                }
            }
        }
    }

    fn seen(&mut self, kind: &GroupKind, object: &Metadata) {
        let (namespace, name) = place(object);
        if !self.namespaces.contains(namespace) {
            return;
        }
        let stray = stray(kind, object, self.whose.as_ref());
        let Some(known) = self.kinds.get_mut(kind) else { return };
        let changed = self.strays.put(&known.kind, (namespace, name), stray);
        match &mut known.listing {
            Some(seen) => {
                seen.insert((namespace.to_owned(), name.to_owned()));
                if changed {
                    known.changed.insert(namespace.to_owned());
                }
            }
            None if changed => self.tell(namespace),
            None => {}
        }
    }

    fn listed(&mut self, kind: &GroupKind) {
        let Some(known) = self.kinds.get_mut(kind) else { return };
        let seen = known.listing.take().unwrap_or_default();
        let mut changed = std::mem::take(&mut known.changed);
        let keep = |namespace: &str, name: &str| seen.contains(&(namespace.to_owned(), name.to_owned()));
        changed.extend(self.strays.retain(kind, keep));
        known.listed.send_replace(true);
        for namespace in changed {
            self.tell(&namespace);
        }
    }

    /// A kind that may not be listed is left out of the count; the watch goes on trying.
    fn failed(&mut self, kind: &GroupKind, error: &Error) {
        let Some(known) = self.kinds.get(kind) else { return };
        if !known.listed.send_replace(true) {
            tracing::warn!(group = kind.group, kind = kind.kind, reason = %error, "Orphans of a kind cannot be counted");
        }
    }

    fn tell(&self, namespace: &str) {
        for owner in self.listeners.get(namespace).into_iter().flatten() {
            // The receiver lives as long as the controller; nobody listens during shutdown.
            let _ = self.changes.send(Change::Below { owner: owner.clone() });
        }
    }
}

async fn follow(inner: Weak<RefCell<Inner>>, client: kube::Client, (gvk, plural): (GroupVersionKind, String)) {
    let kind = gvk.group_kind();
    let mut events = std::pin::pin!(feed::metadata(client, &gvk, &plural));
    while let Some(event) = events.next().await {
        let Some(inner) = inner.upgrade() else { return };
        match event {
            Ok(event) => inner.borrow_mut().take(&kind, event),
            Err(error) => inner.borrow_mut().failed(&kind, &error),
        }
    }
}

fn place(object: &Metadata) -> (&str, &str) {
    let metadata = &object.metadata;
    (metadata.namespace.as_deref().unwrap_or_default(), metadata.name.as_deref().unwrap_or_default())
}

fn stray(kind: &GroupKind, object: &Metadata, whose: &Whose) -> Stray {
    let metadata = &object.metadata;
    let annotation = |name: &str| metadata.annotations.as_ref().and_then(|annotations| annotations.get(name));
    let mut owners: Vec<Box<str>> =
        metadata.owner_references.iter().flatten().map(|owner| owner.uid.as_str().into()).collect();
    let mut inferred = None;
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Endpoints") if owners.is_empty() => {
            inferred = Some((GroupKind::new("", "Service"), metadata.name.clone().unwrap_or_default()));
        }
        // The token of a service account; its type is not part of the metadata, but nothing else is annotated so.
        ("", "Secret") if annotation("kubernetes.io/service-account.name").is_some() => {
            owners.extend(annotation("kubernetes.io/service-account.uid").map(|uid| uid.as_str().into()));
        }
        ("operators.coreos.com", "ClusterServiceVersion") => {
            let group = annotation("olm.operatorGroup").filter(|name| !name.is_empty());
            inferred = group.map(|name| (GroupKind::new("operators.coreos.com", "OperatorGroup"), name.clone()));
        }
        _ => {}
    }
    let api_version = if kind.group.is_empty() { "v1".to_owned() } else { format!("{}/v1", kind.group) };
    let marks = json!({
        "apiVersion": api_version,
        "kind": kind.kind,
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
        },
    });
    Stray {
        uid: metadata.uid.as_deref().unwrap_or_default().into(),
        owners: owners.into(),
        inferred: inferred.map(Box::new),
        instance: whose(&marks).map(Into::into),
    }
}
