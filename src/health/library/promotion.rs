//! GitOps Promoter: promotions from environment to environment.

use serde_json::Value;

use super::promoter::Words;
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{list, text};

/// How many commit statuses are in each phase, and the keys of those that did not pass.
struct Tally<'a> {
    pending: Vec<&'a str>,
    failed: Vec<&'a str>,
    passed: usize,
}

impl<'a> Tally<'a> {
    fn of(statuses: &'a [Value]) -> Self {
        let keys = |phase: &str| {
            let is_in = |status: &&Value| text(status, "phase") == phase;
            statuses.iter().filter(is_in).map(|status| text(status, "key")).collect::<Vec<_>>()
        };
        Self { pending: keys("pending"), failed: keys("failure"), passed: keys("success").len() }
    }

    fn is_clean(&self) -> bool {
        self.pending.is_empty() && self.failed.is_empty()
    }

    /// Counts and keys, ending with a blank as Argo CD writes them.
    fn words(&self) -> String {
        let mut words =
            format!("{} pending, {} successful, {} failed. ", self.pending.len(), self.passed, self.failed.len());
        for (name, keys) in [("Pending", &self.pending), ("Failed", &self.failed)] {
            if !keys.is_empty() {
                words = format!("{words}{name} commit statuses: {}. ", keys.join(", "));
            }
        }
        words
    }
}

/// The first seven characters of a commit.
fn short(sha: &str) -> &str {
    sha.get(..7).unwrap_or(sha)
}

pub(super) fn policy(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing change transfer policy",
        deleting: "Change transfer policy is being deleted.",
        finalizers: &[(
            "changetransferpolicy.promoter.argoproj.io/finalizer",
            "Waiting to clear related PullRequest finalizers and finish cleanup before this policy is removed.",
            "The 'changetransferpolicy.promoter.argoproj.io/pullrequest-finalizer' finalizer may not be cleaned up from \
             PullRequests owned by this ChangeTransferPolicy.",
        )],
        subject: "change transfer policy",
        failed: "Change transfer policy reconciliation failed",
        not_ready: "Change transfer policy reconciliation failed",
        unknown: None,
        missing: "Change transfer policy is not ready yet",
    };
    WORDS.unready(object).or_else(|| Some(policy_progress(object)))
}

fn policy_progress(object: &Value) -> Health {
    let active = text(object, "status.active.dry.sha");
    let proposed = text(object, "status.proposed.dry.sha");
    for (sha, name) in [(active, "active"), (proposed, "proposed")] {
        if sha.is_empty() {
            return Health::new(Progressing, format!("The {name} commit DRY SHA is missing or empty."));
        }
    }
    if active != proposed {
        let tally = Tally::of(list(object, "status.proposed.commitStatuses"));
        let (from, to) = (short(active), short(proposed));
        return Health::new(Progressing, format!("Promotion in progress from '{from}' to '{to}': {}", tally.words()));
    }
    let tally = Tally::of(list(object, "status.active.commitStatuses"));
    if tally.is_clean() {
        return Health::new(Healthy, format!("Environment is up-to-date on commit {}.", short(active)));
    }
    let text = "Environment is up-to-date, but there are non-successful active commit statuses: ";
    Health::new(Healthy, format!("{text}{}", tally.words()))
}

pub(super) fn strategy(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing promotion strategy",
        deleting: "Promotion strategy is being deleted",
        finalizers: &[],
        subject: "promotion strategy",
        failed: "Promotion strategy reconciliation failed",
        not_ready: "Promotion strategy reconciliation failed",
        unknown: None,
        missing: "Promotion strategy is not ready yet",
    };
    let environments = list(object, "status.environments");
    WORDS
        .unready(object)
        .or_else(|| unsettled(environments))
        .or_else(|| environments.iter().find_map(promoting))
        .or_else(|| settled(environments))
}

/// The commit that the hydrator last worked on: its note, else the proposed one.
fn processed(environment: &Value) -> &str {
    match text(environment, "proposed.note.drySha") {
        "" => text(environment, "proposed.dry.sha"),
        note => note,
    }
}

/// The health while it is not known which commits environments run and should run.
fn unsettled(environments: &[Value]) -> Option<Health> {
    let Some(first) = environments.first() else {
        return Some(Health::new(Degraded, "Promotion strategy has no environments configured"));
    };
    for environment in environments {
        for (sha, name) in [(text(environment, "active.dry.sha"), "active"), (processed(environment), "proposed")] {
            if sha.is_empty() {
                let branch = text(environment, "branch");
                let text = format!("The {name} commit DRY SHA is missing or empty in environment '{branch}'.");
                return Some(Health::new(Progressing, text));
            }
        }
    }
    let is_even = environments.iter().all(|environment| processed(environment) == processed(first));
    (!is_even).then(|| {
        Health::new(
            Progressing,
            "Not all environments have the same proposed commit SHA. This likely means the hydrator has not run for \
             all environments yet.",
        )
    })
}

fn promoting(environment: &Value) -> Option<Health> {
    let (active, proposed) = (text(environment, "active.dry.sha"), text(environment, "proposed.dry.sha"));
    (active != proposed).then(|| {
        let tally = Tally::of(list(environment, "proposed.commitStatuses"));
        let text = format!(
            "Promotion in progress for environment '{}' from '{}' to '{}': {}Hydrator has processed dry commit '{}'. ",
            text(environment, "branch"),
            short(active),
            short(proposed),
            tally.words(),
            short(processed(environment))
        );
        Health::new(Progressing, text)
    })
}

fn settled(environments: &[Value]) -> Option<Health> {
    let first = environments.first()?;
    let unclean: Vec<String> = environments
        .iter()
        .map(|environment| (environment, Tally::of(list(environment, "active.commitStatuses"))))
        .filter(|(_, tally)| !tally.is_clean())
        .map(|(environment, tally)| {
            let (branch, failed, pending) = (text(environment, "branch"), tally.failed.len(), tally.pending.len());
            format!("{branch} ({failed} failed, {pending} pending)")
        })
        .collect();
    let text = if unclean.is_empty() {
        format!(
            "All environments are up-to-date on commit '{}'. Hydrator has processed dry commit '{}'.",
            short(text(first, "active.dry.sha")),
            short(processed(first))
        )
    } else {
        format!(
            "Environments are up-to-date, but some environments have non-successful commit statuses: {}.",
            unclean.join(", ")
        )
    };
    Some(Health::new(Healthy, text))
}
