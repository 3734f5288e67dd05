//! What is kept of a stored Application while its set is looked at.
//!
//! In:  an Application as stored in the API server.
//! Out: metadata, spec and a requested operation as they are stored, and the few facts of the status that count.
//! Invariant: the status itself is not kept: it is the biggest part of an Application, and a set never writes it.
//! Source: SET-092, SET-108, SET-124 to SET-129 (`applicationset/controllers/applicationset_controller.go`).

use serde_json::{Map, Value};

use crate::api::Application;
use crate::api::names;
use crate::api::status::Time;

/// Kind of the owner of a generated Application.
pub const KIND: &str = "ApplicationSet";

/// A stored Application.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// Metadata as stored, less what the API server keeps for itself.
    pub metadata: Map<String, Value>,
    /// Spec as stored.
    pub spec: Value,
    /// Operation as stored; null when none is requested.
    pub operation: Value,
    /// What its controller observed.
    pub observed: Observed,
}

/// What the status of an Application says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Sync status; empty before the first comparison.
    pub sync: String,
    /// Health; empty before the first comparison.
    pub health: String,
    /// Revisions that the comparison used: those of the sources, or the only one.
    pub revisions: Vec<String>,
    /// When it was compared last.
    pub reconciled_at: Option<Time>,
    /// Start and phase of the last operation.
    pub operation: Option<(Time, String)>,
    /// Whether a condition says that it cannot sync.
    pub has_error: bool,
}

impl Live {
    /// Reads a stored Application; nothing for an object without a name or with a status of another shape.
    pub fn read(object: &Value) -> Option<Self> {
        let app: Application = serde_json::from_value(without_spec(object)).ok()?;
        let mut metadata = object.get("metadata")?.as_object()?.clone();
        metadata.remove("managedFields");
        if app.metadata.name.is_empty() {
            return None;
        }
        Some(Self {
            name: app.metadata.name.clone(),
            namespace: app.metadata.namespace.clone(),
            metadata,
            spec: object.get("spec").cloned().unwrap_or_default(),
            operation: object.get("operation").cloned().unwrap_or_default(),
            observed: Observed::of(&app),
        })
    }

    /// Its controlling owner.
    fn controller(&self) -> Option<&Value> {
        let owners = self.metadata.get("ownerReferences")?.as_array()?;
        owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)))
    }

    /// Kind and name of its controlling owner.
    pub fn owner(&self) -> Option<(&str, &str)> {
        let owner = self.controller()?;
        Some((owner.get("kind")?.as_str()?, owner.get("name")?.as_str()?))
    }

    /// Whether the set of this name made it: Argo CD goes by the owner's name, not by its uid.
    pub fn is_owned_by(&self, set: &str) -> bool {
        let version = self.controller().and_then(|owner| owner.get("apiVersion")).and_then(Value::as_str);
        version == Some(&format!("{}/v1alpha1", names::GROUP)) && self.owner() == Some((KIND, set))
    }

    /// Whether its deletion was asked for, and when.
    pub fn deleted_at(&self) -> Option<Time> {
        self.metadata.get("deletionTimestamp").and_then(Value::as_str).and_then(Time::parse)
    }

    /// Its finalizers.
    pub fn finalizers(&self) -> Vec<String> {
        let list = self.metadata.get("finalizers").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Its unique id.
    pub fn uid(&self) -> &str {
        self.metadata.get("uid").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The object less its spec, which is kept as it is and need not be readable.
fn without_spec(object: &Value) -> Value {
    let fields = object.as_object().into_iter().flatten().filter(|(name, _)| *name != "spec");
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
}

impl Observed {
    fn of(app: &Application) -> Self {
        let status = &app.status;
        let revisions = match (&status.sync.revisions, &status.sync.revision) {
            (several, _) if !several.is_empty() => several.clone(),
            (_, one) if !one.is_empty() => vec![one.clone()],
            _ => Vec::new(),
        };
        Self {
            sync: status.sync.status.clone(),
            health: status.health.status.clone(),
            revisions,
            reconciled_at: status.reconciled_at,
            operation: status.operation_state.as_ref().map(|state| (state.started_at, state.phase.clone())),
            has_error: status.conditions.iter().any(|c| ["InvalidSpecError", "UnknownError"].contains(&&*c.r#type)),
        }
    }
}
