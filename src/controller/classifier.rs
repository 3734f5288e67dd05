//! Judges live objects on arrival: whose they are, and what of them counts as a change.
//!
//! In:  the settings in force.
//! Out: a judge for the live store.
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

/// The judge under these settings; without usable settings nothing is ours.
pub fn of(config: &Rc<Config>) -> Rc<dyn Classify> {
    let rules = config.settings.as_ref().ok().and_then(|settings| settings.updates.as_ref());
    let ignore = rules.and_then(|rules| Ignore::new(&[], &rules.ignore, clock::jq_timer()).ok());
    Rc::new(Classifier { config: config.clone(), ignore })
}

struct Classifier {
    config: Rc<Config>,
    /// Fields whose changes do not count; `None` when every version counts.
    ignore: Option<Ignore>,
}

impl Classify for Classifier {
    fn classify(&self, object: &Value) -> Seen {
        let Ok(settings) = &self.config.settings else { return Seen::Foreign };
        match track::owner(object, &settings.tracking) {
            Some(owner) => Seen::Ours { owner, digest: self.digest(object) },
            None => Seen::Foreign,
        }
    }

    fn digest(&self, object: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &self.ignore {
            Some(ignore) => ignore.apply(object.clone()).to_string().hash(&mut hasher),
            None => object.to_string().hash(&mut hasher),
        }
        // A message alone changes nothing that the application shows.
        if let Ok(settings) = &self.config.settings {
            health::of(object, &settings.health).ok().flatten().map(|health| health.status.as_str()).hash(&mut hasher);
        }
        hasher.finish()
    }
}
