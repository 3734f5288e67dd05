//! The types of a source's fields, to refuse an override as Go's decoder refuses it.
//!
//! In:  a source as JSON.
//! Out: Go's text for the first field, in byte order of keys, that has another type than it must.
//! Source: REND-085 (`pkg/apis/application/v1alpha1/types.go`).

use serde_json::Value;

use crate::gocompat::json::kind;

/// Type of a field.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Bool,
    Any,
    TextList,
    TextMap,
    BoolMap,
    Struct(&'static Struct),
    StructList(&'static Struct),
}

/// Go's name of a struct, and its fields by JSON name.
struct Struct(&'static str, &'static [(&'static str, Shape)]);

use Shape::{Any, Bool, BoolMap, StructList, Text, TextList, TextMap};

static HELM_PARAMETER: Struct = Struct("HelmParameter", &[("name", Text), ("value", Text), ("forceString", Bool)]);
static HELM_FILE_PARAMETER: Struct = Struct("HelmFileParameter", &[("name", Text), ("path", Text)]);
static HELM: Struct = Struct(
    "ApplicationSourceHelm",
    &[
        ("valueFiles", TextList),
        ("parameters", StructList(&HELM_PARAMETER)),
        ("releaseName", Text),
        ("values", Text),
        ("fileParameters", StructList(&HELM_FILE_PARAMETER)),
        ("version", Text),
        ("passCredentials", Bool),
        ("ignoreMissingValueFiles", Bool),
        ("skipCrds", Bool),
        ("namespace", Text),
        ("kubeVersion", Text),
        ("apiVersions", TextList),
        ("skipTests", Bool),
        ("skipSchemaValidation", Bool),
    ],
);
static KUSTOMIZE_REPLICA: Struct = Struct("KustomizeReplica", &[("name", Text), ("count", Any)]);
static KUSTOMIZE_SELECTOR: Struct = Struct(
    "KustomizeSelector",
    &[
        ("group", Text),
        ("version", Text),
        ("kind", Text),
        ("name", Text),
        ("namespace", Text),
        ("annotationSelector", Text),
        ("labelSelector", Text),
    ],
);
static KUSTOMIZE_PATCH: Struct = Struct(
    "KustomizePatch",
    &[("path", Text), ("patch", Text), ("target", Shape::Struct(&KUSTOMIZE_SELECTOR)), ("options", BoolMap)],
);
static KUSTOMIZE: Struct = Struct(
    "ApplicationSourceKustomize",
    &[
        ("namePrefix", Text),
        ("nameSuffix", Text),
        ("images", TextList),
        ("commonLabels", TextMap),
        ("version", Text),
        ("commonAnnotations", TextMap),
        ("forceCommonLabels", Bool),
        ("forceCommonAnnotations", Bool),
        ("namespace", Text),
        ("commonAnnotationsEnvsubst", Bool),
        ("replicas", StructList(&KUSTOMIZE_REPLICA)),
        ("patches", StructList(&KUSTOMIZE_PATCH)),
        ("components", TextList),
        ("ignoreMissingComponents", Bool),
        ("labelWithoutSelector", Bool),
        ("kubeVersion", Text),
        ("apiVersions", TextList),
        ("labelIncludeTemplates", Bool),
    ],
);
static JSONNET_VAR: Struct = Struct("JsonnetVar", &[("name", Text), ("value", Text), ("code", Bool)]);
static JSONNET: Struct = Struct(
    "ApplicationSourceJsonnet",
    &[("extVars", StructList(&JSONNET_VAR)), ("tlas", StructList(&JSONNET_VAR)), ("libs", TextList)],
);
static DIRECTORY: Struct = Struct(
    "ApplicationSourceDirectory",
    &[("recurse", Bool), ("jsonnet", Shape::Struct(&JSONNET)), ("exclude", Text), ("include", Text)],
);
static ENV_ENTRY: Struct = Struct("EnvEntry", &[("name", Text), ("value", Text)]);
static PLUGIN: Struct =
    Struct("ApplicationSourcePlugin", &[("name", Text), ("env", StructList(&ENV_ENTRY)), ("parameters", Any)]);
static SOURCE: Struct = Struct(
    "ApplicationSource",
    &[
        ("repoURL", Text),
        ("path", Text),
        ("targetRevision", Text),
        ("helm", Shape::Struct(&HELM)),
        ("kustomize", Shape::Struct(&KUSTOMIZE)),
        ("directory", Shape::Struct(&DIRECTORY)),
        ("plugin", Shape::Struct(&PLUGIN)),
        ("chart", Text),
        ("ref", Text),
        ("name", Text),
        ("tagPrefix", Text),
    ],
);

/// Refuses the first field of a wrong type.
pub fn check(source: &Value) -> Result<(), String> {
    if source.is_object() {
        return check_struct(source, &SOURCE, "");
    }
    Err(format!("json: cannot unmarshal {} into Go value of type v1alpha1.ApplicationSource", kind(source)))
}

fn check_struct(value: &Value, wanted: &Struct, path: &str) -> Result<(), String> {
    for (key, value) in value.as_object().into_iter().flatten() {
        let Some((_, shape)) = wanted.1.iter().find(|(name, _)| name == key) else { continue };
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        check_field(value, *shape, (wanted.0, &path))?;
    }
    Ok(())
}

fn check_field(value: &Value, shape: Shape, place: (&str, &str)) -> Result<(), String> {
    let (owner, path) = place;
    let refuse = |value: &Value, go_type: &str| {
        Err(format!("json: cannot unmarshal {} into Go struct field {owner}.{path} of type {go_type}", kind(value)))
    };
    let all = |values: Vec<&Value>, fits: fn(&Value) -> bool, go_type: &str| {
        let bad = values.into_iter().find(|value| !value.is_null() && !fits(value));
        bad.map_or(Ok(()), |value| refuse(value, go_type))
    };
    match (shape, value) {
        (_, Value::Null) | (Any, _) => Ok(()),
        (Text, _) => all(vec![value], Value::is_string, "string"),
        (Bool, _) => all(vec![value], Value::is_boolean, "bool"),
        (TextList, Value::Array(items)) => all(items.iter().collect(), Value::is_string, "string"),
        (TextList, _) => refuse(value, "[]string"),
        (TextMap, Value::Object(map)) => all(map.values().collect(), Value::is_string, "string"),
        (TextMap, _) => refuse(value, "map[string]string"),
        (BoolMap, Value::Object(map)) => all(map.values().collect(), Value::is_boolean, "bool"),
        (BoolMap, _) => refuse(value, "map[string]bool"),
        (Shape::Struct(inner), Value::Object(_)) => check_struct(value, inner, path),
        (Shape::Struct(inner), _) => refuse(value, &format!("v1alpha1.{}", inner.0)),
        (StructList(inner), Value::Array(items)) => items.iter().try_for_each(|item| match item {
            Value::Null | Value::Object(_) => check_struct(item, inner, path),
            _ => refuse(item, &format!("v1alpha1.{}", inner.0)),
        }),
        (StructList(inner), _) => refuse(value, &format!("[]v1alpha1.{}", inner.0)),
    }
}
