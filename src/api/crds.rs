//! The CustomResourceDefinitions of Application, AppProject and ApplicationSet.
//!
//! In:  nothing; the wire structs are the source.
//! Out: three objects ready to be applied, equal to Argo CD's apart from descriptions.
//! Invariant: names, columns and subresources are Argo CD's, so `kubectl get app` works as before.
//! Source: APP-001 (`manifests/crds/*.yaml`).

use serde_json::{Value, json};

use super::application::Application;
use super::appset::ApplicationSet;
use super::names::GROUP;
use super::project::AppProject;
use super::schema::Schema;

/// What differs between the definitions besides the schema.
struct Definition {
    kind: &'static str,
    singular: &'static str,
    short_names: [&'static str; 2],
    schema: fn() -> Value,
    /// Printer columns and subresources, as they stand in the version.
    version: fn() -> Value,
}

const DEFINITIONS: [Definition; 3] = [
    Definition {
        kind: "Application",
        singular: "application",
        short_names: ["app", "apps"],
        schema: Application::schema,
        version: application_version,
    },
    Definition {
        kind: "AppProject",
        singular: "appproject",
        short_names: ["appproj", "appprojs"],
        schema: AppProject::schema,
        version: || json!({}),
    },
    Definition {
        kind: "ApplicationSet",
        singular: "applicationset",
        short_names: ["appset", "appsets"],
        schema: ApplicationSet::schema,
        version: || json!({"subresources": {"status": {}}}),
    },
];

/// The three definitions: Application, AppProject, ApplicationSet.
pub fn crds() -> Vec<Value> {
    DEFINITIONS.iter().map(definition).collect()
}

/// The schema of `kind`, which is `None` for any other kind.
pub fn schema_of(kind: &str) -> Option<Value> {
    DEFINITIONS.iter().find(|known| known.kind == kind).map(root_schema)
}

fn definition(of: &Definition) -> Value {
    let plural = format!("{}s", of.singular);
    let name = format!("{plural}.{GROUP}");
    let mut version = (of.version)();
    version["name"] = "v1alpha1".into();
    version["served"] = true.into();
    version["storage"] = true.into();
    version["schema"] = json!({"openAPIV3Schema": root_schema(of)});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "argocd"},
        },
        "spec": {
            "group": GROUP,
            "names": {
                "kind": of.kind,
                "listKind": format!("{}List", of.kind),
                "plural": plural,
                "shortNames": of.short_names,
                "singular": of.singular,
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    })
}

/// The struct's schema with the two fields that every object has.
fn root_schema(of: &Definition) -> Value {
    let mut schema = (of.schema)();
    schema["properties"]["apiVersion"] = String::schema();
    schema["properties"]["kind"] = String::schema();
    schema
}

/// The empty `subresources` is Argo CD's: status is written through the main resource.
fn application_version() -> Value {
    json!({
        "additionalPrinterColumns": [
            {"name": "Sync Status", "type": "string", "jsonPath": ".status.sync.status"},
            {"name": "Health Status", "type": "string", "jsonPath": ".status.health.status"},
            {"name": "Revision", "type": "string", "jsonPath": ".status.sync.revision", "priority": 10},
            {"name": "Project", "type": "string", "jsonPath": ".spec.project", "priority": 10},
        ],
        "subresources": {},
    })
}
