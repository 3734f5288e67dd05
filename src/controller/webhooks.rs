//! Receives webhooks and refreshes what they concern.
//!
//! In:  requests at `/api/webhook`.
//! Out: answers as Argo CD gives them; Applications put into the queue, ApplicationSets told to look again.
//! Invariant: an event that was answered 200 is acted on: it waits until Applications were listed, and refreshes that are
//! still due when litecd ends are left in the Applications' annotations.
//! Source: HOOK-001 to HOOK-022 (`util/webhook/webhook.go`, `applicationset/webhook/webhook.go`).

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body as Stream;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, watch};

use super::config::Config;
use super::context::Context;
use super::queue::Purpose;
use crate::api::appset::ApplicationSetSpec;
use crate::api::{ObjectExt, names};
use crate::cluster::{Error, Resource, Target};
use crate::compare::Level;
use crate::settings::WebhookLimits;
use crate::webhook::{self, Answer, Body, Endpoint, Event, Inbox, Secrets};

/// Bodies up to this size are read however many there are.
const SMALL: usize = 1 << 20;
/// Larger bodies that are read at once, lest their senders decide how much memory is used.
const LARGE_AT_ONCE: usize = 2;
/// How long a sender may take for its body.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a sender waits for the settings to be known; senders give up after ten seconds.
const START: Duration = Duration::from_secs(8);
/// Asks an ApplicationSet to look at its generators again.
const SET_REFRESH: &str = "argocd.argoproj.io/application-set-refresh";

/// What requests are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// What senders sign with.
    pub secrets: Secrets,
    /// Limits.
    pub limits: WebhookLimits,
}

impl Rules {
    /// The rules of the settings in force.
    pub fn of(config: &Config) -> Self {
        let limits = config.settings.as_ref().map(|settings| settings.webhook).unwrap_or_default();
        Self { secrets: config.webhook_secrets.clone(), limits }
    }
}

/// Events that wait to be acted on.
#[derive(Default)]
struct Mailbox {
    inbox: Mutex<Inbox>,
    told: Notify,
}

impl Mailbox {
    fn put(&self, event: Event) -> bool {
        let is_taken = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).put(event);
        self.told.notify_one();
        is_taken
    }

    async fn next(&self) -> Event {
        loop {
            let told = self.told.notified();
            let next = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
            match next {
                Some(event) => return event,
                None => told.await,
            }
        }
    }
}

/// Where events go; clones share it.
#[derive(Clone)]
pub struct Reception {
    rules: watch::Sender<Option<Rules>>,
    apps: Arc<Mailbox>,
    sets: Arc<Mailbox>,
    large: Arc<Semaphore>,
}

impl Default for Reception {
    fn default() -> Self {
        let large = Arc::new(Semaphore::new(LARGE_AT_ONCE));
        Self { rules: watch::channel(None).0, apps: Arc::default(), sets: Arc::default(), large }
    }
}

impl Reception {
    /// Puts the first rules in force; requests wait for them.
    pub fn open(&self, config: &Config) {
        self.rules.send_replace(Some(Rules::of(config)));
    }

    /// Puts other rules in force. Before all lists are complete, half of the secrets would be missing.
    pub fn follow(&self, config: &Config) {
        self.rules.send_if_modified(|known| match known {
            Some(known) => {
                *known = Rules::of(config);
                true
            }
            None => false,
        });
    }

    fn put(&self, endpoint: Endpoint, event: Event) -> bool {
        let for_apps = endpoint == Endpoint::ApplicationSets || self.apps.put(event.clone());
        let for_sets = endpoint == Endpoint::Applications || self.sets.put(event);
        for_apps && for_sets
    }
}

/// The route of webhooks at one endpoint.
pub fn router(reception: Reception, endpoint: Endpoint) -> Router {
    Router::new().route("/api/webhook", any(receive)).with_state((reception, endpoint))
}

async fn receive(State((reception, endpoint)): State<(Reception, Endpoint)>, request: Request) -> Response {
    let mut rules = reception.rules.subscribe();
    let known = tokio::time::timeout(START, rules.wait_for(Option::is_some)).await;
    let Some(rules) = known.ok().and_then(Result::ok).and_then(|rules| rules.clone()) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "litecd is starting\n").into_response();
    };
    let answer = judge(&reception, endpoint, &rules, request).await;
    tracing::debug!(code = answer.code, answer = answer.text, "Answered a webhook");
    let code = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::BAD_REQUEST);
    if answer.text.is_empty() {
        return code.into_response();
    }
    let headers = [("content-type", "text/plain; charset=utf-8"), ("x-content-type-options", "nosniff")];
    (code, headers, format!("{}\n", answer.text)).into_response()
}

async fn judge(reception: &Reception, endpoint: Endpoint, rules: &Rules, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let method = parts.method.as_str();
    let limit = rules.limits.max_payload;
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    let refused = |refusal: webhook::Refusal| {
        tracing::info!(reason = %refusal, "Refused a webhook");
        refusal.answer(endpoint, method, limit)
    };
    let claim = match webhook::claim(endpoint, &rules.secrets, method, &header) {
        Ok(claim) => claim,
        Err(refusal) => return refused(refusal),
    };
    let body = if claim.wants_body() { read(body, limit, &reception.large).await } else { None };
    match claim.read(body.as_deref().map_or(Body::Unreadable, Body::Whole)) {
        Err(refusal) => refused(refusal),
        Ok(None) => Answer::accepted(),
        Ok(Some(event)) => {
            if reception.put(endpoint, event) {
                Answer::accepted()
            } else {
                Answer::full()
            }
        }
    }
}

/// The whole body; `None` when it is too large, takes too long or breaks off.
async fn read(mut body: Stream, limit: u64, large: &Semaphore) -> Option<Vec<u8>> {
    let all = async {
        let (mut bytes, mut place) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.ok()?.into_data() else { continue };
            let length = bytes.len().saturating_add(data.len());
            if u64::try_from(length).ok()? > limit {
                return None;
            }
            if length > SMALL && place.is_none() {
                place = Some(large.acquire().await.ok()?);
            }
            bytes.extend_from_slice(&data);
        }
        Some(bytes)
    };
    tokio::time::timeout(PATIENCE, all).await.ok().flatten()
}

/// Acts on events about Applications.
pub async fn refresh_apps(ctx: Rc<Context>) {
    let delays = RandomState::new();
    loop {
        let event = ctx.webhooks.apps.next().await;
        let limits = Rules::of(&ctx.config()).limits;
        let mut count = 0;
        for (place, key) in ctx.apps.keys().into_iter().enumerate() {
            if place % 50 == 49 {
                tokio::task::yield_now().await;
            }
            let Ok(Some(stored)) = ctx.apps.get(&key) else { continue };
            if !webhook::concerns_app(&event, &stored.app) {
                continue;
            }
            count += 1;
            tracing::info!(application = key.name, namespace = key.namespace, "Refreshing an application on a webhook");
            let longest = u64::try_from(limits.jitter.as_millis()).unwrap_or(0);
            if count > limits.jitter_threshold && longest > 0 {
                let delay = Duration::from_millis(delays.hash_one(&key) % longest);
                ctx.queue.add_within(&key, Some(Level::LatestForceResolve), Purpose::Webhook, delay);
            } else {
                ctx.queue.add(&key, Some(Level::LatestForceResolve));
            }
        }
        tracing::debug!(?event, count, "Acted on a webhook");
    }
}

/// Acts on events about ApplicationSets.
pub async fn refresh_sets(ctx: Rc<Context>) {
    loop {
        let event = ctx.webhooks.sets.next().await;
        if let Err(error) = tell_sets(&ctx, &event).await {
            tracing::warn!(reason = %error, "Failed to refresh ApplicationSets on a webhook");
            if !matches!(error, Error::NotFound(_) | Error::Refused { .. }) {
                tokio::time::sleep(Duration::from_secs(3)).await;
                ctx.webhooks.sets.put(event);
            }
        }
    }
}

async fn tell_sets(ctx: &Context, event: &Event) -> Result<(), Error> {
    let sets = Resource {
        group: names::GROUP.to_owned(),
        version: "v1alpha1".to_owned(),
        kind: "ApplicationSet".to_owned(),
        plural: "applicationsets".to_owned(),
        namespaced: true,
        ..Resource::default()
    };
    let list = ctx.cluster.list(&sets, Some(&ctx.namespace), "").await?;
    for set in &list.items {
        let spec = serde_json::from_value::<ApplicationSetSpec>(set.get("spec").cloned().unwrap_or(Value::Null));
        if !spec.is_ok_and(|spec| webhook::concerns_set(event, &spec)) {
            continue;
        }
        let target = Target::new(&sets, set.namespace(), set.name());
        let patch = json!({"metadata": {"annotations": {SET_REFRESH: "true"}}});
        tracing::info!(applicationSet = set.name(), "Refreshing an ApplicationSet on a webhook");
        ctx.cluster.merge_patch(ctx.leave()?, &target, &patch, names::BINARY_MANAGER).await?;
    }
    Ok(())
}

/// Leaves refreshes that are still due to whoever works on the Applications next.
pub async fn leave_behind(ctx: &Context) {
    for key in ctx.queue.still_due(Level::LatestForceResolve) {
        let Ok(Some(stored)) = ctx.apps.get(&key) else { continue };
        let patch = json!({"metadata": {"annotations": {names::REFRESH: "normal"}}});
        if let Err(error) = ctx.patch_app(&stored, &patch).await {
            tracing::warn!(application = key.name, reason = %error, "A refresh that was asked for is lost");
        }
    }
}
