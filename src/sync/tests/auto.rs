//! The automated sync decision.

use super::super::auto::{Auto, AutoInput, SelfHealBackoff, decide};
use super::super::budget::{PruneBudget, Prunes};
use super::super::partial::PartialRender;
use super::super::prune_guard::PruneGuard;
use super::*;
use crate::api::application::{Automated, SyncPolicy};
use crate::api::operation::{RetryStrategy, SyncOperationResource};
use crate::api::status::{ResourceStatus, SyncStatus};
use crate::api::{Application, ApplicationSource};

struct Case {
    app: Application,
    status: SyncStatus,
    resources: Vec<ResourceStatus>,
    compares_revisions: bool,
    prunes: Prunes,
    guard: PruneGuard,
    now: Timestamp,
}

fn source(path: &str) -> ApplicationSource {
    ApplicationSource { path: path.into(), ..ApplicationSource::default() }
}

fn resource(name: &str, status: &str) -> ResourceStatus {
    ResourceStatus { kind: "ConfigMap".into(), name: name.into(), status: status.into(), ..ResourceStatus::default() }
}

/// An application that differs in one object.
fn case(automated: Automated) -> Case {
    let mut app = Application::default();
    app.spec.source = Some(source("web"));
    app.spec.sync_policy = Some(SyncPolicy { automated: Some(automated), ..SyncPolicy::default() });
    let status = SyncStatus { status: "OutOfSync".into(), revision: "abc".into(), ..SyncStatus::default() };
    let resources = vec![resource("a", "OutOfSync"), resource("b", "Synced")];
    let (prunes, guard) = (Prunes::default(), PruneGuard::default());
    Case { app, status, resources, compares_revisions: true, prunes, guard, now: at("2024-04-05T19:36:45Z") }
}

impl Case {
    fn after(mut self, phase: &str, revision: &str) -> Self {
        let mut state = ended(phase, revision);
        state.message = "no luck".into();
        state.sync_result.as_mut().unwrap().source = source("web");
        self.app.status.operation_state = Some(state);
        self
    }
    fn decide(&self) -> Auto {
        decide(&AutoInput {
            app: &self.app,
            status: &self.status,
            resources: &self.resources,
            compares_revisions: self.compares_revisions,
            prunes: &self.prunes,
            guard: &self.guard,
            backoff: &SelfHealBackoff::default(),
            now: self.now,
        })
    }
    #[track_caller]
    fn skips(&self, reason: &str) {
        assert_eq!(self.decide(), Auto::Skip(Some(format!("Skipping auto-sync: {reason}"))));
    }
    #[track_caller]
    fn starts(&self) -> (Operation, SyncOperation) {
        match self.decide() {
            Auto::Start { operation, .. } => (*operation.clone(), operation.sync.unwrap()),
            other => panic!("{other:?}"),
        }
    }
    #[track_caller]
    fn fails(&self, message: &str) {
        assert_eq!(self.decide(), Auto::Error(message.into()));
    }
}

fn plain() -> Automated {
    Automated::default()
}
fn pruning() -> Automated {
    Automated { prune: Some(true), ..plain() }
}
fn healing() -> Automated {
    Automated { self_heal: Some(true), ..plain() }
}

#[test]
fn app_142_off_means_off() {
    assert_eq!(case(Automated { enabled: Some(false), ..plain() }).decide(), Auto::Skip(None));
    let mut case = case(plain());
    case.app.spec.sync_policy = None;
    assert_eq!(case.decide(), Auto::Skip(None));
}

#[test]
fn app_143_to_145_reasons_to_skip() {
    let mut busy = case(plain());
    busy.app.operation = Some(Operation::default());
    busy.skips("another operation is in progress");
    let mut going = case(plain());
    going.app.metadata.deletion_timestamp = Some(START.into());
    going.skips("deletion in progress");
    let mut unknown = case(plain());
    unknown.status.status = "Unknown".into();
    unknown.skips("application status is Unknown");
}

#[test]
fn app_146_without_prune_prunes_alone_start_nothing() {
    let mut case = case(plain());
    case.resources[0].requires_pruning = true;
    case.skips("need to prune extra resources only but automated prune is disabled");
    case.resources.clear();
    case.skips("need to prune extra resources only but automated prune is disabled");
}

#[test]
fn app_155_the_operation_that_is_posted() {
    let mut case = case(pruning());
    case.app.spec.sync_policy.as_mut().unwrap().sync_options = vec!["Replace=true".into()];
    let (operation, sync) = case.starts();
    assert_eq!((operation.retry.limit, operation.initiated_by.automated), (5, true));
    assert_eq!((sync.prune, sync.revision.as_str(), sync.sync_options.len()), (true, "abc", 1));
    assert_eq!((sync.source, sync.sources.len(), sync.resources.len()), (Some(source("web")), 0, 0));
    let Auto::Start { event, .. } = case.decide() else { panic!() };
    assert_eq!(event, "Initiated automated sync to 'abc'");
    case.app.spec.sync_policy.as_mut().unwrap().retry = Some(RetryStrategy { limit: 1, ..RetryStrategy::default() });
    assert_eq!(case.starts().0.retry.limit, 1);
}

#[test]
fn app_147_a_new_revision_or_source_is_a_new_attempt() {
    case(plain()).after("Failed", "old").starts();
    let mut moved = case(plain()).after("Failed", "abc");
    moved.app.spec.source = Some(source("elsewhere"));
    moved.starts();
    let mut irrelevant = case(plain()).after("Succeeded", "old");
    irrelevant.compares_revisions = false;
    irrelevant.skips("most recent sync already to [abc]");
}

#[test]
fn app_147_a_completed_operation_without_result_blocks_every_revision() {
    let mut case = case(plain()).after("Error", "abc");
    case.app.status.operation_state.as_mut().unwrap().sync_result = None;
    case.fails("Failed last sync attempt to []: no luck");
    case.app.status.operation_state.as_mut().unwrap().phase = "Running".into();
    case.starts();
}

#[test]
fn app_149_a_failed_revision_is_not_tried_again() {
    case(healing()).after("Failed", "abc").fails("Failed last sync attempt to [abc]: no luck");
}

#[test]
fn app_150_without_self_heal_a_synced_revision_is_left() {
    case(plain()).after("Succeeded", "abc").skips("most recent sync already to [abc]");
}

#[test]
fn app_153_self_heal_names_what_differs_without_namespace() {
    let mut case = case(healing()).after("Succeeded", "abc");
    case.resources[0].namespace = "demo".into();
    let (_, sync) = case.starts();
    let expected =
        SyncOperationResource { kind: "ConfigMap".into(), name: "a".into(), ..SyncOperationResource::default() };
    assert_eq!((sync.resources, sync.self_heal_attempts), (vec![expected], 1));
}

#[test]
fn app_151_self_heal_waits_longer_each_time() {
    let mut case = case(healing()).after("Succeeded", "abc");
    let state = case.app.status.operation_state.as_mut().unwrap();
    state.operation.sync.as_mut().unwrap().self_heal_attempts = 3;
    case.now = at("2024-04-05T19:36:55Z");
    let Auto::Wait { after, .. } = case.decide() else { panic!() };
    assert_eq!(after, Duration::from_secs(8));
    case.now = at("2024-04-05T19:37:03Z");
    assert_eq!(case.starts().1.self_heal_attempts, 4);
}

#[test]
fn app_152_the_backoff_triples_to_five_minutes() {
    let seconds = |attempts| SelfHealBackoff::default().delay(attempts).as_secs();
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(seconds), [0, 2, 6, 18, 54, 162, 300, 300]);
    assert_eq!(seconds(i64::MAX), 300);
    let fixed = SelfHealBackoff { first: Duration::ZERO, fixed: Duration::from_secs(7), ..SelfHealBackoff::default() };
    assert_eq!(fixed.delay(0), Duration::from_secs(7));
    let constant = SelfHealBackoff { factor: 0, ..SelfHealBackoff::default() };
    assert_eq!(constant.delay(9), Duration::from_secs(2));
}

#[test]
fn app_154_everything_is_not_wiped_out() {
    let text = "Skipping sync attempt to [abc]: auto-sync will wipe out all resources";
    let mut case = case(pruning());
    case.resources[0].requires_pruning = true;
    case.starts();
    case.resources[1].requires_pruning = true;
    case.fails(text);
    case.resources.clear();
    case.fails(text);
    case.app.spec.sync_policy.as_mut().unwrap().automated.as_mut().unwrap().allow_empty = Some(true);
    case.starts();
}

#[test]
fn neither_a_hook_nor_a_copied_object_lets_everything_else_be_wiped_out() {
    let mut case = case(pruning());
    for resource in &mut case.resources {
        resource.requires_pruning = true;
    }
    case.resources.push(ResourceStatus { hook: true, ..resource("hook", "") });
    case.resources.push(resource("copied", ""));
    case.fails("Skipping sync attempt to [abc]: auto-sync will wipe out all resources");
    case.resources.retain(|resource| resource.hook);
    case.starts();
}

#[test]
fn app_147_several_sources_compare_their_own_revisions() {
    let mut case = case(plain());
    case.app.spec.sources = vec![source("a"), source("b")];
    case.status.revisions = vec!["1".into(), "2".into()];
    let mut case = case.after("Failed", "");
    let result = case.app.status.operation_state.as_mut().unwrap().sync_result.as_mut().unwrap();
    result.sources = vec![source("a"), source("b")];
    result.revisions = vec!["1".into(), "2".into()];
    case.fails("Failed last sync attempt to [1 2]: no luck");
    case.status.revisions[1] = "3".into();
    assert_eq!(case.starts().1.source, None);
}

#[test]
fn a_sync_that_would_prune_beyond_the_budget_is_not_started() {
    let mut case = case(Automated { prune: Some(true), ..Automated::default() });
    let going = vec!["ConfigMap shop/a".to_owned(), "ConfigMap shop/b".to_owned()];
    case.prunes = Prunes { going, owned: 9, ..Prunes::default() };
    case.guard.budget = PruneBudget::in_force(Some("2"), None, &["abc".to_owned()]);
    case.starts();
    case.guard.budget = PruneBudget::in_force(Some("1"), None, &["abc".to_owned()]);
    case.fails(
        "Skipping sync attempt to [abc]: automated sync would prune 2 of 9 objects, more than the prune budget of 1 \
         allows: ConfigMap shop/a, ConfigMap shop/b. To approve, set annotation litecd.io/prune-approved=abc on the \
         Application, or sync with prune by hand",
    );
}

#[test]
fn a_namespace_is_not_pruned_while_a_source_renders_nothing() {
    let mut case = case(Automated { prune: Some(true), ..Automated::default() });
    case.prunes =
        Prunes { going: vec!["Namespace shop".to_owned()], vital: vec!["Namespace shop".to_owned()], owned: 9 };
    case.starts();
    case.guard.partial = PartialRender::of(&[Some(3), Some(0)], None, &["abc".to_owned()]);
    case.fails(
        "Skipping sync attempt to [abc]: source 2 of 2 rendered nothing, and automated sync would prune what holds other \
         objects or data: Namespace shop. To approve, set annotation litecd.io/prune-approved=abc on the Application, or \
         sync with prune by hand",
    );
    case.prunes.vital.clear();
    case.starts();
}
