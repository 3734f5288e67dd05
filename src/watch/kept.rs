//! The objects of one kind that are kept, and the names of those that are not.
//!
//! In:  objects already judged.
//! Out: bytes by namespace and name.
//! Invariant: an older version of an object never replaces a newer one, so a lagging watch cannot undo a write.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// A kept object.
#[derive(Debug, Clone)]
pub struct Record {
    /// Instance name of the application that tracks it.
    pub owner: Rc<str>,
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// `metadata.resourceVersion` as a number.
    pub version: u64,
    /// Digest of what counts as a change, and health code, as the classifier gave them.
    pub digest: u64,
    /// The whole object.
    pub json: Box<[u8]>,
}

/// Objects of one kind.
#[derive(Debug, Default)]
pub struct Kept {
    records: BTreeMap<(Box<str>, Box<str>), Record>,
    foreign: HashSet<u64>,
    /// Set while a list runs: what was seen in it.
    listing: Option<HashSet<u64>>,
    /// Uids of objects that litecd saw deleted, so that late events do not bring them back.
    buried: Vec<Box<str>>,
}

/// How many deleted uids are remembered per kind; late events arrive within moments.
const BURIED: usize = 64;

/// Hash under which a name is remembered.
pub fn name_hash(namespace: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (namespace, name).hash(&mut hasher);
    hasher.finish()
}

impl Kept {
    /// A list begins.
    pub fn begin_list(&mut self) {
        self.listing = Some(HashSet::new());
    }

    /// The list is complete: returns the kept objects that were not in it.
    pub fn end_list(&mut self) -> Vec<(Box<str>, Box<str>, Record)> {
        let Some(seen) = self.listing.take() else { return Vec::new() };
        self.foreign.retain(|hash| seen.contains(hash));
        let gone: Vec<_> = self
            .records
            .keys()
            .filter(|(namespace, name)| !seen.contains(&name_hash(namespace, name)))
            .cloned()
            .collect();
        gone.into_iter().filter_map(|key| self.records.remove(&key).map(|record| (key.0, key.1, record))).collect()
    }

    /// Keeps an object; returns the record it replaced, or `Err` when the given one is older than what is known.
    pub fn keep(&mut self, namespace: &str, name: &str, record: Record) -> Result<Option<Record>, ()> {
        let hash = name_hash(namespace, name);
        if let Some(seen) = &mut self.listing {
            seen.insert(hash);
        }
        if self.buried.contains(&record.uid) {
            return Err(());
        }
        let key = (Box::from(namespace), Box::from(name));
        if self.records.get(&key).is_some_and(|old| old.uid == record.uid && old.version > record.version) {
            return Err(());
        }
        self.foreign.remove(&hash);
        Ok(self.records.insert(key, record))
    }

    /// Remembers that a foreign object has this name; returns the record it replaced.
    pub fn note_foreign(&mut self, namespace: &str, name: &str) -> Option<Record> {
        let hash = name_hash(namespace, name);
        if let Some(seen) = &mut self.listing {
            seen.insert(hash);
        }
        self.foreign.insert(hash);
        self.records.remove(&(Box::from(namespace), Box::from(name)))
    }

    /// Forgets an object; its uid stays buried for a while.
    pub fn forget(&mut self, namespace: &str, name: &str, uid: &str) -> Option<Record> {
        self.foreign.remove(&name_hash(namespace, name));
        let key = (Box::from(namespace), Box::from(name));
        if self.records.get(&key).is_some_and(|record| !uid.is_empty() && *record.uid != *uid) {
            return None;
        }
        if !uid.is_empty() {
            if self.buried.len() == BURIED {
                self.buried.remove(0);
            }
            self.buried.push(uid.into());
        }
        self.records.remove(&key)
    }

    /// A kept object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Record> {
        self.records.get(&(Box::from(namespace), Box::from(name)))
    }

    /// Whether a foreign object has this name (or, very rarely, one whose hash is equal).
    pub fn is_foreign(&self, namespace: &str, name: &str) -> bool {
        self.foreign.contains(&name_hash(namespace, name))
    }

    /// All kept objects.
    pub fn iter(&self) -> impl Iterator<Item = (&(Box<str>, Box<str>), &Record)> {
        self.records.iter()
    }
}
