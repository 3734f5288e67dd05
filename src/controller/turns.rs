//! How many applications are worked on at once: so many in refreshes, and so many besides in operations and deletions.
//!
//! In:  the numbers of the parameters, and whether an application has an operation or a deletion to get on with.
//! Out: a turn, held while the application is worked on.
//! Invariant: a refresh never holds a place for operations, so that Git servers that do not answer stop no sync and no
//! deletion of applications that do not need them.
//! Source: APP-049 (`controller/appcontroller.go` `Run`: a queue and workers of its own for each).

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::settings::Parameters;

/// The places.
pub struct Turns {
    refreshes: Places,
    operations: Places,
}

struct Places {
    free: Arc<Semaphore>,
    all: u32,
}

/// Permission to work on an application, until it is dropped.
pub struct Turn {
    /// Whether the place is one of those for operations and deletions, where nobody may wait for a Git server.
    pub is_for_operations: bool,
    _place: OwnedSemaphorePermit,
}

impl Turns {
    /// As many places as the parameters say, at least one of each kind.
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            refreshes: Places::new(parameters.status_processors),
            operations: Places::new(parameters.operation_processors),
        }
    }

    /// A turn for an application, where there is a place.
    pub fn take(&self, has_operation: bool) -> Option<Turn> {
        let turn = |place, is_for_operations| Turn { is_for_operations, _place: place };
        let operation = has_operation.then(|| self.operations.take()).flatten();
        operation.map(|place| turn(place, true)).or_else(|| self.refreshes.take().map(|place| turn(place, false)))
    }

    /// Waits until nobody has a turn.
    pub async fn all_over(&self) {
        for places in [&self.refreshes, &self.operations] {
            let _ = places.free.acquire_many(places.all).await;
        }
    }
}

impl Places {
    fn new(count: usize) -> Self {
        let all = u32::try_from(count.max(1)).unwrap_or(u32::MAX).min(1 << 16);
        Self { free: Arc::new(Semaphore::new(usize::try_from(all).unwrap_or(1))), all }
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_leave_the_places_of_operations_free() {
        let parameters = Parameters { status_processors: 2, operation_processors: 1, ..Parameters::default() };
        let turns = Turns::new(&parameters);
        let hung = [turns.take(false), turns.take(false)];
        let kind = |turn: &Option<Turn>| turn.as_ref().map(|turn| turn.is_for_operations);
        assert_eq!(hung.each_ref().map(kind), [Some(false), Some(false)]);
        assert!(turns.take(false).is_none());
        let first = turns.take(true);
        assert_eq!(kind(&first), Some(true));
        assert!(turns.take(true).is_none());
        drop(hung);
        assert_eq!(kind(&turns.take(true)), Some(false), "an operation may use a place for anything");
    }
}
