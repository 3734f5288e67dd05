//! Who owns whom below the managed objects, and which images the Pods among them run.
//!
//! In:  objects with owner references.
//! Out: the images of all Pods below a set of roots.
//! Source: APP-246 (`controller/cache/info.go`): only Pods count, init and normal containers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::api::{GroupKind, ObjectExt};
use crate::status::pod_images;

/// A uid as the API server writes it.
pub type Uid = Box<str>;

/// Kinds that stand below managed objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// `v1` Pod.
    Pod,
    /// `apps` ReplicaSet.
    ReplicaSet,
    /// `batch` Job.
    Job,
}

impl Below {
    /// The kind, when it is one of these.
    pub fn of(kind: &GroupKind) -> Option<Self> {
        match (kind.group.as_str(), kind.kind.as_str()) {
            ("", "Pod") => Some(Self::Pod),
            ("apps", "ReplicaSet") => Some(Self::ReplicaSet),
            ("batch", "Job") => Some(Self::Job),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Child {
    kind: Below,
    owner: Uid,
    images: Box<[Rc<str>]>,
}

/// Owned objects by uid.
#[derive(Debug, Default)]
pub struct Children {
    by_uid: HashMap<Uid, Child>,
    by_owner: HashMap<Uid, Vec<Uid>>,
    images: BTreeSet<Rc<str>>,
}

impl Children {
    /// Notes an owned object; returns whether anything that shows changed.
    pub fn note(&mut self, kind: Below, object: &Value) -> bool {
        let Some(owner) = controller_uid(object) else { return false };
        let images: Box<[Rc<str>]> = if kind == Below::Pod {
            pod_images(object).iter().map(|image| self.intern(image)).collect()
        } else {
            Box::default()
        };
        let uid: Uid = object.uid().into();
        if let Some(known) = self.by_uid.get(&uid) {
            if known.images == images && *known.owner == *owner {
                return false;
            }
            self.forget(&uid);
        }
        self.by_owner.entry(owner.into()).or_default().push(uid.clone());
        self.by_uid.insert(uid, Child { kind, owner: owner.into(), images });
        true
    }

    /// Forgets an object; returns whether it was known.
    pub fn forget(&mut self, uid: &str) -> bool {
        let Some(child) = self.by_uid.remove(uid) else { return false };
        if let Some(siblings) = self.by_owner.get_mut(&child.owner) {
            siblings.retain(|sibling| **sibling != *uid);
            if siblings.is_empty() {
                self.by_owner.remove(&child.owner);
            }
        }
        true
    }

    /// The objects of a kind that a complete list did not hold.
    pub fn unseen(&self, kind: Below, seen: &HashSet<Uid>) -> Vec<Uid> {
        let known = self.by_uid.iter().filter(|(uid, child)| child.kind == kind && !seen.contains(*uid));
        known.map(|(uid, _)| uid.clone()).collect()
    }

    /// The uid at the top of the chain of owners.
    pub fn root<'a>(&'a self, uid: &'a str) -> &'a str {
        let mut top = uid;
        // Owner references can form a loop; a real chain is a handful long.
        for _ in 0..16 {
            match self.by_uid.get(top) {
                Some(child) => top = &child.owner,
                None => break,
            }
        }
        top
    }

    /// Collects the images of all Pods below `uid`.
    pub fn images_below(&self, uid: &str, into: &mut BTreeSet<String>) {
        let mut todo: Vec<(&str, u8)> = vec![(uid, 0)];
        while let Some((uid, depth)) = todo.pop() {
            for child in self.by_owner.get(uid).into_iter().flatten() {
                if let Some(known) = self.by_uid.get(child) {
                    into.extend(known.images.iter().map(|image| image.to_string()));
                }
                if depth < 16 {
                    todo.push((child, depth + 1));
                }
            }
        }
    }

    fn intern(&mut self, image: &str) -> Rc<str> {
        if let Some(known) = self.images.get(image) {
            return known.clone();
        }
        let image: Rc<str> = image.into();
        self.images.insert(image.clone());
        image
    }
}

/// The uid of the first owner.
fn controller_uid(object: &Value) -> Option<&str> {
    object.metadata()?.get("ownerReferences")?.as_array()?.first()?.get("uid")?.as_str()
}
