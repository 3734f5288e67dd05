//! The feeds of some namespaces as one.
//!
//! In:  namespaces, and how the feed of one is opened.
//! Out: one stream of [`FeedEvent`]s.
//! Invariant: a list is complete when all of them are; when one begins anew, all do, because what is not seen of a list
//! counts as gone wherever it was.
//! Source: APP-228 (`gitops-engine/pkg/cache/cluster.go` `processApi`).

use futures::future::select_all;

use super::feed::{Feed, FeedEvent};

/// Feeds, and how far their lists are.
pub struct Joined<F> {
    places: Vec<String>,
    open: F,
    feeds: Vec<Feed>,
    round: Round,
}

impl<F: Fn(&str) -> Feed> Joined<F> {
    /// Opens all feeds; there is at least one place.
    pub fn new(places: &[String], open: F) -> Self {
        let feeds = places.iter().map(|place| open(place)).collect();
        Self { places: places.to_vec(), open, feeds, round: Round::new(places.len()) }
    }

    /// The next event.
    pub async fn next(&mut self) -> FeedEvent {
        loop {
            let (event, at, _) = select_all(self.feeds.iter_mut().map(|feed| Box::pin(feed.next()))).await;
            match self.round.take(at, &event) {
                Step::Pass => return event,
                Step::Swallow => {}
                Step::Anew => {
                    for (other, place) in self.places.iter().enumerate().filter(|(other, _)| *other != at) {
                        if let Some(feed) = self.feeds.get_mut(other) {
                            *feed = (self.open)(place);
                        }
                    }
                    return event;
                }
            }
        }
    }
}

/// What becomes of an event.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// It is handed on.
    Pass,
    /// It says nothing new.
    Swallow,
    /// It is handed on, and the other feeds begin again.
    Anew,
}

/// How far the list of one place is.
#[derive(Clone, Copy, Default)]
struct Place {
    begun: bool,
    seen: bool,
    listed: bool,
}

/// How far the lists of all places are.
struct Round(Vec<Place>);

impl Round {
    fn new(places: usize) -> Self {
        Self(vec![Place::default(); places])
    }

    fn take(&mut self, at: usize, event: &FeedEvent) -> Step {
        let is_first = self.0.iter().all(|place| !place.begun);
        let Some(place) = self.0.get_mut(at) else { return Step::Pass };
        match event {
            FeedEvent::Listing if place.seen || place.listed => {
                *self = Self::new(self.0.len());
                if let Some(place) = self.0.get_mut(at) {
                    place.begun = true;
                }
                Step::Anew
            }
            FeedEvent::Listing => {
                place.begun = true;
                if is_first { Step::Pass } else { Step::Swallow }
            }
            FeedEvent::Seen(_) => {
                place.seen = true;
                Step::Pass
            }
            FeedEvent::Listed => {
                place.listed = true;
                if self.0.iter().all(|place| place.listed) { Step::Pass } else { Step::Swallow }
            }
            FeedEvent::Gone(_) | FeedEvent::Failed(_) => Step::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FeedEvent, Round, Step};

    #[test]
    fn a_list_is_complete_when_all_are_and_begins_anew_for_all() {
        let mut round = Round::new(2);
        let steps = [
            (0, FeedEvent::Listing, Step::Pass),
            (1, FeedEvent::Listing, Step::Swallow),
            (0, FeedEvent::Listed, Step::Swallow),
            (1, FeedEvent::Failed("refused".to_owned()), Step::Pass),
            (1, FeedEvent::Listing, Step::Swallow),
            (1, FeedEvent::Listed, Step::Pass),
            (1, FeedEvent::Listing, Step::Anew),
            (0, FeedEvent::Listing, Step::Swallow),
            (1, FeedEvent::Listed, Step::Swallow),
            (0, FeedEvent::Listed, Step::Pass),
        ];
        for (number, (at, event, expect)) in steps.into_iter().enumerate() {
            assert_eq!(round.take(at, &event), expect, "step {number}");
        }
    }
}
