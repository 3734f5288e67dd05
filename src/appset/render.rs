//! Makes one Application from a template and one set of parameters.
//!
//! In:  the set's template, the generator's own, parameters, the template patch.
//! Out: the Application.
//! Invariant: the namespace is the set's and the project is the template's, whatever a patch says.
//! Source: SET-007, SET-010, SET-067 to SET-070 (`applicationset/controllers/template`, `applicationset/utils/utils.go`
//! `RenderTemplateParams`).

use serde_json::{Map, Value, json};

use super::params::Params;
use super::text::Engine;
use crate::api::Application;
use crate::api::appset::{ApplicationSet, ApplicationSetTemplate};
use crate::api::names::RESOURCES_FINALIZER;
use crate::gocompat::strconv::quote;
use crate::gocompat::yaml;

/// Fields in the order in which Argo CD renders them, so that of two errors the same comes first.
const METADATA: &[&str] = &["name", "namespace", "labels", "annotations", "finalizers"];
const SPEC: &[&str] = &[
    "source",
    "destination",
    "project",
    "syncPolicy",
    "ignoreDifferences",
    "info",
    "revisionHistoryLimit",
    "sources",
    "sourceHydrator",
];

/// The Application template that counts for a generator: its own, and where that says nothing, the set's.
///
/// # Errors
/// The templates do not fit together.
pub fn merged(own: &ApplicationSetTemplate, base: &ApplicationSetTemplate) -> Result<ApplicationSetTemplate, String> {
    let to_value = |template| serde_json::to_value(template).map_err(|error| error.to_string());
    let mut template = to_value(own)?;
    fill(&mut template, &to_value(base)?);
    serde_json::from_value(template).map_err(|error| error.to_string())
}

/// Fills what is zero; lists and free-form values are taken or left as a whole.
fn fill(own: &mut Value, base: &Value) {
    let (Value::Object(own), Value::Object(base)) = (own, base) else { return };
    for (key, value) in base {
        match own.get_mut(key) {
            Some(mine) if is_zero(mine) => *mine = value.clone(),
            Some(mine) if key != "valuesObject" => fill(mine, value),
            Some(_) => {}
            None => {
                own.insert(key.clone(), value.clone());
            }
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Object(_) => false,
    }
}

/// The Application for one set of parameters.
///
/// # Errors
/// What the condition says.
pub fn application(
    set: &ApplicationSet,
    template: &ApplicationSetTemplate,
    params: &Params,
    engine: &Engine,
) -> Result<Application, String> {
    let mut app = rendered(template, params, engine)?;
    let preserves = set.spec.sync_policy.as_ref().is_some_and(|policy| policy.preserve_resources_on_deletion);
    if !params.is_empty() && !preserves && app.metadata.finalizers.is_empty() {
        app.metadata.finalizers.push(RESOURCES_FINALIZER.to_owned());
    }
    if let Some(patch) = &set.spec.template_patch {
        let patch = engine
            .replace(patch, params)
            .map_err(|error| format!("error replacing values in templatePatch: {error}"))?;
        app = patched(&app, &patch)?;
    }
    app.metadata.namespace.clone_from(&set.metadata.namespace);
    Ok(app)
}

fn rendered(template: &ApplicationSetTemplate, params: &Params, engine: &Engine) -> Result<Application, String> {
    let value = serde_json::to_value(template).map_err(|error| error.to_string())?;
    let part = |name: &str, order: &[&str]| -> Result<Value, String> {
        let fields = value.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut rendered = Map::new();
        for field in order {
            if let Some(value) = fields.get(*field) {
                let value = if params.is_empty() { value.clone() } else { engine.replace_all(value, params)? };
                rendered.insert((*field).to_owned(), value);
            }
        }
        Ok(Value::Object(rendered))
    };
    let object = json!({"metadata": part("metadata", METADATA)?, "spec": part("spec", SPEC)?});
    serde_json::from_value(object).map_err(|error| error.to_string())
}

/// The Application with a strategic merge patch applied.
fn patched(app: &Application, patch: &str) -> Result<Application, String> {
    let is_json = patch.trim_start().starts_with('{');
    let parsed = if is_json {
        serde_json::from_str(patch).map_err(|error| format!("invalid templatePatch {}: {error}", quote(patch)))?
    } else {
        yaml::parse(patch).map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix("error converting YAML to JSON: ").unwrap_or(&text);
            format!("error while converting template to json {}: {text}", quote(patch))
        })?
    };
    let converted = || if is_json { patch.to_owned() } else { crate::gocompat::json::to_string(&parsed) };
    // What does not decode as an Application is no patch.
    serde_json::from_value::<Option<Application>>(without_directives(&parsed))
        .map_err(|error| format!("invalid templatePatch {}: {error}", quote(&converted())))?;
    let original = serde_json::to_value(app).map_err(|error| error.to_string())?;
    let mut result = apply(original, &parsed, &mut Vec::new()).map_err(|error| {
        format!("error while applying templatePatch template to json {}: {error}", quote(&converted()))
    })?;
    result["spec"]["project"] = Value::String(app.spec.project.clone());
    serde_json::from_value(result).map_err(|error| format!("error while unmarhsalling patched application: {error}"))
}

/// A patch without what only steers it or takes away.
fn without_directives(patch: &Value) -> Value {
    match patch {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
            kept.map(|(key, value)| (key.clone(), without_directives(value))).collect()
        }
        other => other.clone(),
    }
}

/// Merges a patch: maps deep, null removes, lists are replaced except finalizers, which are joined.
fn apply(target: Value, patch: &Value, path: &mut Vec<String>) -> Result<Value, String> {
    let Value::Object(patch) = patch else { return Ok(if patch.is_null() { target } else { patch.clone() }) };
    let mut target = match target {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    match patch.get("$patch").map(|directive| directive.as_str().unwrap_or_default()) {
        Some("replace") => {
            let rest = patch.iter().filter(|(key, _)| *key != "$patch");
            return Ok(rest.map(|(key, value)| (key.clone(), value.clone())).collect());
        }
        Some("delete") => return Ok(Value::Object(Map::new())),
        Some("merge") | None => {}
        Some(other) => return Err(format!("unknown patch type {other}")),
    }
    if let Some(kept) = patch.get("$retainKeys") {
        let kept: Vec<&str> = kept.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        target.retain(|key, _| kept.contains(&key.as_str()));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().cloned().unwrap_or_default();
            if let Some(Value::Array(items)) = target.get_mut(field) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if key.starts_with('$') {
            continue;
        }
        if value.is_null() {
            target.remove(key);
            continue;
        }
        let old = target.remove(key).unwrap_or_default();
        path.push(key.clone());
        let joins = path.iter().map(String::as_str).eq(["metadata", "finalizers"]);
        let new = if joins { joined(old, value) } else { apply(old, value, path)? };
        path.pop();
        target.insert(key.clone(), new);
    }
    Ok(Value::Object(target))
}

fn joined(old: Value, more: &Value) -> Value {
    let mut items = old.as_array().cloned().unwrap_or_default();
    for item in more.as_array().into_iter().flatten() {
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
    Value::Array(items)
}
