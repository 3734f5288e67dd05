//! Lists and watches one kind for as long as it is polled, and says what happened in plain words.
//!
//! In:  a client and a kind.
//! Out: a stream of [`FeedEvent`]s that never ends; lost connections are repaired with a growing delay.

use std::pin::Pin;

use futures::stream::{Stream, StreamExt};
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};

use super::Arrival;
use super::joined::Joined;
use crate::api::GroupVersionKind;

/// What a feed says.
#[derive(Debug)]
pub enum FeedEvent {
    /// A list begins; what is not seen before [`FeedEvent::Listed`] is gone.
    Listing,
    /// An object exists.
    Seen(Arrival),
    /// The list is complete.
    Listed,
    /// An object is gone.
    Gone(Arrival),
    /// Listing or watching failed and is tried again; the text is the API server's.
    Failed(String),
}

/// The stream of one kind.
pub struct Feed(Pin<Box<dyn Stream<Item = FeedEvent>>>);

impl Feed {
    /// Watches a kind, in one namespace or in all.
    pub fn new(client: kube::Client, gvk: &GroupVersionKind, plural: &str, scope: Option<&str>) -> Self {
        Self::selected(client, gvk, plural, Selection { namespace: scope, ..Selection::default() })
    }

    /// Watches a kind in some namespaces; in all when none is named.
    pub fn of_places(client: &kube::Client, gvk: &GroupVersionKind, plural: &str, places: &[String]) -> Self {
        if places.is_empty() {
            return Self::new(client.clone(), gvk, plural, None);
        }
        let (client, gvk, plural) = (client.clone(), gvk.clone(), plural.to_owned());
        let joined = Joined::new(places, move |place| Self::new(client.clone(), &gvk, &plural, Some(place)));
        let stream = futures::stream::unfold(joined, async |mut joined| Some((joined.next().await, joined)));
        Self(Box::pin(stream))
    }

    /// Watches the part of a kind that a selection names.
    pub fn selected(client: kube::Client, gvk: &GroupVersionKind, plural: &str, selection: Selection<'_>) -> Self {
        let resource = resource(gvk, plural);
        let api: kube::Api<Arrival> = match selection.namespace {
            Some(namespace) => kube::Api::namespaced_with(client, namespace, &resource),
            None => kube::Api::all_with(client, &resource),
        };
        // Small pages: a page stands in memory whole while it is read.
        let mut config = watcher::Config::default().page_size(100);
        if let Some(labels) = selection.labels {
            config = config.labels(labels);
        }
        if let Some(name) = selection.name {
            config = config.fields(&format!("metadata.name={name}"));
        }
        let stream = watcher::watcher(api, config).default_backoff().map(|event| match event {
            Ok(Event::Init) => FeedEvent::Listing,
            Ok(Event::InitApply(object) | Event::Apply(object)) => FeedEvent::Seen(object),
            Ok(Event::InitDone) => FeedEvent::Listed,
            Ok(Event::Delete(object)) => FeedEvent::Gone(object),
            Err(error) => FeedEvent::Failed(plain(&error)),
        });
        Self(Box::pin(stream))
    }

    /// The next event.
    pub async fn next(&mut self) -> FeedEvent {
        match self.0.next().await {
            Some(event) => event,
            // The watcher's stream never ends; pending is the honest answer should that change.
            None => std::future::pending().await,
        }
    }
}

/// An object's metadata.
pub type Metadata = PartialObjectMeta<DynamicObject>;

/// Metadata is small, so its pages can be larger than those of whole objects.
const METADATA_PAGE: u32 = 250;

/// Lists and watches the metadata of a kind in all namespaces; a stream that never ends.
pub fn metadata(
    client: kube::Client,
    gvk: &GroupVersionKind,
    plural: &str,
) -> impl Stream<Item = Result<Event<Metadata>, watcher::Error>> + use<> {
    let api: kube::Api<Metadata> = kube::Api::all_with(client, &resource(gvk, plural));
    watcher::watcher(api, watcher::Config::default().page_size(METADATA_PAGE)).default_backoff()
}

fn resource(gvk: &GroupVersionKind, plural: &str) -> ApiResource {
    ApiResource {
        group: gvk.group.clone(),
        version: gvk.version.clone(),
        api_version: gvk.api_version(),
        kind: gvk.kind.clone(),
        plural: plural.to_owned(),
    }
}

/// Which part of a kind is watched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// One namespace, or all.
    pub namespace: Option<&'a str>,
    /// Label selector.
    pub labels: Option<&'a str>,
    /// Name of the only object that is watched.
    pub name: Option<&'a str>,
}

fn plain(error: &watcher::Error) -> String {
    use kube::Error as Client;
    let (watcher::Error::InitialListFailed(inner)
    | watcher::Error::WatchStartFailed(inner)
    | watcher::Error::WatchFailed(inner)) = error
    else {
        return error.to_string();
    };
    match inner {
        Client::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}
