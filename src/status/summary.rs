//! `status.summary`: what runs and where to find it.
//!
//! In:  images and URLs of the objects in the resource tree, and the Application.
//! Out: the summary, sorted and without repetitions.
//! Source: APP-246, APP-247, APP-251 (`types.go` `GetSummary`, `controller/cache/info.go` `populatePodInfo`).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::status::Summary;
use crate::api::{Application, GroupKind, names};

/// Builds the summary; the Application's own link annotations are added to `urls` as they are (APP-247).
pub fn summary(
    app: &Application,
    images: impl IntoIterator<Item = String>,
    urls: impl IntoIterator<Item = String>,
    is_app_of_apps: bool,
) -> Summary {
    let links = app.metadata.annotations.iter().filter(|(name, _)| name.starts_with(names::LINK_PREFIX));
    let urls: BTreeSet<String> = urls.into_iter().chain(links.map(|(_, link)| link.clone())).collect();
    let images: BTreeSet<String> = images.into_iter().collect();
    Summary { external_urls: urls.into_iter().collect(), images: images.into_iter().collect(), is_app_of_apps }
}

/// Images of a Pod's init and regular containers (APP-246).
pub fn pod_images(pod: &Value) -> Vec<String> {
    ["initContainers", "containers"]
        .into_iter()
        .filter_map(|field| pod.get("spec")?.get(field)?.as_array())
        .flatten()
        .filter_map(|container| container.get("image")?.as_str())
        .map(str::to_owned)
        .collect()
}

/// Whether an object of this kind makes the Application an app of apps (APP-251).
pub fn is_application(kind: &GroupKind) -> bool {
    kind.group == names::GROUP && kind.kind == "Application"
}
