//! GitOps Promoter: repositories, pull requests and commit statuses.
//!
//! All kinds report through `Ready`; the words around it differ.

use serde_json::Value;

use super::Kinds;
use super::promotion;
use super::rule::{Step::*, conditions, is_match, is_observed};
use crate::api::ObjectExt;
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{at, list, text};

pub(super) const KINDS: Kinds = &[
    ("promoter.argoproj.io/ArgoCDCommitStatus", &[By(argocd_commit_status)]),
    ("promoter.argoproj.io/ChangeTransferPolicy", &[By(promotion::policy)]),
    (
        "promoter.argoproj.io/ClusterScmProvider",
        &[By(cluster_provider), Else(Healthy, "Cluster SCM provider is ready")],
    ),
    ("promoter.argoproj.io/CommitStatus", &[By(commit_status)]),
    ("promoter.argoproj.io/GitCommitStatus", &[By(git_commit_status)]),
    ("promoter.argoproj.io/GitRepository", &[By(repository), Else(Healthy, "Git repository is ready")]),
    ("promoter.argoproj.io/PromotionStrategy", &[By(promotion::strategy)]),
    ("promoter.argoproj.io/PullRequest", &[By(pull_request)]),
    ("promoter.argoproj.io/ScmProvider", &[By(provider), Else(Healthy, "SCM provider is ready")]),
    ("promoter.argoproj.io/TimedCommitStatus", &[By(timed_commit_status)]),
    ("promoter.argoproj.io/WebRequestCommitStatus", &[By(web_request_commit_status)]),
];

/// A finalizer, what it waits for, and what removing it by hand risks.
type Finalizer = (&'static str, &'static str, &'static str);

/// The words of one kind.
pub(super) struct Words {
    /// While there is no status.
    pub(super) starting: &'static str,
    /// While it is being deleted.
    pub(super) deleting: &'static str,
    /// Finalizers that are explained while it is being deleted.
    pub(super) finalizers: &'static [Finalizer],
    /// What its spec is called.
    pub(super) subject: &'static str,
    /// Before the message of a reconciliation error.
    pub(super) failed: &'static str,
    /// Before reason and message of other trouble.
    pub(super) not_ready: &'static str,
    /// Before reason and message when readiness is unknown; kinds without count that as ready.
    pub(super) unknown: Option<&'static str>,
    /// While nothing is said about readiness.
    pub(super) missing: &'static str,
}

impl Words {
    /// The health of an object that is not ready; nothing when it is.
    pub(super) fn unready(&self, object: &Value) -> Option<Health> {
        if !at(object, "metadata.deletionTimestamp").is_null() {
            return Some(Health::new(Progressing, self.deletion(object)));
        }
        if at(object, "status").is_null() {
            return Some(Health::new(Progressing, self.starting));
        }
        let readiness = conditions(object).iter().filter(|condition| {
            // Pull requests said `Reconciled` once.
            is_match("Ready", condition) || (object.kind() == "PullRequest" && is_match("Reconciled", condition))
        });
        let mut readiness = readiness.peekable();
        if readiness.peek().is_none() {
            return Some(Health::new(Progressing, self.missing));
        }
        readiness.find_map(|ready| self.trouble(object, ready))
    }

    fn trouble(&self, object: &Value, ready: &Value) -> Option<Health> {
        let observed = at(ready, "observedGeneration");
        if !observed.is_null() && !at(object, "metadata.generation").is_null() && !is_observed(object, observed) {
            let text = format!("Waiting for {} spec update to be observed", self.subject);
            return Some(Health::new(Progressing, text));
        }
        let word = |field: &str, default: &'static str| at(ready, field).as_str().unwrap_or(default).to_owned();
        let reason = word("reason", "Unknown");
        match (text(ready, "status"), self.unknown) {
            ("False", _) => {
                let message = word("message", "Unknown error");
                let text = match reason.as_str() {
                    "ReconciliationError" => format!("{}: {message}", self.failed),
                    _ => format!("{} ({reason}): {message}", self.not_ready),
                };
                Some(Health::new(Degraded, text))
            }
            ("Unknown", Some(unknown)) => {
                Some(Health::new(Progressing, format!("{unknown} ({reason}): {}", word("message", "Unknown"))))
            }
            _ => None,
        }
    }

    fn deletion(&self, object: &Value) -> String {
        let explain = |present: &str| {
            let (name, wait, risk) = self.finalizers.iter().find(|(name, ..)| *name == present)?;
            Some(format!("{name}: {wait} Risk if removed manually: {risk}"))
        };
        let explained = object.finalizers().into_iter().filter_map(explain);
        std::iter::once(self.deleting.to_owned()).chain(explained).collect::<Vec<_>>().join(" ")
    }
}

fn argocd_commit_status(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing Argo CD commit status",
        deleting: "Argo CD commit status is being deleted",
        finalizers: &[],
        subject: "Argo CD commit status",
        failed: "Argo CD commit status reconciliation failed",
        not_ready: "Argo CD commit status reconciliation failed",
        unknown: None,
        missing: "Argo CD commit status is not ready yet",
    };
    WORDS.unready(object).or_else(|| {
        Some(match list(object, "status.applicationsSelected").len() {
            0 => Health::new(Degraded, "Argo CD commit status has no applications configured"),
            count => {
                Health::new(Healthy, format!("Argo CD commit status is healthy and is tracking {count} applications"))
            }
        })
    })
}

fn commit_status(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing commit status",
        deleting: "Commit status is being deleted",
        finalizers: &[],
        subject: "commit status",
        failed: "Commit status reconciliation failed",
        not_ready: "Commit status reconciliation failed",
        unknown: None,
        missing: "Commit status is not ready yet",
    };
    let report = || match (at(object, "status.sha").as_str(), at(object, "status.phase").as_str()) {
        (Some(sha), Some(phase)) => format!("Commit status for commit {sha} reports {phase}"),
        _ => "Commit status is healthy".to_owned(),
    };
    WORDS.unready(object).or_else(|| Some(Health::new(Healthy, report())))
}

fn pull_request(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing pull request",
        deleting: "Pull request is being deleted.",
        finalizers: &[
            (
                "pullrequest.promoter.argoproj.io/finalizer",
                "Waiting for SCM closure or reconciliation of the pull request.",
                "the real PR can stay open after the CR is gone.",
            ),
            (
                "changetransferpolicy.promoter.argoproj.io/pullrequest-finalizer",
                "Waiting for the ChangeTransferPolicy to observe PR identity and state.",
                "promotion status or history can be wrong or racy.",
            ),
        ],
        subject: "pull request",
        failed: "Pull request reconciliation failed",
        not_ready: "Pull request reconciliation failed",
        unknown: None,
        missing: "Pull request is not ready yet",
    };
    let report = || match (at(object, "status.state").as_str(), at(object, "status.id").as_str()) {
        (Some(state), Some(id)) => format!("Pull request is {state} as PR {id}"),
        _ => "Pull request is healthy".to_owned(),
    };
    WORDS.unready(object).or_else(|| Some(Health::new(Healthy, report())))
}

fn repository(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing Git repository",
        deleting: "GitRepository is being deleted.",
        finalizers: &[(
            "gitrepository.promoter.argoproj.io/finalizer",
            "Waiting until no non-deleting PullRequests still reference this repository.",
            "repository metadata may be removed while promotions still depend on it.",
        )],
        subject: "GitRepository",
        failed: "Git repository validation failed",
        not_ready: "Git repository not ready",
        unknown: Some("Git repository readiness unknown"),
        missing: "GitRepository Ready condition is missing",
    };
    WORDS.unready(object)
}

fn provider(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing SCM provider",
        deleting: "ScmProvider is being deleted.",
        finalizers: &[(
            "scmprovider.promoter.argoproj.io/finalizer",
            "Waiting until no GitRepository in this namespace still references this provider.",
            "GitRepository objects can reference a provider that no longer exists.",
        )],
        subject: "ScmProvider",
        failed: "SCM provider validation failed",
        not_ready: "SCM provider not ready",
        unknown: Some("SCM provider readiness unknown"),
        missing: "ScmProvider Ready condition is missing",
    };
    WORDS.unready(object)
}

fn cluster_provider(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing cluster SCM provider",
        deleting: "ClusterScmProvider is being deleted.",
        finalizers: &[(
            "clusterscmprovider.promoter.argoproj.io/finalizer",
            "Waiting until no GitRepository still references this cluster-wide SCM provider.",
            "GitRepository objects can reference a provider that no longer exists.",
        )],
        subject: "ClusterScmProvider",
        failed: "Cluster SCM provider validation failed",
        not_ready: "Cluster SCM provider not ready",
        unknown: Some("Cluster SCM provider readiness unknown"),
        missing: "ClusterScmProvider Ready condition is missing",
    };
    WORDS.unready(object)
}

fn git_commit_status(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing git commit validation",
        deleting: "GitCommitStatus is being deleted",
        finalizers: &[],
        subject: "GitCommitStatus",
        failed: "Git commit validation failed",
        not_ready: "Git commit validation not ready",
        unknown: Some("Git commit validation status unknown"),
        missing: "GitCommitStatus Ready condition is missing",
    };
    WORDS.unready(object).or_else(|| Some(gate(object, "Git commit validation", "Git commit validation", "passed")))
}

fn timed_commit_status(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing timed commit gate",
        deleting: "TimedCommitStatus is being deleted",
        finalizers: &[],
        subject: "TimedCommitStatus",
        failed: "Timed commit gate failed",
        not_ready: "Timed commit gate not ready",
        unknown: Some("Timed commit gate status unknown"),
        missing: "TimedCommitStatus Ready condition is missing",
    };
    WORDS.unready(object).or_else(|| Some(gate(object, "Timed commit gate", "Timed commit gate", "satisfied")))
}

fn web_request_commit_status(object: &Value) -> Option<Health> {
    const WORDS: Words = Words {
        starting: "Initializing web request commit validation",
        deleting: "WebRequestCommitStatus is being deleted",
        finalizers: &[],
        subject: "WebRequestCommitStatus",
        failed: "Web request commit validation failed",
        not_ready: "Web request commit validation not ready",
        unknown: Some("Web request commit validation unknown"),
        missing: "WebRequestCommitStatus Ready condition is missing",
    };
    WORDS
        .unready(object)
        .or_else(|| Some(gate(object, "Web request commit validation", "Web request validation", "passed")))
}

/// Health of a ready gate: what it says about each environment's branch.
fn gate(object: &Value, name: &str, short: &str, passed: &str) -> Health {
    let environments = list(object, "status.environments");
    let branches = |wanted: fn(&str) -> bool| {
        environments
            .iter()
            .filter(|environment| wanted(text(environment, "phase")))
            .map(|environment| at(environment, "branch").as_str().unwrap_or("?"))
            .collect::<Vec<_>>()
    };
    let failed = branches(|phase| phase == "failure");
    let pending = branches(|phase| !matches!(phase, "failure" | "success"));
    if environments.is_empty() {
        Health::new(Healthy, format!("{name} reconciled"))
    } else if !failed.is_empty() {
        Health::new(Degraded, format!("{short} failed for branch(es): {}", failed.join(", ")))
    } else if !pending.is_empty() {
        Health::new(Progressing, format!("{short} pending for branch(es): {}", pending.join(", ")))
    } else {
        Health::new(Healthy, format!("{short} {passed} for {} environment(s)", environments.len()))
    }
}
