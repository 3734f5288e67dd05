//! One turn of one application.
//!
//! In:  a name and the level that was asked for inside.
//! Out: at most one refresh and one pass of its operation or deletion.
//! Source: APP-049, APP-067, APP-158 (`controller/appcontroller.go`).

use std::rc::Rc;
use std::time::Duration;

use tracing::Instrument;

use super::context::Context;
use super::queue::{AppKey, Purpose};
use super::stores::StoredApp;
use super::turns::Turn;
use super::{deletion, operation, refresh};
use crate::api::names;
use crate::compare::{self, Level, Periods};

/// How soon a refresh is tried again that found no place.
const NO_PLACE: Duration = Duration::from_secs(1);

/// Works on one application.
pub async fn run(ctx: Rc<Context>, key: AppKey, requested: Option<Level>, turn: Turn) {
    let span = tracing::info_span!("reconcile", application = key.name, "app-namespace" = key.namespace);
    work(&ctx, (&key, requested), turn).instrument(span).await;
}

async fn work(ctx: &Rc<Context>, (key, requested): (&AppKey, Option<Level>), turn: Turn) {
    if ctx.permit().is_none() {
        return;
    }
    let Some(app) = load(ctx, key) else { return };
    if app.app.metadata.annotations.get(names::SKIP_RECONCILE).is_some_and(|value| is_true(value)) {
        return;
    }
    let periods = ctx.periods;
    // A refresh may wait for a Git server, so that what is in progress goes first.
    let is_pressing = is_pressing(&app);
    if is_pressing {
        next_step(ctx, &app).await;
    }
    let Some(app) = load(ctx, key) else { return };
    let due = compare::due(&app.app, periods, requested, ctx.now());
    if let Some(due) = due.filter(|_| requested.is_some() || !is_stuck(ctx, &app)) {
        let Some(_turn) = for_refresh(ctx, turn) else {
            return ctx.queue.add_after(key, requested, Purpose::Again, NO_PLACE);
        };
        let started = std::time::Instant::now();
        refresh::run(ctx, &app, &due).await;
        tracing::info!(level = ?due.level, took_ms = started.elapsed().as_millis(), "Reconciliation completed");
        // What the refresh wrote decides what comes next.
        let Some(app) = load(ctx, key) else { return };
        schedule_resync(ctx, &app, periods);
        if !is_pressing {
            next_step(ctx, &app).await;
        }
        return;
    }
    schedule_resync(ctx, &app, periods);
}

fn is_pressing(app: &StoredApp) -> bool {
    app.app.operation.is_some() || app.app.metadata.deletion_timestamp.is_some()
}

/// A turn in which a Git server may be waited for; the place for operations is given back.
fn for_refresh(ctx: &Context, turn: Turn) -> Option<Turn> {
    if !turn.is_for_operations {
        return Some(turn);
    }
    drop(turn);
    ctx.turns.take(false)
}

/// Whether an application that is being deleted has no project, and says so already. Its spec differs from what was
/// compared for as long as that holds, and every attempt at the deletion would begin with the same refresh.
fn is_stuck(ctx: &Context, app: &StoredApp) -> bool {
    let app = &app.app;
    app.metadata.deletion_timestamp.is_some()
        && !app.metadata.annotations.contains_key(names::REFRESH)
        && app.status.conditions.iter().any(|condition| condition.r#type == "InvalidSpecError")
        && super::projects::find(ctx, &ctx.config(), app).is_err()
}

/// Operations first; deletion waits until the operation is over (APP-158).
async fn next_step(ctx: &Rc<Context>, app: &StoredApp) {
    if app.app.operation.is_some() {
        operation::run(ctx, &app.key()).await;
    } else if app.app.metadata.deletion_timestamp.is_some() {
        deletion::run(ctx, app).await;
    }
}

fn load(ctx: &Context, key: &AppKey) -> Option<StoredApp> {
    match ctx.apps.get(key) {
        Ok(found) => found,
        Err(error) => {
            // One broken Application must not stop the others, and it cannot be given a status either.
            tracing::warn!(reason = %error, "Failed to read application");
            None
        }
    }
}

/// Comes back when the comparison expires, spread over the jitter so that a thousand do not come at once (APP-056).
fn schedule_resync(ctx: &Context, app: &StoredApp, periods: Periods) {
    let Some(period) = [periods.soft, periods.hard].into_iter().flatten().min() else { return };
    let left = compare::remaining(&app.app, period, ctx.now()).unwrap_or(period);
    let jitter = ctx.jitter(&app.app.metadata.uid);
    ctx.queue.add_after(&app.key(), None, Purpose::Resync, left + jitter);
}

/// As Go's `strconv.ParseBool`.
fn is_true(value: &str) -> bool {
    matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True")
}
