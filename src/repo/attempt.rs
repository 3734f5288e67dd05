//! One attempt to get something from a server.
//!
//! In:  when it began.
//! Out: whether its failure answers somebody who asks now.

use std::time::{Duration, Instant};

/// When an attempt began and when it ended.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// When it began.
    pub begun: Instant,
    /// When it ended.
    pub ended: Instant,
}

impl Attempt {
    /// An attempt that ends now.
    pub fn since(begun: Instant) -> Self {
        Self { begun, ended: Instant::now() }
    }

    /// How long it took.
    pub fn took(self) -> Duration {
        self.ended - self.begun
    }

    /// Whether its failure answers a caller: the attempt began after the caller asked, or ended no longer before than it took.
    /// So whoever asks for things that fail slowly waits at most half of the time.
    pub fn answers(self, asked: Instant) -> bool {
        self.begun >= asked || self.ended + self.took() > asked
    }
}
