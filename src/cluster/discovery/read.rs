//! Reads discovery documents: aggregated ones from servers since Kubernetes 1.26, the older kind from others.
//!
//! In:  `/api`, `/apis` and `/version`.
//! Out: a [`Snapshot`].
//! Invariant: a group-version that is listed but cannot be read is recorded as unreadable, never dropped.
//! Source: client-go v0.36.1 `discovery/aggregated_discovery.go`, `discovery_client.go`; `ctl.go` `GetServerVersion`.

use serde::Deserialize;
use serde_json::Value;

use super::Snapshot;
use crate::cluster::request::{Call, Tagged};
use crate::cluster::resource::root;
use crate::cluster::{Cluster, Error, Resource};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

#[derive(Default)]
struct Found {
    resources: Vec<Resource>,
    unreadable: Vec<String>,
}

/// Where the documents are.
const PATHS: [&str; 2] = ["/api", "/apis"];

fn document(path: &str, known_tag: Option<String>) -> Call<'static> {
    Call { accept: AGGREGATED, known_tag, ..Call::get(path.to_owned()) }
}

/// Whether the server still offers what was read; `false` also when only reading everything can tell.
pub(super) async fn is_current(cluster: &Cluster, known: &Snapshot) -> Result<bool, Error> {
    if known.tags.len() != PATHS.len() {
        return Ok(false);
    }
    for (path, tag) in PATHS.into_iter().zip(&known.tags) {
        if cluster.send_tagged(&document(path, Some(tag.clone()))).await?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Everything the server offers.
pub(super) async fn everything(cluster: &Cluster) -> Result<Snapshot, Error> {
    // First, as in Argo CD, so that a cluster that cannot be reached is reported by the same request.
    let version = version(cluster).await?;
    let mut found = Found::default();
    let mut tags = Vec::new();
    for path in PATHS {
        let Some(Tagged { bytes, tag }) = cluster.send_tagged(&document(path, None)).await? else { continue };
        // Only one document speaks of all groups: the plain ones of older servers have others behind them.
        tags.extend(tag);
        let undecodable = |cause| Error::Decode { text: path.to_owned(), cause };
        // The documents are large, so they are read into just the fields that are kept.
        let document: Document = serde_json::from_slice(&bytes).map_err(undecodable)?;
        drop(bytes);
        if document.kind == "APIGroupDiscoveryList" {
            document.items.into_iter().for_each(|group| take_group(group, &mut found));
        } else {
            tags.clear();
            take_plain(cluster, document, &mut found).await?;
        }
    }
    let mut snapshot = Snapshot::new(found.resources, found.unreadable, version);
    snapshot.tags = tags;
    Ok(snapshot)
}

/// The server's version.
async fn version(cluster: &Cluster) -> Result<String, Error> {
    let asked = Call { raw: true, ..Call::get("/version".to_owned()) }.query("timeout", "32s");
    let answer = cluster.send(asked).await?;
    Ok(release(answer.get("gitVersion").and_then(Value::as_str).unwrap_or_default()))
}

/// `v1.36.3-gke.100` as `v1.36.3`: numbers and dots only, behind a `v`.
pub(in crate::cluster) fn release(git_version: &str) -> String {
    let text = git_version.trim_start();
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(numbers.len());
    format!("v{}", numbers.get(..end).unwrap_or_default().trim_end_matches('.'))
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<Group>,
    /// Of `APIVersions`, the plain document of the core group.
    #[serde(default)]
    versions: Vec<String>,
    /// Of `APIGroupList`, the plain document of all others.
    #[serde(default)]
    groups: Vec<PlainGroup>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Named,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
struct Named {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    version: String,
    #[serde(default)]
    freshness: String,
    #[serde(default)]
    resources: Vec<AggregatedResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource {
    resource: String,
    response_kind: Option<Kind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

fn take_group(group: Group, found: &mut Found) {
    let group_name = group.metadata.name;
    for version in group.versions {
        if version.freshness == "Stale" {
            found.unreadable.push(group_version(&group_name, &version.version));
            continue;
        }
        for resource in version.resources {
            // A resource without a kind is only the parent of its subresources.
            let Some(kind) = resource.response_kind.map(|kind| kind.kind).filter(|kind| !kind.is_empty()) else {
                continue;
            };
            found.resources.push(Resource {
                group: group_name.clone(),
                version: version.version.clone(),
                kind,
                plural: resource.resource,
                namespaced: resource.scope == "Namespaced",
                verbs: resource.verbs.iter().collect(),
            });
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainGroup {
    name: String,
    #[serde(default)]
    versions: Vec<PlainVersion>,
    preferred_version: Option<PlainVersion>,
}

#[derive(Deserialize)]
struct PlainVersion {
    version: String,
}

/// Older servers need one request per group-version.
async fn take_plain(cluster: &Cluster, document: Document, found: &mut Found) -> Result<(), Error> {
    let mut wanted: Vec<(String, String)> =
        document.versions.into_iter().map(|version| (String::new(), version)).collect();
    for group in document.groups {
        let preferred = group.preferred_version.map(|version| version.version).unwrap_or_default();
        let mut versions: Vec<_> = group.versions.into_iter().map(|version| version.version).collect();
        versions.sort_by_key(|version| *version != preferred);
        wanted.extend(versions.into_iter().map(|version| (group.name.clone(), version)));
    }
    for (group, version) in wanted {
        match cluster.send(Call::get(root(&group, &version))).await {
            Ok(list) => found.resources.extend(resource_list(&list, &group, &version)),
            Err(error @ Error::Transport { .. }) => return Err(error),
            Err(_) => found.unreadable.push(group_version(&group, &version)),
        }
    }
    Ok(())
}

/// The kinds in an `APIResourceList`, without subresources.
pub(super) fn resource_list(list: &Value, group: &str, version: &str) -> Vec<Resource> {
    let all = list.get("resources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |item: &Value, field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    all.iter()
        .map(|item| Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text(item, "kind"),
            plural: text(item, "name"),
            namespaced: item.get("namespaced").and_then(Value::as_bool).unwrap_or_default(),
            verbs: item
                .get("verbs")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
        })
        .filter(|resource| !resource.plural.contains('/'))
        .collect()
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
