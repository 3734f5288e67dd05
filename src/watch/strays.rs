//! Thin records of all objects in monitored namespaces, to count those that no application owns.
//!
//! In:  metadata of objects.
//! Out: how many objects of a namespace belong to nobody, descendants included.
//! Invariant: no manifest is kept: a record is a name, a uid, the uids of the owners, and whose the object is.
//! Source: APP-253 to APP-255 (`controller/appcontroller.go` `getResourceTree`, `gitops-engine/pkg/cache/references.go`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::api::{GroupKind, ResourceKey};

/// An object's metadata, reduced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stray {
    /// Its uid.
    pub uid: Box<str>,
    /// Uids of its owners.
    pub owners: Box<[Box<str>]>,
    /// An owner that Kubernetes does not write down, by kind and name.
    pub inferred: Option<Box<(GroupKind, String)>>,
    /// Instance name of the application that tracks it.
    pub instance: Option<Box<str>>,
}

type Place = (Rc<GroupKind>, Box<str>);
type Namespace = BTreeMap<Place, Stray>;

/// Records by namespace.
#[derive(Debug, Default)]
pub struct Strays {
    namespaces: HashMap<String, Namespace>,
}

/// What an application says of the objects in its namespace.
pub struct Census<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// Whether the application's comparison holds the object.
    pub holds: &'a dyn Fn(&ResourceKey) -> bool,
    /// Whether the project leaves the object out; asked for objects without owners.
    pub excludes: &'a dyn Fn(&ResourceKey) -> bool,
    /// Whether the project permits the object; asked for descendants too.
    pub permits: &'a dyn Fn(&ResourceKey) -> bool,
    /// Whether an application of this instance name exists.
    pub exists: &'a dyn Fn(&str) -> bool,
}

impl Strays {
    /// Takes an object in; whether anything changed.
    pub fn put(&mut self, kind: &Rc<GroupKind>, (namespace, name): (&str, &str), stray: Stray) -> bool {
        let objects = self.namespaces.entry(namespace.to_owned()).or_default();
        let place = (kind.clone(), name.into());
        if objects.get(&place) == Some(&stray) {
            return false;
        }
        objects.insert(place, stray);
        true
    }

    /// Forgets an object; whether it was known.
    pub fn remove(&mut self, kind: &Rc<GroupKind>, (namespace, name): (&str, &str)) -> bool {
        let Some(objects) = self.namespaces.get_mut(namespace) else { return false };
        let known = objects.remove(&(kind.clone(), name.into())).is_some();
        if objects.is_empty() {
            self.namespaces.remove(namespace);
        }
        known
    }

    /// Forgets the objects of a kind that `keep` does not name; returns the namespaces they were in.
    pub fn retain(&mut self, kind: &GroupKind, keep: impl Fn(&str, &str) -> bool) -> HashSet<String> {
        let mut changed = HashSet::new();
        for (namespace, objects) in &mut self.namespaces {
            let before = objects.len();
            objects.retain(|(of, name), _| **of != *kind || keep(namespace, name));
            if objects.len() != before {
                changed.insert(namespace.clone());
            }
        }
        self.namespaces.retain(|_, objects| !objects.is_empty());
        changed
    }

    /// How many objects of the namespace belong to nobody: those without owners, and what is below them.
    pub fn count(&self, census: &Census<'_>) -> usize {
        let Some(objects) = self.namespaces.get(census.namespace) else { return 0 };
        let family = Family::of(objects);
        let mut seen = HashSet::new();
        let mut todo: Vec<&Place> = objects
            .iter()
            .filter(|(place, stray)| family.parents(place, stray).next().is_none() && stray.owners.is_empty())
            .map(|(place, _)| place)
            .filter(|place| {
                let key = key(census.namespace, place);
                !(census.holds)(&key) && !(census.excludes)(&key)
            })
            .collect();
        let mut count = 0;
        while let Some(place) = todo.pop() {
            let belongs = family.instance(place).is_some_and(|instance| (census.exists)(instance));
            if !seen.insert(place) || belongs || !(census.permits)(&key(census.namespace, place)) {
                continue;
            }
            count += 1;
            todo.extend(family.children(place));
        }
        count
    }
}

fn key(namespace: &str, (kind, name): &Place) -> ResourceKey {
    ResourceKey {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_string(),
    }
}

/// Who owns whom in one namespace.
struct Family<'a> {
    objects: &'a Namespace,
    by_uid: HashMap<&'a str, &'a Place>,
    children: HashMap<&'a Place, Vec<&'a Place>>,
}

impl<'a> Family<'a> {
    fn of(objects: &'a Namespace) -> Self {
        let by_uid = objects.iter().map(|(place, stray)| (&*stray.uid, place)).collect();
        let mut family = Self { objects, by_uid, children: HashMap::new() };
        for (place, stray) in objects {
            let parents: Vec<&Place> = family.parents(place, stray).collect();
            for parent in parents {
                family.children.entry(parent).or_default().push(place);
            }
        }
        family
    }

    fn parents(&self, place: &'a Place, stray: &'a Stray) -> impl Iterator<Item = &'a Place> {
        let written = stray.owners.iter().filter_map(|uid| self.by_uid.get(&**uid).copied());
        let inferred = stray.inferred.as_deref().and_then(|(kind, name)| self.find(kind, name));
        written.chain(inferred).chain(self.stateful_set(place, stray)).collect::<Vec<_>>().into_iter()
    }

    fn find(&self, kind: &GroupKind, name: &str) -> Option<&'a Place> {
        let wanted = (Rc::new(kind.clone()), Box::from(name));
        self.objects.get_key_value(&wanted).map(|(place, _)| place)
    }

    /// The StatefulSet of a claim named `TEMPLATE-SET-ORDINAL`; nothing in the claim's metadata says so.
    fn stateful_set(&self, (kind, name): &Place, stray: &Stray) -> Option<&'a Place> {
        if !kind.group.is_empty() || kind.kind != "PersistentVolumeClaim" || !stray.owners.is_empty() {
            return None;
        }
        let (rest, ordinal) = name.rsplit_once('-')?;
        if ordinal.is_empty() || !ordinal.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let sets = self.objects.keys().filter(|(kind, _)| kind.group == "apps" && kind.kind == "StatefulSet");
        sets.into_iter()
            .find(|(_, set)| rest.strip_suffix(&**set).is_some_and(|left| left.len() > 1 && left.ends_with('-')))
    }

    fn children(&self, place: &Place) -> impl Iterator<Item = &'a Place> {
        self.children.get(place).into_iter().flatten().copied()
    }

    /// The instance name of the object or the nearest ancestor that has one.
    fn instance(&self, place: &'a Place) -> Option<&'a str> {
        let (mut todo, mut seen) = (vec![place], HashSet::new());
        while let Some(place) = todo.pop() {
            let stray = self.objects.get(place)?;
            if let Some(instance) = &stray.instance {
                return Some(instance);
            }
            // Owner references can form a loop.
            if seen.insert(place) {
                todo.extend(self.parents(place, stray));
            }
        }
        None
    }
}
