//! Which application is looked at next.
//!
//! In:  requests from watches, timers and finished work.
//! Out: one application at a time per name, with the highest comparison level that was asked for.
//! Invariant: a request that arrives while the application is being worked on is kept for the next turn; none is lost.
//! Source: APP-049 to APP-051, APP-068 (`controller/appcontroller.go` `requestAppRefresh`).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::api::Application;
use crate::compare::Level;

/// Namespace and name of an Application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppKey {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl AppKey {
    /// The key of an Application.
    pub fn of(app: &Application) -> Self {
        Self { namespace: app.metadata.namespace.clone(), name: app.metadata.name.clone() }
    }
}

impl std::fmt::Display for AppKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Why a timer runs; a new timer of one purpose replaces the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// The comparison expires.
    Resync,
    /// An operation waits for its retry.
    Retry,
    /// Self-heal waits for its backoff.
    SelfHeal,
    /// An operation may exceed its time.
    Timeout,
    /// The grace period of a rendering error ends.
    Grace,
    /// Something failed and is tried again.
    Again,
    /// A webhook asked for a refresh that does not have to come at once.
    Webhook,
}

/// A request that waits: `None` only asks for a look.
type Wanted = Option<Level>;

#[derive(Default)]
struct Inner {
    wanted: HashMap<AppKey, Wanted>,
    ready: VecDeque<AppKey>,
    running: HashSet<AppKey>,
    timers: BTreeMap<(AppKey, Purpose), (Instant, Wanted)>,
    turns: u64,
}

/// The queue; clones share it.
#[derive(Clone, Default)]
pub struct Queue {
    inner: Rc<RefCell<Inner>>,
    wake: Rc<Notify>,
}

impl Queue {
    /// Asks for a look at an application, with a refresh of at least `level` where one is given.
    pub fn add(&self, key: &AppKey, level: Option<Level>) {
        self.inner.borrow_mut().add(key, level);
        self.wake.notify_one();
    }

    /// The same after a delay.
    pub fn add_after(&self, key: &AppKey, level: Option<Level>, purpose: Purpose, delay: Duration) {
        self.inner.borrow_mut().timers.insert((key.clone(), purpose), (Instant::now() + delay, level));
        self.wake.notify_one();
    }

    /// The same, but an earlier timer of the purpose stays: however often it is asked for, the time comes.
    pub fn add_within(&self, key: &AppKey, level: Option<Level>, purpose: Purpose, delay: Duration) {
        let at = Instant::now() + delay;
        let mut inner = self.inner.borrow_mut();
        let timer = inner.timers.entry((key.clone(), purpose)).or_insert((at, level));
        *timer = (timer.0.min(at), timer.1.max(level));
        drop(inner);
        self.wake.notify_one();
    }

    /// Applications for which a refresh of at least `level` was asked for and did not begin yet.
    pub fn still_due(&self, level: Level) -> Vec<AppKey> {
        let inner = self.inner.borrow();
        let is_due = |wanted: &Wanted| wanted.is_some_and(|wanted| wanted >= level);
        let waiting = inner.wanted.iter().filter(|(_, wanted)| is_due(wanted)).map(|(key, _)| key);
        let timed =
            inner.timers.iter().filter(|((_, purpose), (_, wanted))| *purpose == Purpose::Webhook && is_due(wanted));
        let mut keys: Vec<AppKey> = waiting.chain(timed.map(|((key, _), _)| key)).cloned().collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Forgets an application's timers.
    pub fn forget(&self, key: &AppKey) {
        self.inner.borrow_mut().timers.retain(|(owner, _), _| owner != key);
    }

    /// The next application that is admitted, with what it was admitted on; [`Queue::done`] must follow, after which
    /// those that were refused are looked at again.
    pub async fn next<T>(&self, admit: impl Fn(&AppKey) -> Option<T>) -> (AppKey, Option<Level>, T) {
        loop {
            let deadline = {
                let mut inner = self.inner.borrow_mut();
                inner.ring(Instant::now());
                if let Some(next) = inner.take(&admit) {
                    return next;
                }
                inner.timers.values().map(|(at, _)| *at).min()
            };
            match deadline {
                Some(at) => {
                    let _ = tokio::time::timeout_at(at, self.wake.notified()).await;
                }
                None => self.wake.notified().await,
            }
        }
    }

    /// The application's turn is over.
    pub fn done(&self, key: &AppKey) {
        let mut inner = self.inner.borrow_mut();
        inner.running.remove(key);
        inner.turns += 1;
        if inner.wanted.contains_key(key) {
            inner.ready.push_back(key.clone());
        }
        drop(inner);
        self.wake.notify_one();
    }

    /// Turns that were finished so far, when no application waits or runs.
    pub fn quiet_after(&self) -> Option<u64> {
        let inner = self.inner.borrow();
        (inner.wanted.is_empty() && inner.running.is_empty()).then_some(inner.turns)
    }
}

impl Inner {
    fn add(&mut self, key: &AppKey, level: Wanted) {
        match self.wanted.get_mut(key) {
            Some(known) => *known = (*known).max(level),
            None => {
                self.wanted.insert(key.clone(), level);
                if !self.running.contains(key) {
                    self.ready.push_back(key.clone());
                }
            }
        }
    }

    fn ring(&mut self, now: Instant) {
        let due: Vec<(AppKey, Purpose)> =
            self.timers.iter().filter(|(_, (at, _))| *at <= now).map(|(key, _)| key.clone()).collect();
        for timer in due {
            if let Some((_, level)) = self.timers.remove(&timer) {
                self.add(&timer.0, level);
            }
        }
    }

    fn take<T>(&mut self, admit: impl Fn(&AppKey) -> Option<T>) -> Option<(AppKey, Wanted, T)> {
        let (at, on) = self.ready.iter().enumerate().find_map(|(at, key)| Some((at, admit(key)?)))?;
        let key = self.ready.remove(at)?;
        let level = self.wanted.remove(&key).flatten();
        self.running.insert(key.clone());
        Some((key, level, on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> AppKey {
        AppKey { namespace: "argocd".to_owned(), name: name.to_owned() }
    }

    #[tokio::test]
    async fn highest_level_wins_and_a_request_during_work_is_kept() {
        let queue = Queue::default();
        queue.add(&key("a"), None);
        queue.add(&key("a"), Some(Level::Latest));
        queue.add(&key("a"), Some(Level::Recent));
        let next = || queue.next(|_| Some(()));
        assert_eq!(next().await, (key("a"), Some(Level::Latest), ()));
        queue.add(&key("a"), Some(Level::Recent));
        queue.add(&key("b"), None);
        assert_eq!(next().await.0, key("b"), "an application is worked on by one task only");
        queue.done(&key("a"));
        assert_eq!(next().await, (key("a"), Some(Level::Recent), ()));
    }

    #[tokio::test]
    async fn who_is_not_admitted_holds_up_nobody_and_comes_when_another_is_done() {
        let queue = Queue::default();
        queue.add(&key("a"), None);
        queue.add(&key("b"), None);
        assert_eq!(queue.next(|app| (app.name == "b").then_some(1)).await, (key("b"), None, 1));
        let free = std::cell::Cell::new(false);
        let waits = queue.next(|_| free.get().then_some(2));
        let done = async {
            tokio::task::yield_now().await;
            free.set(true);
            queue.done(&key("b"));
        };
        assert_eq!(tokio::join!(waits, done).0, (key("a"), None, 2));
    }

    #[tokio::test]
    async fn a_timer_of_one_purpose_replaces_the_earlier_one() {
        let queue = Queue::default();
        let start = Instant::now();
        queue.add_after(&key("a"), None, Purpose::Resync, Duration::from_millis(20));
        queue.add_after(&key("a"), Some(Level::Latest), Purpose::Resync, Duration::from_millis(150));
        assert_eq!(queue.next(|_| Some(())).await, (key("a"), Some(Level::Latest), ()));
        assert!(start.elapsed() >= Duration::from_millis(150));
    }
}
