//! The health that an application has when its operation ends.
//!
//! In:  the pairs of the operation's comparison, and what the live store holds after its writes.
//! Out: the health to store together with the end of the operation, where it is worse than what is stored.
//! Invariant: an operation never ends beside the health from before it: whoever reads `Succeeded` and `Healthy`
//! in one object reads both of the new revision. The health only gets worse here; refreshes make it better.
//! Source: HEALTH-055 (`controller/health.go`); Argo CD stores both apart, the health some moments later.

use super::comparison::Comparison;
use super::config::InForce;
use crate::api::{Application, ObjectExt};
use crate::compare::{self, Pair, Paired};
use crate::health::{self, Code};
use crate::watch::Lookup;

/// The health after an operation's writes, when it is worse than the stored one.
pub fn lowered_health(settings: &InForce, app: &Application, found: &Comparison) -> Option<Code> {
    let stored = Code::parse(&app.status.health.status)?;
    let destination = found.destination.as_ref()?;
    let lookup = |pair: &Pair| pair.object().map(|object| destination.live.lookup(&object.key()));
    let pairs = found.paired.pairs.iter().filter_map(|pair| after(pair, lookup(pair)?)).collect();
    let verdict = compare::assess(&compare::Inputs {
        app,
        paired: &Paired { pairs, hooks: Vec::new() },
        differences: None,
        failed: false,
        tracking: &settings.tracking,
        namespaced: &|_| None,
        permits: &|_, _, _| true,
        health: &|object| health::of(object, &settings.health).map_err(|error| error.to_string()),
        persist_health: false,
    });
    verdict.health.is_worse(stored).then_some(verdict.health)
}

/// A pair with its live object as it is known now; nothing when the object left the sources and is gone.
fn after(pair: &Pair, known: Lookup) -> Option<Pair> {
    let live = match known {
        Lookup::Kept(object) => Some(object),
        Lookup::Absent => None,
        // Not kept: the comparison's own look is the latest there is.
        Lookup::Foreign | Lookup::Unwatched => pair.live.clone(),
    };
    (pair.target.is_some() || live.is_some()).then(|| Pair { target: pair.target.clone(), live })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_written_last_counts_and_what_was_pruned_does_not() {
        let (old, new) = (json!({"metadata": {"generation": 1}}), json!({"metadata": {"generation": 2}}));
        let kept = Pair { target: Some(new.clone()), live: Some(old.clone()) };
        assert_eq!(after(&kept, Lookup::Kept(new.clone())).and_then(|pair| pair.live), Some(new));
        assert_eq!(after(&kept, Lookup::Foreign).and_then(|pair| pair.live), Some(old.clone()));
        assert!(after(&kept, Lookup::Absent).is_some_and(|pair| pair.live.is_none()));
        assert!(after(&Pair { target: None, live: Some(old) }, Lookup::Absent).is_none());
    }
}
