//! Whether an action that failed is asked for again within its pass, and after what pause.
//!
//! In:  the action, its answer, how often it was asked before.  Out: a pause, or nothing when the answer stands.
//! Invariant: only actions are asked again whose repetition changes nothing more: those that read first what is there,
//! those that set what they set before, and deletions bound to a uid.  A creation that reads nothing first is not.
//!
//! Argo CD lets an operation fail at the first answer that is no success.  With no retry policy the sync stays undone after
//! an API server was restarted; with one, the hooks that ran already run again.

use std::time::Duration;

use super::io::{Action, Answer, FailureKind, Method};

/// Pauses in milliseconds while nobody answers: together as long as an API server takes to come back.
const UNTIL_REACHED: [u64; 8] = [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000];
/// Pauses after an answer that may be about this very moment, or about something that lasts.
const UNTIL_ACCEPTED: [u64; 4] = [500, 1000, 2000, 4000];

/// The pause before the action is asked for again; `asked` says how often it was asked again already.
pub fn pause(action: &Action, answer: &Answer, asked: usize) -> Option<Duration> {
    let pauses: &[u64] = match failure_of(answer)? {
        FailureKind::Unreachable if is_repeatable(action) => &UNTIL_REACHED,
        FailureKind::Internal if is_repeatable(action) => &UNTIL_ACCEPTED,
        // A conflict with a finalizer's version is the pass's own to solve: it has to read the object anew.
        FailureKind::Conflict if is_repeatable(action) && !matches!(action, Action::SetFinalizers { .. }) => {
            &UNTIL_ACCEPTED
        }
        _ => return None,
    };
    pauses.get(asked).copied().map(Duration::from_millis)
}

/// What the last answer means when it was asked for more than once: a deletion that finds nothing any more was done by
/// the request before, whose answer got lost.
pub fn settled(action: &Action, answer: Answer, asked: usize) -> Answer {
    let is_gone = failure_of(&answer) == Some(FailureKind::NotFound);
    if asked > 0 && is_gone && matches!(action, Action::Delete { .. }) { Answer::Done(Ok(())) } else { answer }
}

fn failure_of(answer: &Answer) -> Option<FailureKind> {
    match answer {
        Answer::Discovered(Err(failure))
        | Answer::Got(Err(failure))
        | Answer::Applied(Err(failure))
        | Answer::Done(Err(failure)) => Some(failure.kind),
        _ => None,
    }
}

fn is_repeatable(action: &Action) -> bool {
    match action {
        Action::Apply(apply) => matches!(apply.method, Method::ClientSide | Method::ServerSide),
        // Without a uid it could meet a namesake that somebody made in between.
        Action::Delete { object, .. } => !object.uid.is_empty(),
        Action::Discover(_)
        | Action::Get(_)
        | Action::SetFinalizers { .. }
        | Action::MigrateManagedFields { .. }
        | Action::Announce(_) => true,
        Action::WaitForCrd { .. } | Action::Sleep(_) => false,
    }
}
