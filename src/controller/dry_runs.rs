//! For which objects the API server answered that nothing would change, as digests.
//!
//! In:  per object a digest of all that the answer depends on.
//! Out: whether the answer still holds, so that the server is not asked again.
//! Invariant: sixteen bytes per object; no manifest and no answer is kept. An object that differs is not remembered: what
//! differs is shown, and for that it is asked for again.
//! Source: DIFF-118 to DIFF-120 (`util/argo/diff/diff.go` diffArrayCached). Settings are part of the digest here, which
//! Argo CD's cache does not notice.

use std::cell::RefCell;
use std::collections::HashMap;

use super::queue::AppKey;

/// Digest of the question to which the answer was "no change", by digest of the object's key.
pub type Unchanged = HashMap<u64, u64>;

/// Answers for all applications that compare by dry run.
#[derive(Debug, Default)]
pub struct DryRuns(RefCell<HashMap<AppKey, Unchanged>>);

impl DryRuns {
    /// What is known of an application's objects.
    pub fn of(&self, app: &AppKey) -> Unchanged {
        self.0.borrow().get(app).cloned().unwrap_or_default()
    }

    /// Keeps the answers of a comparison in place of those of the one before.
    pub fn keep(&self, app: &AppKey, unchanged: Unchanged) {
        if unchanged.is_empty() {
            return self.forget(app);
        }
        self.0.borrow_mut().insert(app.clone(), unchanged);
    }

    /// Forgets an application.
    pub fn forget(&self, app: &AppKey) {
        self.0.borrow_mut().remove(app);
    }
}
