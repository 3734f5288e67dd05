//! What a script may still spend outside the interpreter, where no instruction looks at the clock.
//!
//! In:  steps that were made; the clock of the run.
//! Out: an error once the run is over.
//! Invariant: no more than [`STEPS`] steps pass between two looks at the clock.

use std::cell::Cell;
use std::sync::Arc;

/// Steps between two looks at the clock: some tens of microseconds.
const STEPS: usize = 4096;

/// The run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent;

/// Whether the run is over.
pub(super) type Expired = Arc<dyn Fn() -> bool + Send + Sync>;

/// The steps of one call.
pub(super) struct Budget {
    expired: Expired,
    left: Cell<usize>,
}

impl Budget {
    /// Looks at the clock with the first step, so that a run that is over gets nothing done.
    pub fn new(expired: &Expired) -> Self {
        Self { expired: expired.clone(), left: Cell::new(0) }
    }

    /// Pays for some steps.
    pub fn spend(&self, steps: usize) -> Result<(), Spent> {
        if let Some(left) = self.left.get().checked_sub(steps) {
            self.left.set(left);
            return Ok(());
        }
        self.left.set(STEPS);
        if (self.expired)() { Err(Spent) } else { Ok(()) }
    }
}
