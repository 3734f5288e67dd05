//! When a comparison is due, and how far it goes.
//!
//! In:  an Application, the periods, what was requested inside, now.
//! Out: the reason and the [`Level`], or nothing to do.
//! Source: APP-050 to APP-054 (`controller/appcontroller.go` `needRefreshAppStatus`).

use std::time::Duration;

use jiff::Timestamp;

use super::assess::namespace_metadata_changed;
use crate::api::{Application, names};

/// How much a refresh does; each level includes the ones before (APP-051).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only the summary.
    Nothing,
    /// Compares with the revision already in the status.
    Recent,
    /// Compares with the target revision, which may be remembered.
    Latest,
    /// Compares with the target revision, resolved anew.
    LatestForceResolve,
}

/// How long a comparison is good for; `None` is for ever.
#[derive(Debug, Clone, Copy)]
pub struct Periods {
    /// `timeout.reconciliation`.
    pub soft: Option<Duration>,
    /// `timeout.hard.reconciliation`.
    pub hard: Option<Duration>,
}

/// A comparison that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// How far it goes.
    pub level: Level,
    /// Whether rendered manifests are made anew too.
    pub hard: bool,
    /// Why, for the log.
    pub reason: String,
}

/// Whether a comparison is due. Whatever the reason is, it goes no less far than was requested.
pub fn due(app: &Application, periods: Periods, requested: Option<Level>, now: Timestamp) -> Option<Due> {
    let found = reason(app, periods, requested, now)?;
    Some(Due { level: found.level.max(requested.unwrap_or(found.level)), ..found })
}

fn reason(app: &Application, periods: Periods, requested: Option<Level>, now: Timestamp) -> Option<Due> {
    let due = |level, hard, reason: &str| Some(Due { level, hard, reason: reason.to_owned() });
    if let Some(kind) = app.metadata.annotations.get(names::REFRESH) {
        let hard = kind == "hard";
        let reason = if hard { "hard refresh requested" } else { "normal refresh requested" };
        return due(Level::LatestForceResolve, hard, reason);
    }
    let compared = &app.status.sync.compared_to;
    if !source_is_compared(app) {
        return due(Level::LatestForceResolve, false, "spec.source differs");
    }
    if expired(app, periods.hard, now) {
        return due(Level::Latest, true, "comparison expired, requesting hard refresh");
    }
    if expired(app, periods.soft, now) {
        return due(Level::Latest, false, "comparison expired, requesting refresh");
    }
    if app.spec.destination != compared.destination {
        return due(Level::Latest, false, "spec.destination differs");
    }
    if namespace_metadata_changed(app) {
        return due(Level::Latest, false, "spec.syncPolicy.managedNamespaceMetadata differs");
    }
    if app.spec.ignore_differences != compared.ignore_differences {
        return due(Level::Latest, false, "spec.ignoreDifferences differs");
    }
    due(requested?, false, "controller refresh requested")
}

fn source_is_compared(app: &Application) -> bool {
    let compared = &app.status.sync.compared_to;
    if app.spec.has_multiple_sources() {
        app.spec.sources == compared.sources
    } else {
        app.spec.effective_sources().first() == Some(&compared.source)
    }
}

/// Whether the period since the last full comparison is over.
fn expired(app: &Application, period: Option<Duration>, now: Timestamp) -> bool {
    let Some(period) = period else { return false };
    remaining(app, period, now).is_none()
}

/// What is left of a period; `None` when it is over or no comparison was made yet.
pub fn remaining(app: &Application, period: Duration, now: Timestamp) -> Option<Duration> {
    let since = now.duration_since(app.status.reconciled_at?.timestamp());
    let since = Duration::try_from(since).unwrap_or_default();
    period.checked_sub(since).filter(|left| !left.is_zero())
}
