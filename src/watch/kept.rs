//! The objects of one kind that are kept, and the names of those that are not.
//!
//! In:  objects already judged.
//! Out: bytes by namespace and name.
//! Invariant: an older version of an object never replaces a newer one, tracked or not, so a lagging watch cannot undo
//! a write; every record stands in the indexes by owner and by uid, and nothing else does.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Namespace and name, shared by all indexes.
pub type Place = Rc<(Box<str>, Box<str>)>;

/// A kept object.
#[derive(Debug, Clone)]
pub struct Record {
    /// Instance name of the application that tracks it.
    pub owner: Rc<str>,
    /// `metadata.uid`.
    pub uid: Rc<str>,
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
    records: BTreeMap<Place, Record>,
    by_owner: BTreeMap<Rc<str>, BTreeSet<Place>>,
    by_uid: HashMap<Rc<str>, Place>,
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

fn place(namespace: &str, name: &str) -> (Box<str>, Box<str>) {
    (namespace.into(), name.into())
}

impl Kept {
    /// A list begins.
    pub fn begin_list(&mut self) {
        self.listing = Some(HashSet::new());
    }

    /// The list is complete: returns the kept objects that were not in it.
    pub fn end_list(&mut self) -> Vec<(Place, Record)> {
        let Some(seen) = self.listing.take() else { return Vec::new() };
        self.foreign.retain(|hash| seen.contains(hash));
        let gone: Vec<Place> =
            self.records.keys().filter(|place| !seen.contains(&name_hash(&place.0, &place.1))).cloned().collect();
        gone.into_iter().filter_map(|place| self.remove(&place).map(|record| (place, record))).collect()
    }

    /// Keeps an object; returns the record it replaced, or `Err` when the given one is older than what is known.
    pub fn keep(&mut self, namespace: &str, name: &str, record: Record) -> Result<Option<Record>, ()> {
        let place = place(namespace, name);
        if self.is_stale(&place, (&record.uid, record.version)) {
            return Err(());
        }
        self.foreign.remove(&name_hash(namespace, name));
        let before = self.remove(&place);
        self.insert(Rc::new(place), record);
        Ok(before)
    }

    /// Remembers that a foreign object has this name; returns the record it replaced. An older version than the known
    /// one changes nothing: litecd may have just adopted the object, and this event left before that.
    pub fn note_foreign(&mut self, namespace: &str, name: &str, (uid, version): (&str, u64)) -> Option<Record> {
        let place = place(namespace, name);
        if self.is_stale(&place, (uid, version)) {
            return None;
        }
        self.foreign.insert(name_hash(namespace, name));
        self.remove(&place)
    }

    /// Notes that an object was seen; says whether that sight is older than what is known.
    fn is_stale(&mut self, place: &(Box<str>, Box<str>), (uid, version): (&str, u64)) -> bool {
        if let Some(seen) = &mut self.listing {
            seen.insert(name_hash(&place.0, &place.1));
        }
        let is_buried = self.buried.iter().any(|buried| **buried == *uid);
        is_buried || self.records.get(place).is_some_and(|known| *known.uid == *uid && known.version > version)
    }

    /// Forgets an object; its uid stays buried for a while.
    pub fn forget(&mut self, namespace: &str, name: &str, uid: &str) -> Option<Record> {
        self.foreign.remove(&name_hash(namespace, name));
        let place = place(namespace, name);
        if self.records.get(&place).is_some_and(|record| !uid.is_empty() && *record.uid != *uid) {
            return None;
        }
        if !uid.is_empty() {
            if self.buried.len() == BURIED {
                self.buried.remove(0);
            }
            self.buried.push(uid.into());
        }
        self.remove(&place)
    }

    /// A kept object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Record> {
        self.records.get(&place(namespace, name))
    }

    /// The kept object of a uid.
    pub fn by_uid(&self, uid: &str) -> Option<&Record> {
        self.records.get(self.by_uid.get(uid)?)
    }

    /// Whether a foreign object has this name (or, very rarely, one whose hash is equal).
    pub fn is_foreign(&self, namespace: &str, name: &str) -> bool {
        self.foreign.contains(&name_hash(namespace, name))
    }

    /// Kept objects of one owner, sorted by namespace and name.
    pub fn of_owner(&self, owner: &str) -> impl Iterator<Item = &Record> {
        self.by_owner.get(owner).into_iter().flatten().filter_map(|place| self.records.get(place))
    }

    /// Instance names that own anything.
    pub fn owners(&self) -> impl Iterator<Item = &Rc<str>> {
        self.by_owner.keys()
    }

    /// All kept objects.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    fn insert(&mut self, place: Place, mut record: Record) {
        // One allocation per owner, not one per object.
        if let Some((owner, _)) = self.by_owner.get_key_value(&record.owner) {
            record.owner = owner.clone();
        }
        self.by_owner.entry(record.owner.clone()).or_default().insert(place.clone());
        if !record.uid.is_empty() {
            self.by_uid.insert(record.uid.clone(), place.clone());
        }
        self.records.insert(place, record);
    }

    fn remove(&mut self, place: &(Box<str>, Box<str>)) -> Option<Record> {
        let record = self.records.remove(place)?;
        if let Some(places) = self.by_owner.get_mut(&record.owner) {
            places.remove(place);
            if places.is_empty() {
                self.by_owner.remove(&record.owner);
            }
        }
        self.by_uid.remove(&record.uid);
        Some(record)
    }
}
