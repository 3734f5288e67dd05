//! What is kept of the kinds of one cluster, and who is told of a change; it neither connects nor waits.
//!
//! In:  events of feeds; objects that litecd's own writes were answered with.
//! Out: kept objects, and [`Change`]s.
//! Invariant: a panic of users' Lua or jq in the classifier loses no tracked object.
//! Source: APP-060 to APP-065, APP-079 (`controller/appcontroller.go` `handleObjectUpdated`).

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use serde_json::Value;
use tokio::sync::{mpsc, watch as signal};

use super::FeedEvent;
use super::children::{Below, Children, Uid};
use super::kept::{Kept, Record, name_hash};
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

/// Judges an object on arrival.
pub trait Classify {
    /// Whose it is, and what of it counts as a change.
    fn classify(&self, object: &Value) -> Seen;

    /// Digest of what counts as a change, whoever the object belongs to.
    fn digest(&self, object: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        object.to_string().hash(&mut hasher);
        hasher.finish()
    }
}

impl<F: Fn(&Value) -> Seen> Classify for F {
    fn classify(&self, object: &Value) -> Seen {
        self(object)
    }
}

/// State of one kind's watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The list is not complete.
    Listing,
    /// The list is complete.
    Ready,
    /// There is no list; the text is the API server's.
    Failed(String),
}

/// One kind that is watched.
pub struct Kind {
    /// The version it is watched in.
    pub gvk: GroupVersionKind,
    /// Its name in URLs.
    pub plural: Box<str>,
    /// Its objects.
    pub kept: Kept,
    /// Namespaces it is watched in; empty for all.
    pub places: Rc<[String]>,
    /// How far its list is.
    pub progress: signal::Sender<Progress>,
    /// Its place below tracked objects, if it has one.
    below: Option<Below>,
    /// Uids seen of the list that runs, of a kind below tracked objects.
    relisted: Option<HashSet<Uid>>,
    /// Untracked objects that an application wants, by the hash of their names.
    pub followed: HashMap<u64, Followed>,
    /// What follows its feed.
    pub task: Option<Task>,
}

/// An application that wants an object which is not tracked, or not there.
pub struct Followed {
    /// Instance name.
    pub owner: Rc<str>,
    /// Digest of the object as it was seen last; `None` before that.
    pub digest: Option<u64>,
}

/// A task that ends with its kind.
pub struct Task(pub tokio::task::AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The kinds of one cluster.
pub struct Store {
    /// Watched kinds.
    pub kinds: HashMap<GroupKind, Kind>,
    /// What stands below kept objects.
    pub children: Children,
    /// Judges what arrives.
    pub classify: Rc<dyn Classify>,
    /// Whether the cluster is reached in another way by now, so that nothing here follows it any more.
    pub closed: bool,
    changes: mpsc::UnboundedSender<Change>,
}

impl Store {
    /// An empty store.
    pub fn new(classify: Rc<dyn Classify>, changes: mpsc::UnboundedSender<Change>) -> Self {
        Self { kinds: HashMap::new(), children: Children::default(), classify, closed: false, changes }
    }

    /// Makes room for a kind.
    pub fn open(&mut self, (gvk, plural): (&GroupVersionKind, &str), places: Rc<[String]>, task: Option<Task>) {
        let kind = Kind {
            gvk: gvk.clone(),
            plural: plural.into(),
            kept: Kept::default(),
            places,
            progress: signal::Sender::new(Progress::Listing),
            below: Below::of(&gvk.group_kind()),
            relisted: None,
            followed: HashMap::new(),
            task,
        };
        self.kinds.insert(gvk.group_kind(), kind);
    }

    /// Takes in an event of a kind's feed.
    pub fn take(&mut self, gvk: &GroupVersionKind, event: FeedEvent) {
        let group_kind = gvk.group_kind();
        match event {
            FeedEvent::Listing => {
                if let Some(kind) = self.kinds.get_mut(&group_kind) {
                    kind.kept.begin_list();
                    kind.relisted = kind.below.map(|_| HashSet::new());
                }
            }
            FeedEvent::Seen(arrival) => self.seen(&group_kind, &arrival.parse(&gvk.api_version(), &gvk.kind)),
            FeedEvent::Listed => self.listed(&group_kind),
            FeedEvent::Gone(arrival) => {
                let object = arrival.parse(&gvk.api_version(), &gvk.kind);
                self.gone(&group_kind, (arrival.namespace(), arrival.name()), object.uid());
            }
            FeedEvent::Failed(text) => self.failed(&group_kind, text),
        }
    }

    /// Takes in that nobody follows a kind at the moment.
    pub fn broken(&mut self, group_kind: &GroupKind, text: &str) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        tracing::error!(
            group = group_kind.group,
            kind = group_kind.kind,
            reason = text,
            "A watch ended; it is started anew"
        );
        kind.progress.send_replace(Progress::Failed(text.to_owned()));
    }

    fn listed(&mut self, group_kind: &GroupKind) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let gone = kind.kept.end_list();
        let unseen = match (kind.below, kind.relisted.take()) {
            (Some(below), Some(seen)) => self.children.unseen(below, &seen),
            _ => Vec::new(),
        };
        kind.progress.send_replace(Progress::Ready);
        for uid in unseen {
            self.tell_below(&uid);
            self.children.forget(&uid);
        }
        for (place, record) in gone {
            self.children.forget(&record.uid);
            self.tell(group_kind, (&place.0, &place.1), &record.owner);
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

    /// Takes in an object of a watched kind.
    pub fn seen(&mut self, group_kind: &GroupKind, object: &Value) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        if let Some(seen) = &mut kind.relisted {
            seen.insert(object.uid().into());
        }
        if kind.below.is_some_and(|below| self.children.note(below, object)) {
            self.tell_below(object.uid());
        }
        let verdict = if object.has_owner() { Seen::Foreign } else { self.judge(group_kind, object) };
        let place = name_hash(object.namespace(), object.name());
        let is_followed = matches!(verdict, Seen::Foreign)
            && self.kinds.get(group_kind).is_some_and(|kind| kind.followed.contains_key(&place));
        // A user's jq may panic; then every version counts.
        let digest = is_followed.then(|| catch_unwind(AssertUnwindSafe(|| self.classify.digest(object))).ok());
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let (namespace, name) = (object.namespace(), object.name());
        let version = object.resource_version().parse().unwrap_or(0);
        match verdict {
            Seen::Ours { owner, digest } => {
                let json = serde_json::to_vec(object).unwrap_or_default().into_boxed_slice();
                let record = Record { owner: owner.as_str().into(), uid: object.uid().into(), version, digest, json };
                let Ok(before) = kind.kept.keep(namespace, name, record) else { return };
                if let Some(before) = before.as_ref().filter(|before| *before.owner != *owner) {
                    self.tell(group_kind, (namespace, name), &before.owner);
                }
                if before.is_none_or(|before| before.digest != digest || *before.owner != *owner) {
                    self.tell(group_kind, (namespace, name), &owner);
                }
            }
            Seen::Foreign => {
                let before = kind.kept.note_foreign(namespace, name, (object.uid(), version));
                let follower = kind.followed.get_mut(&place).and_then(|followed| {
                    let digest = digest.flatten();
                    let news = digest.is_none() || std::mem::replace(&mut followed.digest, digest) != digest;
                    news.then(|| followed.owner.clone())
                });
                for owner in before.map(|before| before.owner).into_iter().chain(follower) {
                    self.tell(group_kind, (namespace, name), &owner);
                }
            }
        }
    }

    /// Asks the classifier; when it panics, the object stays with whom the last record names.
    fn judge(&self, group_kind: &GroupKind, object: &Value) -> Seen {
        let classify = self.classify.as_ref();
        if let Ok(seen) = catch_unwind(AssertUnwindSafe(|| classify.classify(object))) {
            return seen;
        }
        let (namespace, name) = (object.namespace(), object.name());
        tracing::error!(
            group = group_kind.group,
            kind = group_kind.kind,
            namespace,
            name,
            "Recovered from panic while an object was judged"
        );
        let known = self.kinds.get(group_kind).and_then(|kind| kind.kept.get(namespace, name));
        match known.filter(|known| *known.uid == *object.uid()) {
            Some(known) => Seen::Ours { owner: known.owner.to_string(), digest: 0 },
            None => Seen::Foreign,
        }
    }

    /// Takes in that an object is gone.
    pub fn gone(&mut self, group_kind: &GroupKind, (namespace, name): (&str, &str), uid: &str) {
        let Some(kind) = self.kinds.get_mut(group_kind) else { return };
        let is_below = kind.below.is_some();
        let follower = kind.followed.get(&name_hash(namespace, name)).map(|followed| followed.owner.clone());
        let record = kind.kept.forget(namespace, name, uid);
        for owner in record.map(|record| record.owner).into_iter().chain(follower) {
            self.tell(group_kind, (namespace, name), &owner);
        }
        if is_below {
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
        if let Some(record) = self.kinds.values().find_map(|kind| kind.kept.by_uid(root)) {
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
