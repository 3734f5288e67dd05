//! Removes the fields that ignoreDifferences rules name, by JSON pointer or jq expression.
//!
//! In:  the application's rules, system rules, an object.
//! Out: the object without the ignored fields.
//! Invariant: a rule that cannot be applied leaves the object as it was; a rule that cannot be compiled is an error.
//! Source: DIFF-073 to DIFF-085 (`util/argo/normalizers/diff_normalizer.go`, `util/argo/diff/ignore.go`).

mod own;
mod pointer;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::jq;
use crate::api::application::ResourceIgnoreDifferences;
use crate::api::object::{GroupKind, ObjectExt};
use crate::gocompat::glob::Glob;

pub use own::OwnRules;

/// Starts the time limit of one jq run; the returned function tells whether the limit has passed.
pub type StartTimer = Arc<dyn Fn() -> Box<dyn Fn() -> bool> + Send + Sync>;

/// Fields that rules of `argocd-cm` leave out of comparisons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct IgnoreRules {
    /// JSON pointers.
    pub json_pointers: Vec<String>,
    /// jq path expressions.
    pub jq: Vec<String>,
    /// Field managers.
    pub managers: Vec<String>,
}

impl IgnoreRules {
    /// Adds another rule's fields, each once.
    pub fn extend(&mut self, other: &IgnoreRules) {
        let pairs = [
            (&mut self.json_pointers, &other.json_pointers),
            (&mut self.jq, &other.jq),
            (&mut self.managers, &other.managers),
        ];
        for (mine, others) in pairs {
            for text in others {
                if !mine.contains(text) {
                    mine.push(text.clone());
                }
            }
        }
    }
}

/// What one rule removes.
enum Removal {
    Pointer(String),
    Jq(jq::Program),
}

/// One removal and the objects it is for.
struct Rule {
    group: Option<Glob>,
    kind: Option<Glob>,
    name: String,
    namespace: String,
    removal: Removal,
}

/// Field managers and the objects whose fields they own by rule.
struct Managers {
    group: Option<Glob>,
    kind: Option<Glob>,
    name: String,
    namespace: String,
    managers: Vec<String>,
}

/// All rules of one comparison, ready to use.
pub struct Ignore {
    rules: Vec<Rule>,
    managers: Vec<Managers>,
    system_managers: BTreeMap<String, Vec<String>>,
    timer: StartTimer,
}

impl Ignore {
    /// Compiles the rules: the application's in their order, then the system's in order of their keys.
    pub fn new(
        app: &[ResourceIgnoreDifferences],
        system: &BTreeMap<String, IgnoreRules>,
        timer: StartTimer,
    ) -> Result<Self, jq::CompileError> {
        let mut rules = Vec::new();
        let from_system = system.iter().map(|(key, rule)| {
            let target = override_key(key);
            ResourceIgnoreDifferences {
                group: target.group,
                kind: target.kind,
                json_pointers: rule.json_pointers.clone(),
                jq_path_expressions: rule.jq.clone(),
                ..ResourceIgnoreDifferences::default()
            }
        });
        for rule in app.iter().cloned().chain(from_system) {
            let pointers = rule.json_pointers.iter().map(|pointer| Ok(Removal::Pointer(pointer.clone())));
            let programs = rule.jq_path_expressions.iter().map(|text| jq::Program::deleting(text).map(Removal::Jq));
            for removal in pointers.chain(programs) {
                rules.push(Rule {
                    group: pattern(&rule.group),
                    kind: pattern(&rule.kind),
                    name: rule.name.clone(),
                    namespace: rule.namespace.clone(),
                    removal: removal?,
                });
            }
        }
        let managers = app.iter().filter(|rule| !rule.managed_fields_managers.is_empty()).map(|rule| Managers {
            group: pattern(&rule.group),
            kind: pattern(&rule.kind),
            name: rule.name.clone(),
            namespace: rule.namespace.clone(),
            managers: rule.managed_fields_managers.clone(),
        });
        let system_managers = system.iter().map(|(key, rule)| (key.clone(), rule.managers.clone()));
        Ok(Self { rules, managers: managers.collect(), system_managers: system_managers.collect(), timer })
    }

    /// The object without its ignored fields; the rules that it carries itself come last.
    pub fn apply_with(&self, object: Value, own: &OwnRules) -> Value {
        let mut rest = self.apply(object);
        for pointer in own.pointers() {
            if let Err(error) = pointer::remove(&mut rest, pointer) {
                tracing::debug!(pointer, "Failed to apply normalization patch: {error}");
            }
        }
        rest
    }

    /// The object without the fields that the settings' and the application's rules ignore.
    pub fn apply(&self, object: Value) -> Value {
        let target = object.group_kind();
        let (name, namespace) = (object.name().to_owned(), object.namespace().to_owned());
        let mut current = object;
        for rule in &self.rules {
            let matches = matches(&rule.group, &target.group)
                && matches(&rule.kind, &target.kind)
                && (rule.name.is_empty() || rule.name == name)
                && (rule.namespace.is_empty() || rule.namespace == namespace);
            if !matches {
                continue;
            }
            let outcome = match &rule.removal {
                Removal::Pointer(pointer) => pointer::remove(&mut current, pointer).map_err(|error| error.to_string()),
                Removal::Jq(program) => self.run(program, &mut current).map_err(|error| error.to_string()),
            };
            if let Err(error) = outcome {
                tracing::debug!(
                    group = target.group,
                    kind = target.kind,
                    namespace,
                    name,
                    "Failed to apply normalization patch: {error}"
                );
            }
        }
        current
    }

    fn run(&self, program: &jq::Program, object: &mut Value) -> Result<(), jq::RunError> {
        let expired = (self.timer)();
        *object = program.run(object, &*expired)?;
        Ok(())
    }

    /// The field managers whose changes to this object are ignored.
    /// The system's keys are compared literally: a core kind is found under `/Kind` only.
    pub fn managers(&self, object: &Value) -> Vec<&str> {
        let GroupKind { group, kind } = object.group_kind();
        let mut found: Vec<&str> = Vec::new();
        let system = [format!("{group}/{kind}"), "*/*".to_owned()];
        let system = system.iter().filter_map(|key| self.system_managers.get(key)).flatten();
        let app = self.managers.iter().filter(|rule| {
            matches(&rule.group, &group)
                && matches(&rule.kind, &kind)
                && (rule.name.is_empty() || rule.name == object.name())
                && (rule.namespace.is_empty() || rule.namespace == object.namespace())
        });
        for manager in system.chain(app.flat_map(|rule| &rule.managers)) {
            if !found.contains(&manager.as_str()) {
                found.push(manager);
            }
        }
        found
    }
}

/// A pattern without separators; one that does not parse matches nothing (DIFF-074).
fn pattern(text: &str) -> Option<Glob> {
    Glob::new(text, &[]).ok()
}

fn matches(pattern: &Option<Glob>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.matches(text))
}

/// Group and kind of an override's key: `group/Kind`, or `Kind` for core.
pub fn override_key(key: &str) -> GroupKind {
    let (group, kind) = key.split_once('/').unwrap_or(("", key));
    GroupKind::new(group, kind)
}
