//! Renderings that failed: after a few failures the error is given without trying again.
//!
//! In:  keys of renderings and how they failed.
//! Out: the text to show instead of a new attempt.
//! Invariant: only failures after the files were there count: a repository that cannot be reached is always tried again.
//! Source: REND-218 to REND-221 (`reposerver/repository/repository.go` `getManifestCacheEntry`).

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// When rendering is no longer tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Failures after which a rendering is not tried again; zero tries always.
    pub after: u32,
    /// How long, from the first failure on; zero for ever.
    pub time: Duration,
    /// How many times the error is given without trying; zero is no limit.
    pub answers: u32,
}

impl Default for Pause {
    fn default() -> Self {
        Self { after: 3, time: Duration::from_secs(3600), answers: 0 }
    }
}

/// Old revisions never come back; a few thousand texts are the most that is kept.
const MOST: usize = 2000;

struct Failed {
    count: u32,
    answers: u32,
    first: Instant,
    text: String,
}

/// Renderings that failed, by key.
pub struct Failures {
    pause: Pause,
    failed: HashMap<String, Failed>,
}

impl Failures {
    /// Nothing has failed yet.
    pub fn new(pause: Pause) -> Self {
        Self { pause, failed: HashMap::new() }
    }

    /// A rendering failed.
    pub fn note(&mut self, key: &str, text: String) {
        if self.failed.len() > MOST {
            self.failed.clear();
        }
        let new = || Failed { count: 0, answers: 0, first: Instant::now(), text: String::new() };
        let failed = self.failed.entry(key.to_owned()).or_insert_with(new);
        failed.count += 1;
        failed.text = text;
    }

    /// A rendering succeeded.
    pub fn forget(&mut self, key: &str) {
        self.failed.remove(key);
    }

    /// A failure goes on under another key.
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(failed) = self.failed.remove(from) {
            self.failed.insert(to.to_owned(), failed);
        }
    }

    /// The error to give without trying, when there is one.
    pub fn recall(&mut self, key: &str) -> Option<String> {
        let Pause { after, time, answers } = self.pause;
        let failed = self.failed.get_mut(key)?;
        if after == 0 || failed.count < after {
            return None;
        }
        let is_over = !time.is_zero() && failed.first.elapsed() >= time || answers > 0 && failed.answers >= answers;
        if is_over {
            self.failed.remove(key);
            return None;
        }
        failed.answers += 1;
        Some(failed.text.clone())
    }
}
