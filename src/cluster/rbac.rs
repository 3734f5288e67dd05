//! `kubectl auth reconcile`: brings roles and bindings up to the manifest without taking anything away.
//!
//! In:  a Role, ClusterRole, RoleBinding or ClusterRoleBinding.
//! Out: what kubectl prints, to be glued in front of the apply's message.
//! Invariant: rules and subjects are only added; a binding is recreated only when its roleRef, which cannot be
//! changed, differs; an object annotated with `autoupdate: "false"` is left alone.
//! Source: SYNC-149 to SYNC-151 (kubectl v0.36.1 `pkg/cmd/auth/reconcile.go`; component-helpers v0.36
//! `auth/rbac/reconciliation`; `resource_ops.go` `rbacReconcile`).

use serde_json::{Map, Value, json};

use super::apply::{Apply, ApplyError, DryRun};
use super::manifest::Manifest;
use super::rbac_rules::{missing, rules_of};
use super::text::{self, Output};
use super::{Cluster, Error, Propagation, Resource, Target};
use crate::api::{ObjectExt, names};
use crate::guard::Permit;

const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";
/// Attempts while the object keeps changing or coming and going.
const ATTEMPTS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    None,
    Create,
    Update,
    Recreate,
}

/// What has to be done, and the object that results.
#[derive(Debug)]
pub(super) struct Plan {
    pub operation: Operation,
    pub object: Value,
    pub is_protected: bool,
    /// Printed form of the rules or subjects that are added.
    pub added: Vec<String>,
}

impl Cluster {
    /// Reconciles and returns the message; the caller has made sure that the API is RBAC v1.
    pub(super) async fn reconcile_rbac(&self, permit: Permit, ask: &Apply<'_>) -> Result<String, ApplyError> {
        let is_wet = ask.dry_run == DryRun::None;
        let namespace = ask.object.namespace();
        let is_cluster_scoped = matches!(ask.object.kind(), "ClusterRole" | "ClusterRoleBinding");
        // kubectl would create the namespace, which Argo CD does not want.
        if is_wet && !namespace.is_empty() && !is_cluster_scoped {
            self.fetch(&Target::new(&namespaces(), "", namespace)).await.map_err(|error| {
                let text = format!("error getting namespace {namespace}: {error}");
                ApplyError::new(text::clean(&text), error)
            })?;
        }
        let manifest = self.read_manifest(ask.object).await?;
        let plan = self.reconcile(permit, &manifest, is_wet).await?;
        Ok(report(&plan, if is_wet { "reconciled" } else { "reconciled (dry run)" }, is_binding(ask.object)))
    }

    async fn reconcile(&self, permit: Permit, manifest: &Manifest, is_wet: bool) -> Result<Plan, ApplyError> {
        let mut attempt = 1;
        loop {
            let live = match self.fetch(&manifest.target()).await {
                Ok(live) => Some(live),
                Err(error) if error.is_not_found() => None,
                Err(error) => return Err(error.into()),
            };
            let mut plan = plan(live.as_ref(), &manifest.object);
            if plan.is_protected || !is_wet {
                return Ok(plan);
            }
            match self.carry_out(permit, manifest, (&plan, live.as_ref())).await {
                Ok(None) => return Ok(plan),
                Ok(Some(object)) => {
                    plan.object = object;
                    return Ok(plan);
                }
                // Somebody else was there first, so the plan is out of date.
                Err(Error::Conflict(_) | Error::AlreadyExists(_) | Error::NotFound(_)) if attempt < ATTEMPTS => {
                    attempt += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn carry_out(
        &self,
        permit: Permit,
        manifest: &Manifest,
        (plan, live): (&Plan, Option<&Value>),
    ) -> Result<Option<Value>, Error> {
        let (target, manager) = (manifest.target(), names::BINARY_MANAGER);
        match plan.operation {
            Operation::None => Ok(None),
            Operation::Update => self.update(permit, &target, &plan.object, manager).await.map(Some),
            Operation::Create => self.create(permit, &manifest.resource, &plan.object, manager).await.map(Some),
            Operation::Recreate => {
                let uid = live.map(ObjectExt::uid);
                match self.delete(permit, &target, Propagation::Background, uid).await {
                    Ok(_) | Err(Error::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
                self.create(permit, &manifest.resource, &plan.object, manager).await.map(Some)
            }
        }
    }
}

fn namespaces() -> Resource {
    Resource {
        version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        plural: "namespaces".to_owned(),
        ..Resource::default()
    }
}

fn is_binding(object: &Value) -> bool {
    object.kind().ends_with("Binding")
}

fn report(plan: &Plan, verb: &str, is_binding: bool) -> String {
    let mut output = Output::default();
    output.print(&plan.object, verb);
    let caveat = if plan.is_protected {
        ", but object opted out (rbac.authorization.kubernetes.io/autoupdate: false)"
    } else {
        ""
    };
    let operation = match plan.operation {
        Operation::None => return output.message(),
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Recreate => "recreate",
    };
    output.stderr.push_str(&format!("\treconciliation required {operation}{caveat}\n"));
    if !plan.added.is_empty() {
        let what = if is_binding { "subjects" } else { "rules" };
        output.stderr.push_str(&format!("\tmissing {what} added:\n"));
    }
    for line in &plan.added {
        output.stderr.push_str(&format!("\t\t{line}\n"));
    }
    output.message()
}

/// What brings `live` up to `expected`.
pub(super) fn plan(live: Option<&Value>, expected: &Value) -> Plan {
    let Some(live) = live else {
        let added = if is_binding(expected) {
            subjects(expected).iter().map(subject_line).collect()
        } else {
            rules_of(expected).iter().map(ToString::to_string).collect()
        };
        return Plan { operation: Operation::Create, object: expected.clone(), is_protected: false, added };
    };
    let is_protected = live.annotation(AUTOUPDATE) == Some("false");
    if is_binding(expected) && role_ref(expected) != role_ref(live) {
        let (operation, object) = (Operation::Recreate, expected.clone());
        return Plan { operation, object, is_protected, added: Vec::new() };
    }
    let mut object = live.clone();
    let mut changed = false;
    for field in ["annotations", "labels"] {
        changed |= add_metadata(&mut object, expected, field);
    }
    let added =
        if is_binding(expected) { add_subjects(&mut object, expected) } else { add_rules(&mut object, expected) };
    changed |= !added.is_empty();
    if expected.kind() == "ClusterRole" {
        changed |= add_aggregation(&mut object, expected);
    }
    Plan { operation: if changed { Operation::Update } else { Operation::None }, object, is_protected, added }
}

/// Adds labels or annotations that are missing; existing values win.
fn add_metadata(object: &mut Value, expected: &Value, field: &str) -> bool {
    let Some(wanted) = expected.metadata().and_then(|metadata| metadata.get(field)).and_then(Value::as_object) else {
        return false;
    };
    let metadata = object.metadata_mut();
    // An empty map in the manifest counts as a change where the object has none, because Go tells nil from empty.
    let mut changed = !metadata.contains_key(field);
    let own = crate::api::object::entry_map(metadata, field);
    for (name, value) in wanted {
        if !own.contains_key(name) {
            own.insert(name.clone(), value.clone());
            changed = true;
        }
    }
    changed
}

fn add_rules(object: &mut Value, expected: &Value) -> Vec<String> {
    let missing = missing(&rules_of(object), &rules_of(expected));
    extend(object, "rules", missing.iter().map(super::rbac_rules::Rule::to_value));
    missing.iter().map(ToString::to_string).collect()
}

fn add_subjects(object: &mut Value, expected: &Value) -> Vec<String> {
    let own: Vec<_> = subjects(object).iter().map(identity).collect();
    let mut missing: Vec<Value> = Vec::new();
    for subject in subjects(expected) {
        let is_new = |known: &Value| identity(known) != identity(subject);
        if !own.contains(&identity(subject)) && missing.iter().all(is_new) {
            missing.push(subject.clone());
        }
    }
    extend(object, "subjects", missing.iter().cloned());
    missing.iter().map(subject_line).collect()
}

fn extend(object: &mut Value, field: &str, items: impl Iterator<Item = Value>) {
    let items: Vec<_> = items.collect();
    let Some(map) = object.as_object_mut().filter(|_| !items.is_empty()) else { return };
    match map.get_mut(field) {
        Some(Value::Array(own)) => own.extend(items),
        _ => {
            map.insert(field.to_owned(), items.into());
        }
    }
}

/// Adds selectors of an aggregation rule; a manifest without one removes it, because the role is then not aggregated.
fn add_aggregation(object: &mut Value, expected: &Value) -> bool {
    const RULE: &str = "aggregationRule";
    let wanted = expected.get(RULE).filter(|rule| rule.is_object());
    let own = object.get(RULE).filter(|rule| rule.is_object());
    let missing: Vec<Value> = match (wanted, own) {
        (None, None) => return false,
        (None, Some(_)) => return object.as_object_mut().is_some_and(|map| map.remove(RULE).is_some()),
        (Some(wanted), own) => {
            let known: Vec<_> = own.into_iter().flat_map(selectors).map(without_empty).collect();
            selectors(wanted).filter(|selector| !known.contains(&without_empty(selector))).cloned().collect()
        }
    };
    let changed = !missing.is_empty();
    if changed {
        let rule = crate::api::object::child_map(object, RULE);
        match rule.get_mut("clusterRoleSelectors") {
            Some(Value::Array(own)) => own.extend(missing),
            _ => {
                rule.insert("clusterRoleSelectors".to_owned(), missing.into());
            }
        }
    }
    changed
}

fn selectors(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.get("clusterRoleSelectors").and_then(Value::as_array).into_iter().flatten()
}

/// Go's semantic equality takes empty and absent for the same.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            let is_something = |(_, value): &(String, Value)| {
                !(value.is_null() || *value == json!({}) || *value == json!([]) || *value == json!(""))
            };
            Value::Object(fields.filter(is_something).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Compared as written: a manifest without `apiGroup` differs from what the server made of it, as in Argo CD.
fn role_ref(binding: &Value) -> [&str; 3] {
    binding.get("roleRef").map(|role| ["apiGroup", "kind", "name"].map(|name| field(role, name))).unwrap_or_default()
}

fn subjects(binding: &Value) -> &[Value] {
    binding.get("subjects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn identity(subject: &Value) -> [String; 4] {
    ["kind", "apiGroup", "name", "namespace"].map(|name| field(subject, name).to_owned())
}

fn subject_line(subject: &Value) -> String {
    let [kind, group, name, namespace] = identity(subject);
    format!("{{Kind:{kind} APIGroup:{group} Name:{name} Namespace:{namespace}}}")
}
