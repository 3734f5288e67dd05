//! Whether a sync may start or go on now.
//!
//! In:  a project's sync windows, an Application, now, and when a running operation started.
//! Out: yes or no; a window that cannot be read is an error, which blocks manual and running syncs too.
//! Source: APP-185 to APP-188 (`pkg/apis/application/v1alpha1/types.go` `SyncWindows`).

use jiff::{SignedDuration, Timestamp};

use crate::api::Application;
use crate::api::project::SyncWindow;
use crate::gocompat::{cron, duration, glob};

/// Why windows cannot be used. `Display` is what Argo CD logs and shows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowsError {
    /// A schedule cannot be read.
    #[error("invalid sync windows: cannot parse schedule '{schedule}': {source}")]
    Schedule {
        /// The schedule.
        schedule: String,
        /// What is wrong.
        source: cron::Error,
    },
    /// A duration cannot be read.
    #[error("invalid sync windows: cannot parse duration '{duration}': {source}")]
    Duration {
        /// The duration.
        duration: String,
        /// What is wrong.
        source: duration::Error,
    },
}

/// The windows that concern one Application.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows<'a> {
    matching: Vec<&'a SyncWindow>,
}

impl<'a> Windows<'a> {
    /// The windows of a project that match an Application.
    pub fn matching(windows: &'a [SyncWindow], app: &Application) -> Self {
        Self { matching: windows.iter().filter(|window| matches(window, app)).collect() }
    }

    /// Whether any window concerns the Application.
    pub fn is_empty(&self) -> bool {
        self.matching.is_empty()
    }

    /// Whether a sync may run now. `manual` says that a person asked for it; `started_at` is when the running operation
    /// began, `None` for one that has not.
    ///
    /// # Errors
    /// A window cannot be read; the sync must not run.
    pub fn can_sync(&self, manual: bool, now: Timestamp, started_at: Option<Timestamp>) -> Result<bool, WindowsError> {
        let blocking = self.blocking(now, now)?;
        if is_allowed(&blocking, manual) {
            return Ok(true);
        }
        let may_overrun = blocking.iter().all(|window| window.sync_overrun);
        match started_at {
            // Overrun: it was allowed when it started, so it may end.
            Some(started_at) if may_overrun => Ok(is_allowed(&self.blocking(started_at, now)?, manual)),
            _ => Ok(false),
        }
    }

    /// The windows that block a sync now, for whoever wants to know which.
    ///
    /// # Errors
    /// A window cannot be read.
    pub fn holding(&self, now: Timestamp) -> Result<Vec<&'a SyncWindow>, WindowsError> {
        self.blocking(now, now)
    }

    /// The windows that block a sync at a time: active denies, or else all allows when none of them is active.
    fn blocking(&self, at: Timestamp, now: Timestamp) -> Result<Vec<&'a SyncWindow>, WindowsError> {
        let mut active = Vec::new();
        let mut inactive_allows = Vec::new();
        for window in &self.matching {
            match (is_active(window, at, now)?, window.kind.as_str()) {
                (true, _) => active.push(*window),
                (false, "allow") => inactive_allows.push(*window),
                (false, _) => {}
            }
        }
        let has_active_allow = active.iter().any(|window| window.kind == "allow");
        active.retain(|window| window.kind == "deny");
        Ok(match (active.is_empty(), has_active_allow) {
            (false, _) => active,
            (true, true) => Vec::new(),
            (true, false) => inactive_allows,
        })
    }
}

/// A person may sync where every blocking window lets them.
fn is_allowed(blocking: &[&SyncWindow], manual: bool) -> bool {
    blocking.is_empty() || (manual && blocking.iter().all(|window| window.manual_sync))
}

/// Whether a window is open at a time. The zone's offset is the one that holds now, as in Argo CD.
fn is_active(window: &SyncWindow, at: Timestamp, now: Timestamp) -> Result<bool, WindowsError> {
    let schedule = cron::Schedule::parse(&window.schedule)
        .map_err(|source| WindowsError::Schedule { schedule: window.schedule.clone(), source })?;
    let length = duration::parse(&window.duration)
        .map_err(|source| WindowsError::Duration { duration: window.duration.clone(), source })?;
    let offset = zone_offset(&window.time_zone, now);
    let local = at.saturating_add(offset).unwrap_or(at);
    let opened_after = local.saturating_sub(length).unwrap_or(local);
    // A schedule that never fires counts as open: Go's zero time lies before every other.
    Ok(schedule.next(opened_after).is_none_or(|opens| opens < local))
}

/// Offset of a zone from UTC; an unknown zone is UTC.
fn zone_offset(zone: &str, now: Timestamp) -> SignedDuration {
    let seconds = cron::zone(zone).map_or(0, |zone| zone.to_offset(now).seconds());
    SignedDuration::from_secs(i64::from(seconds))
}

/// Whether a window concerns an Application: by name, cluster or namespace, any of them or all that are given.
fn matches(window: &SyncWindow, app: &Application) -> bool {
    let destination = &app.spec.destination;
    let any = |patterns: &[String], texts: &[&str]| {
        patterns.iter().any(|pattern| texts.iter().any(|text| pattern == "*" || glob::matches(pattern, text, &[])))
    };
    // A cluster is matched as the spec writes it.
    let cluster: Vec<&str> =
        [destination.name.as_str(), destination.server.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
    let lists: [(&[String], bool); 3] = [
        (&window.applications, any(&window.applications, &[&app.metadata.name])),
        (&window.clusters, any(&window.clusters, &cluster)),
        (&window.namespaces, any(&window.namespaces, &[&destination.namespace])),
    ];
    let mut given = lists.iter().filter(|(list, _)| !list.is_empty()).map(|(_, matched)| *matched).peekable();
    if window.use_and_operator {
        given.peek().is_some() && given.all(|matched| matched)
    } else {
        given.any(|matched| matched)
    }
}
