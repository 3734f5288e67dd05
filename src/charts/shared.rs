//! One attempt for all who want the same thing at the same time.
//!
//! In:  what one caller would do.
//! Out: the outcome, also of an attempt that another caller made meanwhile.
//! Invariant: whoever waited and finds an outcome that was begun after it asked takes it, also when it is a failure; so a dead
//! server costs one timeout, not one per application.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as AsyncMutex;

use super::error::Error;

/// The last attempt, and when it began; locked while one runs.
#[derive(Debug)]
pub struct Slot<T>(AsyncMutex<Option<(Instant, Result<T, Error>)>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(AsyncMutex::new(None))
    }
}

impl<T: Clone> Slot<T> {
    /// The outcome of an attempt that is at most `max_age` old, else of a new one, which is told what the last one found.
    pub async fn get<F>(&self, max_age: Duration, attempt: impl FnOnce(Option<T>) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        // An age that reaches back before the clock's beginning admits everything.
        let oldest = asked.checked_sub(max_age);
        match &*last {
            Some((begun, Ok(found))) if oldest.is_none_or(|oldest| *begun >= oldest) => return Ok(found.clone()),
            Some((begun, Err(error))) if *begun >= asked => return Err(error.clone()),
            _ => {}
        }
        let begun = Instant::now();
        let known = last.as_ref().and_then(|(_, outcome)| outcome.as_ref().ok().cloned());
        let outcome = attempt(known).await;
        *last = Some((begun, outcome.clone()));
        outcome
    }

    fn is_idle(&self) -> bool {
        self.0.try_lock().is_ok()
    }
}

/// Slots by what is wanted; the number of slots that nobody uses is bounded.
#[derive(Debug)]
pub struct Slots<K, T> {
    slots: Mutex<HashMap<K, Arc<Slot<T>>>>,
    most: usize,
}

impl<K: Hash + Eq + Clone, T: Clone> Slots<K, T> {
    /// Keeps at most about `most` slots.
    pub fn new(most: usize) -> Self {
        Self { slots: Mutex::default(), most }
    }

    /// The slot of a key.
    pub fn of(&self, key: &K) -> Arc<Slot<T>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= self.most && !slots.contains_key(key) {
            // What is forgotten is asked for again; what runs or is waited for stays.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1 || !slot.is_idle());
        }
        slots.entry(key.clone()).or_default().clone()
    }
}
