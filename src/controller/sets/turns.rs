//! Hands out turns to sets: so many at once, one per set, and none lost to a panic.
//!
//! In:  the queue of sets.
//! Out: one look after another; a set that failed is looked at again, ever later.
//! Source: SET-080, SET-093 (controller-runtime's queue: 5 ms doubled with each failure, up to 1000 s).

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::Semaphore;

use super::reconcile;
use crate::controller::context::Context;
use crate::controller::queue::{AppKey, Purpose};

/// How a look at a set ended.
pub enum End {
    /// Well: it is looked at again after this time, where there is one, and otherwise for a reason.
    Again(Option<Duration>),
    /// Something failed that may go better.
    Failed,
}

/// The first pause after a failure. Argo CD begins with 5 ms, which no failure outlasts.
const FIRST: Duration = Duration::from_millis(250);
/// The longest.
const LONGEST: Duration = Duration::from_secs(1000);

/// Works on sets for ever.
pub async fn hand_out(ctx: Rc<Context>) {
    let places = Arc::new(Semaphore::new(ctx.parameters.application_sets.reconciliations.clamp(1, 1 << 16)));
    loop {
        let admit = |_: &AppKey| places.clone().try_acquire_owned().ok();
        let (key, _, place) = ctx.sets.queue.next(admit).await;
        let ctx = ctx.clone();
        tokio::task::spawn_local(async move {
            let work = AssertUnwindSafe(reconcile::run(ctx.clone(), key.clone())).catch_unwind();
            let end = work.await.unwrap_or_else(|panic| {
                let reason = crate::controller::run::panic_text(&*panic);
                tracing::error!(applicationset = key.name, reason, "Recovered from panic");
                End::Failed
            });
            come_back(&ctx, &key, end);
            drop(place);
            ctx.sets.queue.done(&key);
        });
    }
}

fn come_back(ctx: &Context, key: &AppKey, end: End) {
    let mut failures = ctx.sets.failures.borrow_mut();
    match end {
        End::Again(after) => {
            failures.remove(key);
            if let Some(after) = after {
                ctx.sets.queue.add_after(key, None, Purpose::Resync, after);
            }
        }
        End::Failed => {
            let count = failures.entry(key.clone()).or_default();
            *count = count.saturating_add(1);
            ctx.sets.queue.add_after(key, None, Purpose::Again, pause(*count));
        }
    }
}

/// The pause after so many failures in a row.
fn pause(failures: u32) -> Duration {
    FIRST.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let pauses = [1, 2, 3, 13, u32::MAX].map(pause);
        assert_eq!(pauses.map(|pause| pause.as_millis()), [250, 500, 1000, 1_000_000, 1_000_000]);
    }
}
