//! Judges live objects on arrival: whose they are, and what of them counts as a change.
//!
//! In:  the settings in force.
//! Out: a function for the live store.
//! Source: APP-063, APP-064, DIFF-097 to DIFF-099 (`controller/cache/cache.go` `skipResourceUpdate`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use serde_json::Value;

use super::clock;
use super::config::Config;
use crate::diff::Ignore;
use crate::health;
use crate::track;
use crate::watch::{Classify, Seen};

/// The classifier of these settings; without usable settings nothing is ours.
pub fn of(config: &Rc<Config>) -> Rc<Classify> {
    let config = config.clone();
    let rules = config.settings.as_ref().ok().and_then(|settings| settings.updates.as_ref());
    let ignore = rules.and_then(|rules| Ignore::new(&[], &rules.ignore, clock::jq_timer()).ok());
    Rc::new(move |object: &Value| {
        let Ok(settings) = &config.settings else { return Seen::Foreign };
        let Some(owner) = track::owner(object, &settings.tracking) else { return Seen::Foreign };
        let mut hasher = DefaultHasher::new();
        match &ignore {
            Some(ignore) => ignore.apply(object.clone()).to_string().hash(&mut hasher),
            // The filter is off: every version counts.
            None => object.to_string().hash(&mut hasher),
        }
        // A message alone changes nothing that the application shows.
        health::of(object, &settings.health).ok().flatten().map(|health| health.status.as_str()).hash(&mut hasher);
        Seen::Ours { owner, digest: hasher.finish() }
    })
}
