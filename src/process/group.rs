//! The process group of one child.
//!
//! In:  a child that was started as the leader of a new group.
//! Out: signals to the whole group.
//! Invariant: dropping the value while the child may still run kills the group.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

/// A child's process group, killed on drop unless [`Group::finished`] was called.
pub struct Group {
    leader: Option<Pid>,
    done: AtomicBool,
}

impl Group {
    /// The group of a child that leads it.
    pub fn of(child: &tokio::process::Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader, done: AtomicBool::new(false) }
    }
    /// Asks the group to end.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }
    /// Kills the group; later calls do nothing because the number may be taken by then.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
        self.done.store(true, Ordering::Relaxed);
    }
    /// The leader ended by itself; what it left behind is not signalled.
    pub fn finished(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
    fn signal(&self, signal: Signal) {
        if let (Some(leader), false) = (self.leader, self.done.load(Ordering::Relaxed)) {
            // The group is gone when its last member ended: nothing is left to do then.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
