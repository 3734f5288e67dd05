//! What goes wrong between litecd and the API server, and from which write on.
//!
//! In:  one write after the other.  Out: what happens to it.
//! Invariant: a fault begins at the first write of a part of the sync, and passes by itself.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use http::Method;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::proxy::{At, Write};

/// How many writes a fault strikes.
const WRITES: usize = 3;

/// How late requests are, and for how long.
const LATENCY: Duration = Duration::from_secs(2);
const SLOW_FOR: Duration = Duration::from_secs(16);

/// A part of the sync of `corpus/crash/all-phases`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The hook before it.
    PreSync,
    /// Objects that are created or changed.
    Wave,
    /// Objects that have left Git.
    Prune,
    /// The hook behind it.
    PostSync,
}

impl Part {
    /// Every part, in order.
    pub const ALL: [Self; 4] = [Self::PreSync, Self::Wave, Self::Prune, Self::PostSync];

    /// Its name in verdicts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreSync => "presync",
            Self::Wave => "wave",
            Self::Prune => "prune",
            Self::PostSync => "postsync",
        }
    }

    /// Whether a write belongs to it.
    pub(super) fn holds(self, write: &Write) -> bool {
        let objects = ["/configmaps", "/secrets", "/deployments"];
        let is_object = write.path.contains("/namespaces/demo-phases/")
            && objects.iter().any(|plural| write.path.contains(plural))
            && !write.path.contains("dryRun");
        match self {
            Self::PreSync => write.is_about("Job", "before"),
            Self::PostSync => write.is_about("Job", "behind"),
            Self::Wave => is_object && write.method != Method::DELETE,
            Self::Prune => is_object && write.method == Method::DELETE,
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harm {
    /// The API server is killed and started again.
    Restart,
    /// Every request takes two seconds longer.
    Latency,
    /// Writes are answered with a conflict.
    Conflict,
    /// Writes are answered with `429` and `Retry-After`.
    TooMany,
    /// Writes are answered with `500`.
    Internal,
    /// The connection breaks before the API server gets a write.
    ResetBefore,
    /// The connection breaks after the API server did what a write asks.
    ResetAfter,
}

impl Harm {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Restart,
        Self::Latency,
        Self::Conflict,
        Self::TooMany,
        Self::Internal,
        Self::ResetBefore,
        Self::ResetAfter,
    ];

    /// Its name in verdicts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "api-server-restart",
            Self::Latency => "latency",
            Self::Conflict => "409",
            Self::TooMany => "429",
            Self::Internal => "500",
            Self::ResetBefore => "reset-before",
            Self::ResetAfter => "reset-after",
        }
    }
}

/// A fault that waits for its write, goes on, or is over.
#[derive(Debug)]
pub(super) struct Fault {
    at: At,
    harm: Harm,
    since: Option<Instant>,
    struck: usize,
}

/// What happens to one write.
#[derive(Debug)]
pub(super) enum Blow {
    /// It comes late.
    Late(Duration),
    /// The API server does not get it, and this is the answer.
    Answer(Response),
    /// The connection breaks.
    Break {
        /// Whether the API server gets the write all the same.
        delivered: bool,
    },
}

impl Fault {
    pub(super) fn new(harm: Harm, part: Part) -> Self {
        Self { at: At::Part(part), harm, since: None, struck: 0 }
    }

    /// How many requests it has struck.
    pub(super) fn struck(&self) -> usize {
        self.struck
    }

    /// How late a request is, whatever it is.
    pub(super) fn delays(&mut self) -> Option<Duration> {
        let since = self.since.filter(|since| self.harm == Harm::Latency && since.elapsed() < SLOW_FOR)?;
        self.struck += usize::from(since.elapsed() < SLOW_FOR);
        Some(LATENCY)
    }

    /// What happens to a write, the one of that number.
    pub(super) fn blow(&mut self, count: usize, write: &Write) -> Option<Blow> {
        if self.since.is_none() && self.at.is_reached(count, write) {
            self.since = Some(Instant::now());
        }
        self.since?;
        if self.harm == Harm::Latency {
            return self.delays().map(Blow::Late);
        }
        // Events are not repeated, in litecd as in Argo CD; the fault is for what matters.
        if self.struck >= WRITES || write.path.contains("/events") {
            return None;
        }
        self.struck += 1;
        Some(match self.harm {
            Harm::Conflict => answer(409, "Conflict"),
            Harm::TooMany => answer(429, "TooManyRequests"),
            Harm::Internal => answer(500, "InternalError"),
            Harm::ResetBefore => Blow::Break { delivered: false },
            Harm::ResetAfter => Blow::Break { delivered: true },
            Harm::Restart | Harm::Latency => return None,
        })
    }
}

fn answer(code: u16, reason: &str) -> Blow {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "code": code,
        "message": format!("a fault that the test makes: {reason}"),
    });
    let mut response = Response::new(Body::from(status.to_string()));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    if code == 429 {
        response.headers_mut().insert(RETRY_AFTER, http::HeaderValue::from_static("1"));
    }
    Blow::Answer(response)
}
