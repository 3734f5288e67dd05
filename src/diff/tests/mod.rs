//! Tests of the diff room, one file per part.

mod compare;
mod dry_run;
mod go_tables;
mod mask;
mod patches;
mod respect;

use std::sync::Arc;

use serde_json::Value;

use super::{Comparer, Settings, SystemRules, TrackingRule};
use crate::api::application::ResourceIgnoreDifferences;

/// A comparer with these application rules only.
fn comparer(rules: &[ResourceIgnoreDifferences]) -> Comparer {
    comparer_with(rules, &SystemRules::default())
}

fn comparer_with(rules: &[ResourceIgnoreDifferences], system: &SystemRules) -> Comparer {
    Comparer::new(settings(rules, system)).unwrap()
}

fn settings<'a>(rules: &'a [ResourceIgnoreDifferences], system: &'a SystemRules) -> Settings<'a> {
    Settings {
        app_rules: rules,
        system,
        tracking: TrackingRule { by_annotation: true, label_key: "app.kubernetes.io/instance".to_owned() },
        server_side_apply: false,
        timer: Arc::new(|| Box::new(|| false)),
    }
}

/// A rule from its wire form.
fn rule(wire: Value) -> ResourceIgnoreDifferences {
    serde_json::from_value(wire).unwrap()
}
