//! How a pass asks for IO without doing any: a mailbox between straight-line code and its executor.
//!
//! In:  answers, in the order of the actions they belong to.
//! Out: actions.
//! Invariant: code after an `ask` runs only when every action of the group was answered; an answer that is missing or
//! of the wrong kind reads as a failure, never as success or absence.
//! Source: SYNC-026, SYNC-055, SYNC-082, SYNC-154, SYNC-206 (`gitops-engine/pkg/sync/sync_context.go`).

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;

use super::options::Propagation;
use crate::api::{GroupVersionKind, ObjectExt};

/// Names one object; the executor drops the namespace for cluster-scoped kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    /// Group, version and kind.
    pub gvk: GroupVersionKind,
    /// Namespace; may be filled in for cluster-scoped kinds (SYNC-061).
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Unique id of the object that was seen, empty when none was. Deletions should carry it as a precondition, so that
    /// a different object that took the name since is not deleted.
    pub uid: String,
}

impl ObjectRef {
    /// The object as it was seen in the cluster.
    pub fn live(object: &Value) -> Self {
        Self { uid: object.uid().to_owned(), ..Self::target(object) }
    }
    /// The object as it is wanted.
    pub fn target(object: &Value) -> Self {
        Self {
            gvk: object.gvk(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: String::new(),
        }
    }
}

/// How an object is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Client-side apply (three-way merge).
    ClientSide,
    /// Server-side apply with forced conflicts.
    ServerSide,
    /// Plain creation.
    Create,
    /// `kubectl replace`.
    Replace,
    /// PUT with this resource version; for CRDs and Namespaces, which a replacement must never delete (SYNC-200).
    Update {
        /// Resource version of the live object.
        resource_version: String,
    },
}

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub struct Apply {
    /// The wanted object.
    pub object: Arc<Value>,
    /// How it is written.
    pub method: Method,
    /// Client-side dry run: nothing is sent that changes the cluster.
    pub dry_run: bool,
    /// Deletes and recreates what cannot be patched or replaced.
    pub force: bool,
    /// Validates against the schema.
    pub validate: bool,
}

/// One thing the executor is asked to do. Actions of one group may run concurrently, in any order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Finds a kind with verb `get`; 401 is retried by the executor (SYNC-055). Answer: [`Answer::Discovered`].
    Discover(GroupVersionKind),
    /// Reads one object from the API server. Answer: [`Answer::Got`].
    Get(ObjectRef),
    /// Writes one object. Answer: [`Answer::Applied`].
    Apply(Apply),
    /// Deletes one object. Answer: [`Answer::Done`].
    Delete {
        /// What is deleted.
        object: ObjectRef,
        /// What happens to owned objects.
        propagation: Propagation,
    },
    /// Sets `metadata.finalizers`, provided the object still has this resource version (else
    /// [`FailureKind::Conflict`]). Answer: [`Answer::Done`].
    SetFinalizers {
        /// What is changed.
        object: ObjectRef,
        /// The whole list.
        finalizers: Vec<String>,
        /// Resource version the list was read at.
        resource_version: String,
    },
    /// Moves the fields that `manager` owns by `Update` to server-side apply. Answer: [`Answer::Done`].
    MigrateManagedFields {
        /// What is changed.
        object: ObjectRef,
        /// Field manager whose fields are taken over.
        manager: String,
    },
    /// Waits up to 3 s until the CRD is established; failures are only logged (SYNC-082). Answer: [`Answer::Done`].
    WaitForCrd {
        /// Name of the CRD.
        name: String,
    },
    /// Stores this message as the operation's before going on; a process that takes over reads it. Answer:
    /// [`Answer::Done`].
    Announce(String),
    /// Pauses between waves (SYNC-040). Answer: [`Answer::Done`].
    Sleep(Duration),
}

/// Why an action failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The API server knows no such object or kind (404).
    NotFound,
    /// The object changed meanwhile (409).
    Conflict,
    /// Nobody answered, or not now (429, 502, 503, 504); whether the request was carried out is unknown.
    Unreachable,
    /// The API server failed at it (another 5xx).
    Internal,
    /// Anything else.
    Other,
}

/// A failed action: what it was, and the text as kubectl or the API server words it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Class of the failure.
    pub kind: FailureKind,
    /// The bare text; the pass adds what surrounds it.
    pub message: String,
}

impl Failure {
    /// A failure of no particular class.
    pub fn other(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Other, message: message.into() }
    }
    /// Nothing found.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::NotFound, message: message.into() }
    }
    /// Changed meanwhile.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Conflict, message: message.into() }
    }
    fn unanswered() -> Self {
        Self::other("the action was not carried out")
    }
}

/// What discovery says about a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To [`Action::Discover`].
    Discovered(Result<Scope, Failure>),
    /// To [`Action::Get`]; absence is [`FailureKind::NotFound`].
    Got(Result<Value, Failure>),
    /// To [`Action::Apply`]: kubectl's text, such as `configmap/web created` (unused for [`Method::Update`]).
    Applied(Result<String, Failure>),
    /// To everything else.
    Done(Result<(), Failure>),
}

impl Answer {
    pub(super) fn discovered(self) -> Result<Scope, Failure> {
        match self {
            Self::Discovered(result) => result,
            _ => Err(Failure::unanswered()),
        }
    }
    pub(super) fn got(self) -> Result<Value, Failure> {
        match self {
            Self::Got(result) => result,
            _ => Err(Failure::unanswered()),
        }
    }
    pub(super) fn applied(self) -> Result<String, Failure> {
        match self {
            Self::Applied(result) => result,
            _ => Err(Failure::unanswered()),
        }
    }
    pub(super) fn done(self) -> Result<(), Failure> {
        match self {
            Self::Done(result) => result,
            _ => Err(Failure::unanswered()),
        }
    }
}

#[derive(Debug, Default)]
struct Slots {
    asked: Option<Vec<Action>>,
    awaited: usize,
    answers: Option<Vec<Answer>>,
}

/// Shared by the pass's code and by [`super::Pass`].
#[derive(Debug, Clone, Default)]
pub(super) struct Mailbox(Arc<Mutex<Slots>>);

impl Mailbox {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Suspends until the group was carried out; one answer per action, in the same order.
    pub(super) async fn ask(&self, actions: Vec<Action>) -> Vec<Answer> {
        if actions.is_empty() {
            return Vec::new();
        }
        {
            let mut slots = self.slots();
            slots.awaited = actions.len();
            slots.asked = Some(actions);
        }
        poll_fn(|_| self.slots().answers.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Takes the group that waits to be carried out.
    pub(super) fn take_actions(&self) -> Vec<Action> {
        self.slots().asked.take().unwrap_or_default()
    }

    /// Hands answers in; without an open group they are dropped.
    pub(super) fn deliver(&self, mut answers: Vec<Answer>) {
        let mut slots = self.slots();
        if slots.awaited == 0 {
            return;
        }
        answers.resize_with(slots.awaited, || Answer::Done(Err(Failure::unanswered())));
        slots.awaited = 0;
        slots.answers = Some(answers);
    }
}
