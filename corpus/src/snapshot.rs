//! Reads what there is now: the part of a run that goldens hold.
//!
//! In:  the cluster in the middle of a case.  Out: `{applications, applicationsets, objects, events, posts}`, normalised.
//! Invariant: what the cluster makes by itself (pods, replica sets, default service accounts) is left out.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use futures::stream::{self, StreamExt as _};
use serde_json::{Map, Value, json};

use crate::api::{ARGOCD, Kind};
use crate::case::Reference;
use crate::normal;
use crate::run::{Run, name_of};
use crate::web;

/// Kinds whose objects are made by the cluster, or shown elsewhere in the snapshot.
const LEFT_OUT: [&str; 11] = [
    "Event",
    "Endpoints",
    "EndpointSlice",
    "Lease",
    "ControllerRevision",
    "Pod",
    "ReplicaSet",
    "PodMetrics",
    "Application",
    "ApplicationSet",
    "AppProject",
];

impl Run<'_> {
    /// What there is now.
    pub(crate) async fn snapshot(&mut self) -> Result<Value> {
        let mut out = Map::new();
        let apps = self.apps().await?;
        let shown = apps.iter().map(|(namespace, app)| (shown_name(namespace, name_of(app)), normal::application(app)));
        out.insert("applications".to_owned(), shown.collect::<Map<_, _>>().into());
        if let Some(api) = self.endpoints.api.clone() {
            for (namespace, app) in &apps {
                self.recorded(&api, (namespace, name_of(app)), &mut out).await?;
            }
        }
        let sets = self.cluster.kind("ApplicationSet", Some("argoproj.io")).await?;
        let sets = self.cluster.list(&sets, Some(ARGOCD)).await?;
        if !sets.is_empty() {
            let shown = sets.iter().map(|set| {
                let normal = normal::application(set);
                (name_of(set).to_owned(), json!({"metadata": normal["metadata"], "status": normal["status"]}))
            });
            out.insert("applicationsets".to_owned(), shown.collect::<Map<_, _>>().into());
        }
        out.insert("objects".to_owned(), self.objects().await?.into());
        out.insert("events".to_owned(), self.events().await?);
        if !self.posts.is_empty() {
            out.insert("posts".to_owned(), json!(self.posts));
        }
        Ok(out.into())
    }

    async fn objects(&mut self) -> Result<Map<String, Value>> {
        let mut objects = Map::new();
        self.cluster.discover().await?;
        for namespace in &self.case.spec.namespaces {
            let Some(object) = self.cluster.get(&Reference::new("Namespace", None, namespace)).await? else { continue };
            objects.insert(format!("Namespace {namespace}"), shown_namespace(object));
            for object in self.objects_in(namespace).await? {
                let name = format!(
                    "{} {} {namespace}/{}",
                    object["apiVersion"].as_str().unwrap_or_default(),
                    object["kind"].as_str().unwrap_or_default(),
                    name_of(&object)
                );
                objects.insert(normal::clean_text(&name), normal::object(object));
            }
        }
        for reference in &self.case.spec.cluster_objects {
            if let Some(object) = self.cluster.get(reference).await? {
                let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
                objects.insert(format!("{version} {} {}", reference.kind, reference.name), normal::object(object));
            }
        }
        Ok(objects)
    }

    /// Every object of a namespace that nothing owns and the cluster did not make.
    async fn objects_in(&self, namespace: &str) -> Result<Vec<Value>> {
        let kinds: Vec<Kind> = self.cluster.kinds().to_vec();
        let wanted = kinds
            .into_iter()
            .filter(|kind| kind.namespaced && kind.listable && !LEFT_OUT.contains(&kind.kind.as_str()));
        let cluster = &*self.cluster;
        let lists = stream::iter(wanted).map(|kind| async move { cluster.list(&kind, Some(namespace)).await });
        let mut all = Vec::new();
        for list in lists.buffered(4).collect::<Vec<_>>().await {
            match list {
                Ok(items) => all.extend(items.into_iter().filter(|item| !is_of_the_cluster(item))),
                // The kind went away since it was discovered, and its objects with it.
                Err(error) if error.code() == 404 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }

    /// The events of Applications and ApplicationSets, as a sorted set for each.
    async fn events(&mut self) -> Result<Value> {
        let kind = self.cluster.kind("Event", Some("")).await?;
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for namespace in std::iter::once(ARGOCD).chain(self.case.spec.app_namespaces.iter().map(String::as_str)) {
            for event in self.cluster.list(&kind, Some(namespace)).await? {
                let word = |pointer| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let subject = word("/involvedObject/kind");
                if matches!(subject, "Application" | "ApplicationSet") {
                    let text = format!("{} {}: {}", word("/type"), word("/reason"), word("/message"));
                    let subject = format!("{subject}/{}", word("/involvedObject/name"));
                    all.entry(subject).or_default().insert(normal::clean_text(&text));
                }
            }
        }
        Ok(json!(all))
    }

    /// What only Argo CD's own API tells about an app: its manifests and, where the case asks, health and differences.
    async fn recorded(
        &mut self,
        api: &str,
        (namespace, name): (&str, &str),
        out: &mut Map<String, Value>,
    ) -> Result<()> {
        let app = shown_name(namespace, name);
        let address = |part: &str| format!("{api}/api/v1/applications/{name}/{part}?appNamespace={namespace}");
        let answer = web::get(&address("manifests")).await?;
        let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        let manifests = if answer.code == 200 {
            let texts = body["manifests"].as_array().into_iter().flatten().filter_map(Value::as_str);
            texts.map(serde_json::from_str::<Value>).collect::<Result<Value, _>>()?
        } else {
            json!({"error": normal::clean_text(body["message"].as_str().unwrap_or_default())})
        };
        entry(out, "manifests").insert(app.clone(), manifests);
        let wants = |what: &str| self.case.spec.record.iter().any(|asked| asked == what);
        if wants("health") {
            let tree: Value =
                serde_json::from_str(&web::get(&address("resource-tree")).await?.text).unwrap_or_default();
            let roots = tree["nodes"].as_array().into_iter().flatten().filter(|node| node.get("parentRefs").is_none());
            let health = roots.map(|node| (node_name(node), normal::clean(&node["health"]))).collect::<Map<_, _>>();
            entry(out, "health").insert(app.clone(), health.into());
        }
        if wants("diffs") {
            let text = web::get(&address("managed-resources")).await?.text;
            let all: Value = serde_json::from_str(&text).unwrap_or_default();
            let modified = all["items"].as_array().into_iter().flatten().filter(|item| item["modified"] == true);
            let diffs = modified.map(|item| {
                let sides =
                    json!({"live": side(item, "normalizedLiveState"), "predicted": side(item, "predictedLiveState")});
                (node_name(item), sides)
            });
            let diffs = diffs.collect::<Map<_, _>>();
            if !diffs.is_empty() {
                entry(out, "diffs").insert(app, diffs.into());
            }
        }
        Ok(())
    }
}

fn entry<'m>(out: &'m mut Map<String, Value>, key: &str) -> &'m mut Map<String, Value> {
    let value = out.entry(key).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("just made an object")
}

fn node_name(node: &Value) -> String {
    let word = |key| node.get(key).and_then(Value::as_str).unwrap_or_default();
    normal::clean_text(&format!("{}/{} {}/{}", word("group"), word("kind"), word("namespace"), word("name")))
}

fn side(item: &Value, key: &str) -> Value {
    let object: Value = serde_json::from_str(item[key].as_str().unwrap_or("null")).unwrap_or_default();
    normal::clean(&normal::without_server_metadata(object))
}

fn shown_name(namespace: &str, name: &str) -> String {
    if namespace == ARGOCD { name.to_owned() } else { format!("{namespace}/{name}") }
}

fn shown_namespace(object: Value) -> Value {
    let mut shown = normal::object(object);
    if let Some(labels) = shown.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("kubernetes.io/metadata.name");
    }
    if let Some(map) = shown.as_object_mut() {
        map.remove("spec");
    }
    shown
}

fn is_of_the_cluster(object: &Value) -> bool {
    let is_owned = object.pointer("/metadata/ownerReferences").is_some_and(|owners| !normal::is_empty(owners));
    let kind = object["kind"].as_str().unwrap_or_default();
    is_owned || matches!((kind, name_of(object)), ("ServiceAccount", "default") | ("ConfigMap", "kube-root-ca.crt"))
}
