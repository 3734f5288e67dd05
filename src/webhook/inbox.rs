//! Events that wait.
//!
//! In:  events as they arrive.
//! Out: one after another, each once.
//! Invariant: none is lost; what waits is bounded, because pushes of one branch become one that tells of all their files.
//! Source: HOOK-006 (`util/webhook/webhook.go` `payloadQueueSize`).

use std::collections::VecDeque;

use super::{Event, Push};

/// Events that may wait, as in Argo CD.
const LONGEST: usize = 50_000;
/// File names that may wait in all; beyond that an event counts as one that names none, and so concerns every path.
const MOST_FILES: usize = 100_000;

/// Events that wait.
#[derive(Debug, Default)]
pub struct Inbox {
    waiting: VecDeque<Event>,
    files: usize,
}

impl Inbox {
    /// Takes an event in; false when too many wait.
    pub fn put(&mut self, event: Event) -> bool {
        if let Event::Push(push) = &event
            && let Some(known) = self.waiting.iter_mut().find_map(|known| same_branch(known, push))
        {
            self.files -= known.files.len();
            known.files = if known.files.is_empty() || push.files.is_empty() {
                Vec::new()
            } else {
                let mut all: Vec<String> = known.files.drain(..).chain(push.files.iter().cloned()).collect();
                all.sort_unstable();
                all.dedup();
                if self.files + all.len() > MOST_FILES { Vec::new() } else { all }
            };
            self.files += known.files.len();
            return true;
        }
        if self.waiting.contains(&event) {
            return true;
        }
        if self.waiting.len() >= LONGEST {
            return false;
        }
        let event = match event {
            Event::Push(push) if self.files + push.files.len() > MOST_FILES => {
                Event::Push(Push { files: Vec::new(), ..push })
            }
            event => event,
        };
        if let Event::Push(push) = &event {
            self.files += push.files.len();
        }
        self.waiting.push_back(event);
        true
    }

    /// The event that waited longest.
    pub fn take(&mut self) -> Option<Event> {
        let event = self.waiting.pop_front()?;
        if let Event::Push(push) = &event {
            self.files -= push.files.len();
        }
        Some(event)
    }
}

fn same_branch<'a>(known: &'a mut Event, push: &Push) -> Option<&'a mut Push> {
    let Event::Push(known) = known else { return None };
    let same = known.urls == push.urls
        && known.revision == push.revision
        && known.touched_head == push.touched_head
        && known.not_for_sets == push.not_for_sets;
    same.then_some(known)
}
