//! Which generated Applications may be written.
//!
//! In:  generated Applications, projects and clusters.
//! Out: what is wrong, by name.
//! Invariant: what is wrong with one Application stops only those of its name; none of them counts as not generated.
//! Source: SET-081 to SET-084 (`applicationset/controllers/applicationset_controller.go`
//! `validateGeneratedApplications`).

use std::collections::{BTreeMap, BTreeSet};

use super::options::World;
use crate::api::Application;
use crate::api::appset::ApplicationSet;

/// What is wrong with each Application that may not be written.
pub fn invalid(set: &ApplicationSet, applications: &[Application], world: &World) -> BTreeMap<String, String> {
    let mut seen = BTreeSet::new();
    let mut invalid = BTreeMap::new();
    for app in applications {
        let name = &app.metadata.name;
        let problem = if !seen.insert(name) {
            let set = &set.metadata.name;
            Some(format!("ApplicationSet {set} contains applications with duplicate name: {name}"))
        } else if !world.projects.contains(&app.spec.project) {
            Some(format!("application references project {} which does not exist", app.spec.project))
        } else {
            let cluster = world.clusters.resolve(&app.spec.destination);
            cluster.err().map(|error| format!("application destination spec is invalid: {error}"))
        };
        if let Some(problem) = problem {
            invalid.insert(name.clone(), problem);
        }
    }
    invalid
}

/// What the condition says: the last problem in the order of names, and how many more there are.
pub fn message(invalid: &BTreeMap<String, String>) -> Option<String> {
    let (_, last) = invalid.last_key_value()?;
    Some(match invalid.len() {
        1 => last.clone(),
        count => format!("{last} (and {} more)", count - 1),
    })
}
