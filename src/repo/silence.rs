//! Hosts that do not answer.
//!
//! In:  which requests ran into their time limit, and which were answered.
//! Out: whether a host is left alone for a while.
//! Invariant: one repository that is slow says nothing about its host: only when a second one got no answer either, and none
//! got one in between, is the host left alone, and then for as long as finding out took. After that one request tries again.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Repositories of one host that must go unanswered.
const WITNESSES: usize = 2;

/// What is known about hosts that did not answer.
#[derive(Debug, Default)]
pub struct Silence(Mutex<HashMap<String, Host>>);

#[derive(Debug)]
struct Host {
    unanswered: HashSet<String>,
    until: Instant,
    took: Duration,
}

impl Silence {
    /// Whether the host is left alone at this time. Who is told no after a silence is the one that tries.
    pub fn is_silent(&self, host: &str, now: Instant) -> bool {
        let mut hosts = self.lock();
        let Some(host) = hosts.get_mut(host).filter(|host| host.unanswered.len() >= WITNESSES) else { return false };
        if host.until > now {
            return true;
        }
        host.until = now + host.took;
        false
    }

    /// A request for a repository got no answer within the time it was given.
    pub fn unanswered(&self, host: &str, url: &str, (now, took): (Instant, Duration)) {
        let mut hosts = self.lock();
        let host = hosts.entry(host.to_owned()).or_insert_with(|| Host {
            unanswered: HashSet::new(),
            until: now,
            took: Duration::ZERO,
        });
        host.unanswered.insert(url.to_owned());
        host.until = now + took;
        host.took = took;
    }

    /// The host answered, whatever it said.
    pub fn answered(&self, host: &str) {
        self.lock().remove(host);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Silence;
    use std::time::{Duration, Instant};

    #[test]
    fn a_host_is_left_alone_when_two_repositories_got_no_answer() {
        let (silence, start, took) = (Silence::default(), Instant::now(), Duration::from_secs(15));
        let at = |seconds| start + Duration::from_secs(seconds);
        silence.unanswered("h", "a", (at(15), took));
        silence.unanswered("h", "a", (at(30), took));
        assert!(!silence.is_silent("h", at(31)), "one slow repository is no dead host");
        silence.answered("h");
        silence.unanswered("h", "b", (at(46), took));
        assert!(!silence.is_silent("h", at(47)));
        silence.unanswered("h", "a", (at(61), took));
        assert!(silence.is_silent("h", at(62)) && !silence.is_silent("other", at(62)));
        assert!(!silence.is_silent("h", at(76)), "one request tries again");
        assert!(silence.is_silent("h", at(77)), "the others wait for it");
        silence.answered("h");
        assert!(!silence.is_silent("h", at(78)));
    }
}
