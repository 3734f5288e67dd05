//! How much one automated sync may prune.
//!
//! In:  the budget as somebody wrote it (`5` objects or `10%` of the application's own), what a sync would prune.
//! Out: the objection, in words that say what would go and how to let it go.
//! Invariant: a budget that cannot be read allows nothing; an approval holds for the revisions it names and no others.
//! Source: none in Argo CD; off unless an Application or `argocd-cm` sets it.

use serde_json::Value;

use super::hooks;
use super::options::Options;
use crate::api::operation::SyncOperation;
use crate::api::{ObjectExt, names};

/// The budget that holds for one sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneBudget {
    written: String,
    revisions: String,
}

/// What a sync would prune.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prunes {
    /// Objects that would go, as `Kind namespace/name`.
    pub going: Vec<String>,
    /// Those of them that take what they hold along: namespaces, custom resource definitions, claims of volumes.
    pub vital: Vec<String>,
    /// Live objects that the application has, those included.
    pub owned: usize,
}

/// One compared object as the budget sees it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Whether the sources want it.
    pub wanted: bool,
    /// The object in the cluster.
    pub live: Option<&'a Value>,
    /// Whether it is the application's own, not a copy that carries its tracking id.
    pub own: bool,
}

impl Prunes {
    /// What the operation would prune of these objects.
    pub fn of<'a>(candidates: impl IntoIterator<Item = Candidate<'a>>, operation: &SyncOperation) -> Self {
        let options = Options::of(operation);
        let mut prunes = Self::default();
        for candidate in candidates.into_iter().filter(|candidate| candidate.own) {
            let Some(live) = candidate.live.filter(|live| !hooks::is_hook(live)) else { continue };
            prunes.owned += 1;
            if options.prune && !candidate.wanted && !options.keeps(live) && !live.is_deleting() {
                prunes.going.push(title(live));
                prunes.vital.extend(is_vital(live).then(|| title(live)));
            }
        }
        prunes
    }
}

fn is_vital(object: &Value) -> bool {
    matches!(
        (object.group_kind().group.as_str(), object.kind()),
        ("", "Namespace" | "PersistentVolumeClaim") | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

fn title(object: &Value) -> String {
    let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// Objects that an objection names; more are only counted.
const NAMED: usize = 10;

/// The first objects, and how many more there are.
pub(super) fn named(objects: &[String]) -> String {
    let first = objects.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match objects.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Whether somebody approved pruning for exactly these revisions.
pub(super) fn is_approved(approved: Option<&str>, revisions: &[String]) -> bool {
    let revisions = revisions.join(",");
    !revisions.is_empty() && approved.map(str::trim) == Some(revisions.as_str())
}

/// How somebody lets the prunes of these revisions happen.
pub(super) fn way_to_approve(revisions: &str) -> String {
    let approve = names::PRUNE_APPROVED;
    format!("To approve, set annotation {approve}={revisions} on the Application, or sync with prune by hand")
}

impl PruneBudget {
    /// The budget for a sync to these revisions; `None` when there is none or somebody approved these very revisions.
    ///
    /// `approved` is the revision, or all revisions of several sources joined by commas.
    pub fn in_force(written: Option<&str>, approved: Option<&str>, revisions: &[String]) -> Option<Self> {
        let written = written.map(str::trim).filter(|text| !text.is_empty())?;
        (!is_approved(approved, revisions))
            .then(|| Self { written: written.to_owned(), revisions: revisions.join(",") })
    }

    /// Why the sync may not prune what it would prune; `None` when it may.
    pub fn objection(&self, prunes: &Prunes) -> Option<String> {
        let count = prunes.going.len();
        if count == 0 {
            return None;
        }
        let written = &self.written;
        let reason = match self.allowed(prunes.owned) {
            Some(allowed) if count <= allowed => return None,
            Some(_) => format!("more than the prune budget of {written} allows"),
            None => format!("and the prune budget {written:?} is neither a number nor a percentage"),
        };
        let (owned, named, way) = (prunes.owned, named(&prunes.going), way_to_approve(&self.revisions));
        Some(format!("automated sync would prune {count} of {owned} objects, {reason}: {named}. {way}"))
    }

    /// Objects that may go, of `owned`; a percentage is rounded down.
    fn allowed(&self, owned: usize) -> Option<usize> {
        let Some(percent) = self.written.strip_suffix('%') else { return self.written.parse().ok() };
        let percent: usize = percent.trim_end().parse().ok().filter(|percent| *percent <= 100)?;
        Some(owned.checked_mul(percent)? / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    fn objection(written: &str, going: usize, owned: usize) -> Option<String> {
        let budget = PruneBudget::in_force(Some(written), None, &["abc".to_owned()])?;
        let going = (0..going).map(|number| format!("ConfigMap shop/c{number}")).collect();
        budget.objection(&Prunes { going, owned, ..Prunes::default() })
    }

    #[test]
    fn as_many_as_the_budget_says_may_go() {
        for (written, going, owned) in [("5", 5, 5), ("0", 0, 9), ("10%", 2, 29), ("100%", 7, 7), (" 3 ", 3, 4)] {
            assert_eq!(objection(written, going, owned), None, "{written}: {going} of {owned}");
        }
    }

    #[test]
    fn one_more_may_not() {
        for (written, going, owned) in [("5", 6, 60), ("0", 1, 9), ("10%", 3, 29), ("10%", 1, 9)] {
            assert!(objection(written, going, owned).is_some(), "{written}: {going} of {owned}");
        }
    }

    #[test]
    fn a_budget_that_cannot_be_read_allows_nothing() {
        for written in ["many", "-1", "101%", "5.5", "%", "1e3"] {
            let text = objection(written, 1, 9).unwrap_or_default();
            assert!(text.contains("neither a number nor a percentage"), "{written}: {text}");
        }
    }

    #[test]
    fn only_own_unwanted_objects_that_the_sync_would_delete_count() {
        let object = |name: &str, extra: Value| {
            let mut object =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}});
            object["metadata"].as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            object
        };
        let annotated = |name: &str, value: &str| json!({"annotations": {name: value}});
        let objects = [
            (false, true, object("goes", json!({}))),
            (true, true, object("stays", json!({}))),
            (false, false, object("a-copy", json!({}))),
            (false, true, object("kept", annotated(names::SYNC_OPTIONS, "Prune=false"))),
            (false, true, object("hook", annotated(names::HOOK, "PreSync"))),
            (false, true, object("goes-already", json!({"deletionTimestamp": "2024-01-01T00:00:00Z"}))),
        ];
        let candidates =
            || objects.iter().map(|(wanted, own, live)| Candidate { wanted: *wanted, live: Some(live), own: *own });
        let operation = SyncOperation { prune: true, ..SyncOperation::default() };
        let expect = Prunes { going: vec!["ConfigMap shop/goes".to_owned()], vital: Vec::new(), owned: 4 };
        assert_eq!(Prunes::of(candidates(), &operation), expect);
        let without = Prunes::of(candidates(), &SyncOperation::default());
        assert_eq!(without, Prunes { owned: 4, ..Prunes::default() });
    }

    #[test]
    fn nothing_written_is_no_budget() {
        assert_eq!(PruneBudget::in_force(None, None, &[]), None);
        assert_eq!(PruneBudget::in_force(Some(" "), None, &[]), None);
    }

    #[test]
    fn an_approval_holds_for_its_revisions_only() {
        let of = |approved, revisions: &[&str]| {
            let revisions: Vec<String> = revisions.iter().map(|text| (*text).to_owned()).collect();
            PruneBudget::in_force(Some("1"), approved, &revisions).is_none()
        };
        assert!(of(Some("abc"), &["abc"]));
        assert!(of(Some("abc,def"), &["abc", "def"]));
        assert!(!of(Some("abc"), &["def"]));
        assert!(!of(Some("abc"), &["abc", "def"]));
        assert!(!of(Some(""), &[]));
    }

    #[test]
    fn an_objection_names_what_would_go_and_how_to_approve() {
        let text = objection("5", 12, 40).unwrap_or_default();
        assert_eq!(
            text,
            "automated sync would prune 12 of 40 objects, more than the prune budget of 5 allows: ConfigMap shop/c0, \
             ConfigMap shop/c1, ConfigMap shop/c2, ConfigMap shop/c3, ConfigMap shop/c4, ConfigMap shop/c5, ConfigMap \
             shop/c6, ConfigMap shop/c7, ConfigMap shop/c8, ConfigMap shop/c9 and 2 more. To approve, set annotation \
             litecd.io/prune-approved=abc on the Application, or sync with prune by hand"
        );
    }
}
