//! One kind as the API server offers it, and where its objects live.
//!
//! In:  what discovery said.
//! Out: request paths and the names used in error texts.
//! Source: client-go v0.36.1 `rest/request.go` (paths), `kube.go` `ToResourceInterface`.

use super::error::Error;
use crate::api::{GroupKind, GroupVersionKind};

/// Verbs of a kind, as a set of bits because thousands of kinds may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verbs(u8);

const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

impl Verbs {
    /// Whether the verb is offered; upper and lower case are the same.
    pub fn has(self, verb: &str) -> bool {
        bit(verb).is_some_and(|bit| self.0 & bit != 0)
    }
}

impl<S: AsRef<str>> FromIterator<S> for Verbs {
    fn from_iter<I: IntoIterator<Item = S>>(verbs: I) -> Self {
        Self(verbs.into_iter().filter_map(|verb| bit(verb.as_ref())).fold(0, |set, bit| set | bit))
    }
}

fn bit(verb: &str) -> Option<u8> {
    let place = VERBS.iter().position(|known| known.eq_ignore_ascii_case(verb))?;
    Some(1 << place)
}

/// A kind in one version, as discovered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resource {
    /// API group, empty for core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Plural name, as it stands in paths.
    pub plural: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with them.
    pub verbs: Verbs,
}

impl Resource {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Group and kind.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&self.group, &self.kind)
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind { group: self.group.clone(), version: self.version.clone(), kind: self.kind.clone() }
    }

    /// `deployments.apps`, `pods`: how Go prints the resource in errors.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Path of all objects, or of those in one namespace. Cluster-scoped kinds ignore the namespace.
    pub(super) fn collection(&self, namespace: &str) -> String {
        let root = root(&self.group, &self.version);
        if self.namespaced && !namespace.is_empty() {
            format!("{root}/namespaces/{}/{}", escape(namespace), self.plural)
        } else {
            format!("{root}/{}", self.plural)
        }
    }
}

/// `/api/v1` or `/apis/<group>/<version>`.
pub(super) fn root(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("/api/{}", escape(version))
    } else {
        format!("/apis/{}/{}", escape(group), escape(version))
    }
}

/// One object, by name.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its kind.
    pub resource: &'a Resource,
    /// Its namespace; ignored for cluster-scoped kinds.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// `status` and the like; empty for the object itself.
    pub subresource: &'a str,
}

impl<'a> Target<'a> {
    /// The object itself.
    pub fn new(resource: &'a Resource, namespace: &'a str, name: &'a str) -> Self {
        Self { resource, namespace, name, subresource: "" }
    }

    /// Path of the object; an incomplete identity is refused, because the path would then mean all objects of the kind.
    pub(super) fn path(&self) -> Result<String, Error> {
        let refused = |text: &str| Err(Error::Refused { text: text.to_owned() });
        if self.name.is_empty() {
            return refused("resource name may not be empty");
        }
        if self.resource.namespaced && self.namespace.is_empty() {
            return refused("an empty namespace may not be set when a resource name is provided");
        }
        let object = format!("{}/{}", self.resource.collection(self.namespace), escape(self.name));
        Ok(if self.subresource.is_empty() { object } else { format!("{object}/{}", self.subresource) })
    }

    /// How Go names the object when it has to make up an error text.
    pub(super) fn about(&self) -> String {
        format!("{} {}", self.resource.qualified(), self.name)
    }
}

/// Percent-encodes a path segment or a query value. `:` stays readable: RBAC names are full of it.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
