//! Tests of what is kept, forgotten and told.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::children::{Below, Children};
use super::kept::{Kept, Record};

fn record(uid: &str, version: u64) -> Record {
    Record { owner: "app".into(), uid: uid.into(), version, digest: version, json: b"{}".as_slice().into() }
}

#[test]
fn an_older_version_never_replaces_a_newer_one() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 7)).is_ok());
    assert!(kept.keep("ns", "web", record("u1", 6)).is_err(), "a lagging event");
    assert_eq!(kept.get("ns", "web").map(|known| known.version), Some(7));
    assert!(kept.keep("ns", "web", record("u2", 3)).is_ok(), "a new object of the same name starts over");
}

#[test]
fn a_deleted_object_does_not_come_back_with_a_late_event() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 7)).is_ok());
    assert!(kept.forget("ns", "web", "u1").is_some());
    assert!(kept.keep("ns", "web", record("u1", 8)).is_err());
    assert!(kept.get("ns", "web").is_none());
    assert!(kept.keep("ns", "web", record("u2", 9)).is_ok());
}

#[test]
fn a_deletion_of_the_predecessor_leaves_the_successor() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u2", 9)).is_ok());
    assert!(kept.forget("ns", "web", "u1").is_none());
    assert!(kept.get("ns", "web").is_some());
}

#[test]
fn what_a_complete_list_does_not_hold_is_gone() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "old", record("u1", 1)).is_ok());
    kept.note_foreign("ns", "taken", ("u9", 9));
    kept.begin_list();
    assert!(kept.keep("ns", "new", record("u2", 2)).is_ok());
    let gone = kept.end_list();
    assert_eq!(gone.iter().map(|(place, _)| &*place.1).collect::<Vec<_>>(), ["old"]);
    assert!(!kept.is_foreign("ns", "taken"));
    assert!(kept.get("ns", "new").is_some());
}

#[test]
fn a_name_is_remembered_of_a_foreign_object() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 1)).is_ok());
    assert!(kept.note_foreign("ns", "web", ("u1", 2)).is_some(), "an object that lost its tracking is no longer kept");
    assert!(kept.is_foreign("ns", "web"));
    assert!(!kept.is_foreign("other", "web"));
}

fn owned(kind: &str, uid: &str, owner: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": uid, "namespace": "ns", "uid": uid,
        "ownerReferences": [{"uid": owner, "kind": "X", "name": "x"}]},
        "spec": {"containers": [{"image": image}], "initContainers": [{"image": "init:1"}]}})
}

#[test]
fn images_of_pods_are_found_through_the_chain_of_owners() {
    let mut children = Children::default();
    assert!(children.note(Below::Pod, &owned("Pod", "pod", "rs", "web:1")), "a pod may arrive before its owner");
    assert!(children.note(Below::ReplicaSet, &owned("ReplicaSet", "rs", "deployment", "template:1")));
    let mut images = BTreeSet::new();
    children.images_below("deployment", &mut images);
    assert_eq!(images.into_iter().collect::<Vec<_>>(), ["init:1", "web:1"], "templates do not count");
    assert_eq!(children.root("pod"), "deployment");
}

#[test]
fn a_forgotten_child_gives_no_images_and_an_equal_one_tells_nothing() {
    let mut children = Children::default();
    assert!(children.note(Below::Pod, &owned("Pod", "pod", "job", "task:1")));
    assert!(!children.note(Below::Pod, &owned("Pod", "pod", "job", "task:1")));
    assert!(children.note(Below::Pod, &owned("Pod", "pod", "job", "task:2")));
    assert!(children.forget("pod"));
    let mut images = BTreeSet::new();
    children.images_below("job", &mut images);
    assert!(images.is_empty());
}

#[test]
fn a_loop_of_owners_ends() {
    let mut children = Children::default();
    children.note(Below::ReplicaSet, &owned("ReplicaSet", "a", "b", ""));
    children.note(Below::ReplicaSet, &owned("ReplicaSet", "b", "a", ""));
    let _ = children.root("a");
    children.images_below("a", &mut BTreeSet::new());
}

#[test]
fn a_lagging_event_from_before_the_adoption_does_not_undo_it() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 10)).is_ok());
    assert!(kept.note_foreign("ns", "web", ("u1", 9)).is_none(), "the untracked version came first");
    assert!(kept.get("ns", "web").is_some() && !kept.is_foreign("ns", "web"));
    assert!(kept.note_foreign("ns", "web", ("u1", 11)).is_some());
    assert!(kept.get("ns", "web").is_none() && kept.is_foreign("ns", "web"));
}

#[test]
fn the_indexes_follow_keep_forget_and_a_change_of_owner() {
    let mut kept = Kept::default();
    let of = |kept: &Kept, owner: &str| kept.of_owner(owner).map(|record| record.uid.to_string()).collect::<Vec<_>>();
    assert!(kept.keep("ns", "a", record("u1", 1)).is_ok() && kept.keep("ns", "b", record("u2", 1)).is_ok());
    assert_eq!(of(&kept, "app"), ["u1", "u2"]);
    let moved = Record { owner: "other".into(), ..record("u1", 2) };
    assert!(kept.keep("ns", "a", moved).is_ok());
    assert_eq!((of(&kept, "app"), of(&kept, "other")), (vec!["u2".to_owned()], vec!["u1".to_owned()]));
    assert_eq!(kept.by_uid("u1").map(|record| &*record.owner), Some("other"));
    assert!(kept.forget("ns", "a", "u1").is_some());
    assert!(kept.by_uid("u1").is_none() && of(&kept, "other").is_empty());
    assert_eq!(kept.owners().map(|owner| &**owner).collect::<Vec<_>>(), ["app"]);
    assert!(kept.keep("ns", "b", record("u3", 1)).is_ok(), "a successor of the same name");
    assert!(kept.by_uid("u2").is_none() && kept.by_uid("u3").is_some());
}

mod told {
    //! What a store tells of the events it is fed.

    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    use super::super::kept::name_hash;
    use super::super::store::{Change, Followed, Progress, Seen, Store};
    use super::super::{FeedEvent, Live};
    use crate::api::{GroupVersionKind, ObjectExt};

    fn gvk(kind: &str) -> GroupVersionKind {
        GroupVersionKind::from_api_version(if kind == "Pod" { "v1" } else { "apps/v1" }, kind)
    }

    /// `app` names the owner, `data` is the digest, `data: 666` makes the classifier panic.
    fn classify(object: &Value) -> Seen {
        let digest = object.get("data").and_then(Value::as_u64).unwrap_or(0);
        assert_ne!(digest, 666, "a user's script broke");
        match object.label("app") {
            Some(owner) => Seen::Ours { owner: owner.to_owned(), digest },
            None => Seen::Foreign,
        }
    }

    struct World {
        store: Store,
        changes: mpsc::UnboundedReceiver<Change>,
    }

    impl World {
        fn new() -> Self {
            let (sender, changes) = mpsc::unbounded_channel();
            let mut store = Store::new(Rc::new(classify), sender);
            ["Deployment", "ReplicaSet", "Pod"].iter().for_each(|kind| store.open((&gvk(kind), ""), [].into(), None));
            Self { store, changes }
        }

        fn web(&mut self, app: &str, data: u64, version: u64) -> Vec<String> {
            self.seen(
                "Deployment",
                json!({"data": data, "metadata": {"name": "web", "namespace": "ns", "uid": "d",
                "resourceVersion": version.to_string(), "labels": {"app": app}}}),
            )
        }

        fn seen(&mut self, kind: &str, object: Value) -> Vec<String> {
            self.take(kind, FeedEvent::Seen(serde_json::from_value(object).unwrap()))
        }

        fn take(&mut self, kind: &str, event: FeedEvent) -> Vec<String> {
            self.store.take(&gvk(kind), event);
            std::iter::from_fn(|| self.changes.try_recv().ok())
                .map(|change| match change {
                    Change::Root { owner, key } => format!("{owner}: {}", key.name),
                    Change::Below { owner } => format!("{owner}: below"),
                })
                .collect()
        }
    }

    #[test]
    fn appearance_and_changes_that_count_are_told_once() {
        let mut world = World::new();
        assert_eq!(world.web("shop", 1, 1), ["shop: web"]);
        assert!(world.web("shop", 1, 2).is_empty(), "an equal digest");
        assert_eq!(world.web("shop", 2, 3), ["shop: web"]);
        assert_eq!(world.web("blog", 2, 4), ["shop: web", "blog: web"], "both owners");
    }

    #[test]
    fn what_a_new_list_lacks_is_told() {
        let mut world = World::new();
        world.web("shop", 1, 1);
        assert!(world.take("Deployment", FeedEvent::Listing).is_empty());
        assert_eq!(world.take("Deployment", FeedEvent::Listed), ["shop: web"]);
        assert!(world.store.kinds.values().all(|kind| kind.kept.records().next().is_none()));
    }

    #[test]
    fn a_pod_is_told_to_the_owner_of_what_stands_above_its_replica_set() {
        let mut world = World::new();
        let below = |uid: &str, owner: &str, image: &str| {
            json!({"metadata": {"name": uid, "namespace": "ns", "uid": uid,
            "ownerReferences": [{"uid": owner}]}, "spec": {"containers": [{"image": image}]}})
        };
        world.web("shop", 1, 1);
        assert_eq!(world.seen("ReplicaSet", below("rs", "d", "")), ["shop: below"]);
        assert_eq!(world.seen("Pod", below("pod", "rs", "web:1")), ["shop: below"]);
        assert!(world.seen("Pod", below("pod", "rs", "web:1")).is_empty());
        assert!(world.seen("Pod", below("lone", "nobody", "web:1")).is_empty());
        let gone = FeedEvent::Gone(serde_json::from_value(below("pod", "rs", "web:1")).unwrap());
        assert_eq!(world.take("Pod", gone), ["shop: below"]);
    }

    #[test]
    fn pods_that_a_new_list_lacks_are_forgotten() {
        let mut world = World::new();
        let pod = |uid: &str| {
            json!({"metadata": {"name": uid, "namespace": "ns", "uid": uid, "ownerReferences": [{"uid": "d"}]},
                "spec": {"containers": [{"image": format!("web:{uid}")}]}})
        };
        world.web("shop", 1, 1);
        world.seen("Pod", pod("old"));
        world.seen("Pod", pod("new"));
        world.take("Pod", FeedEvent::Listing);
        assert!(world.seen("Pod", pod("new")).is_empty());
        assert_eq!(world.take("Pod", FeedEvent::Listed), ["shop: below"]);
        let mut images = std::collections::BTreeSet::new();
        world.store.children.images_below("d", &mut images);
        assert_eq!(images.into_iter().collect::<Vec<_>>(), ["web:new"]);
    }

    #[test]
    fn an_untracked_object_that_an_application_wants_is_told() {
        let mut world = World::new();
        let foreign = |data: u64, version: &str| json!({"data": data, "metadata": {"name": "web", "namespace": "ns", "uid": "d", "resourceVersion": version}});
        assert!(world.seen("Deployment", foreign(1, "1")).is_empty(), "nobody asked");
        let kind = world.store.kinds.get_mut(&gvk("Deployment").group_kind()).unwrap();
        let followed = Followed { owner: "shop".into(), digest: None };
        kind.followed.insert(name_hash("ns", "web"), followed);
        assert_eq!(world.seen("Deployment", foreign(2, "2")), ["shop: web"]);
        assert!(world.seen("Deployment", foreign(2, "2")).is_empty(), "nothing new");
        let gone = FeedEvent::Gone(serde_json::from_value(foreign(2, "3")).unwrap());
        assert_eq!(world.take("Deployment", gone), ["shop: web"]);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_kept_stays_until_the_list_under_the_new_rules_is_complete() {
        let local = tokio::task::LocalSet::new();
        let deployments = gvk("Deployment");
        local
            .run_until(async {
                let live = live();
                live.store.borrow_mut().open((&deployments, "deployments"), [].into(), None);
                let object = json!({"metadata": {"name": "web", "namespace": "ns", "uid": "d", "resourceVersion": "1",
                    "labels": {"app": "shop"}}});
                let arrival = || FeedEvent::Seen(serde_json::from_value(object.clone()).unwrap());
                let take = |event| live.store.borrow_mut().take(&deployments, event);
                take(FeedEvent::Listing);
                take(arrival());
                take(FeedEvent::Listed);
                live.reclassify(Rc::new(|_: &Value| Seen::Foreign));
                assert_eq!(live.owned_by("shop").len(), 1, "a cluster that is read anew is not an empty one");
                let late = live.ready_within(&deployments.group_kind(), Duration::from_millis(5)).await;
                assert!(late.is_err(), "and no decision starts on it");
                take(FeedEvent::Listing);
                take(arrival());
                take(FeedEvent::Listed);
                assert!(live.owned_by("shop").is_empty());
            })
            .await;
    }

    #[test]
    fn a_panic_of_the_classifier_leaves_the_object_with_its_owner() {
        let mut world = World::new();
        world.web("shop", 1, 1);
        assert_eq!(world.web("shop", 666, 2), ["shop: web"]);
        let kind = &world.store.kinds[&gvk("Deployment").group_kind()];
        let known = kind.kept.get("ns", "web").map(|record| (record.owner.to_string(), record.version, record.digest));
        assert_eq!(known, Some(("shop".to_owned(), 2, 0)));
    }

    fn live() -> Live {
        let client = kube::Client::try_from(kube::Config::new("http://127.0.0.1:9".parse().unwrap())).unwrap();
        Live::new(client, Rc::new(classify), mpsc::unbounded_channel().0)
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_list_is_not_waited_for_without_end_and_a_closed_store_stays_closed() {
        let (live, pods) = (live(), gvk("Deployment"));
        live.store.borrow_mut().open((&pods, "pods"), [].into(), None);
        let late = live.ready_within(&pods.group_kind(), Duration::from_millis(5)).await;
        assert!(late.unwrap_err().starts_with("Deployment.apps is not listed yet"));
        live.store.borrow_mut().take(&pods, FeedEvent::Listed);
        assert_eq!(live.ready(&pods.group_kind()).await, Ok(()));
        live.close();
        live.start(&gvk("Pod"), "pods", &[]);
        assert!(!live.watches(&gvk("Pod").group_kind()));
        assert!(live.ready(&pods.group_kind()).await.is_err());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_watch_that_panics_is_failed_and_started_anew() {
        let mut world = World::new();
        let deployments = gvk("Deployment");
        world.store.take(&deployments, FeedEvent::Listed);
        let store = Rc::new(RefCell::new(world.store));
        let attempts = Cell::new(0);
        let attempt = || {
            attempts.set(attempts.get() + 1);
            let (attempt, store, kind) = (attempts.get(), store.clone(), deployments.group_kind());
            async move {
                assert_ne!(attempt, 1, "the watch broke");
                let progress = store.borrow().kinds[&kind].progress.borrow().clone();
                assert!(matches!(progress, Progress::Failed(_)));
                store.borrow_mut().kinds.remove(&kind);
            }
        };
        super::super::live::supervise((&Rc::downgrade(&store), &deployments), attempt, Duration::ZERO).await;
        assert_eq!(attempts.get(), 2, "it ends when the kind is no longer watched");
    }
}

mod strays {
    //! Counting objects that belong to nobody.

    use std::rc::Rc;

    use super::super::strays::{Census, Stray, Strays};
    use crate::api::{GroupKind, ResourceKey};

    struct World(Strays);

    impl World {
        fn add(&mut self, kind: &str, name: &str, owners: &[&str], instance: Option<&str>) {
            let kind = match kind.split_once('/') {
                Some((group, kind)) => GroupKind::new(group, kind),
                None => GroupKind::new("", kind),
            };
            let stray = Stray {
                uid: name.into(),
                owners: owners.iter().map(|owner| (*owner).into()).collect(),
                inferred: (kind.kind == "Endpoints")
                    .then(|| Box::new((GroupKind::new("", "Service"), name.trim_end_matches("-ep").to_owned()))),
                instance: instance.map(Into::into),
            };
            self.0.put(&Rc::new(kind), ("ns", name), stray);
        }

        fn count(&self, holds: &dyn Fn(&ResourceKey) -> bool) -> usize {
            self.0.count(&Census {
                namespace: "ns",
                holds,
                excludes: &|key| key.name.starts_with("ignored"),
                permits: &|key| key.kind != "Forbidden",
                exists: &|instance| instance == "other",
            })
        }
    }

    #[test]
    fn descendants_count_and_what_belongs_to_somebody_does_not() {
        let mut world = World(Strays::default());
        world.add("apps/Deployment", "stranger", &[], None);
        world.add("apps/ReplicaSet", "rs", &["stranger"], None);
        world.add("Pod", "pod", &["rs"], None);
        assert_eq!(world.count(&|_| false), 3);
        world.add("ConfigMap", "ours", &[], Some("shop"));
        world.add("ConfigMap", "theirs", &[], Some("other"));
        world.add("Pod", "child-of-theirs", &["theirs"], None);
        world.add("ConfigMap", "left-behind", &[], Some("deleted-app"));
        assert_eq!(world.count(&|key| key.name == "ours"), 4, "an application that is gone owns nothing");
        world.add("apps/Deployment", "ignored-one", &[], None);
        world.add("Pod", "below-ignored", &["ignored-one"], None);
        world.add("Forbidden", "f", &[], None);
        assert_eq!(world.count(&|key| key.name == "ours"), 4);
        world.add("Pod", "owner-elsewhere", &["a-node"], None);
        assert_eq!(world.count(&|key| key.name == "ours"), 4, "whoever has an owner is not top-level");
    }

    #[test]
    fn owners_that_are_not_written_down_are_found() {
        let mut world = World(Strays::default());
        world.add("Service", "db", &[], Some("other"));
        world.add("Endpoints", "db-ep", &[], None);
        world.add("apps/StatefulSet", "db", &[], Some("other"));
        world.add("PersistentVolumeClaim", "data-db-0", &[], None);
        world.add("PersistentVolumeClaim", "data-other-0", &[], None);
        world.add("PersistentVolumeClaim", "db-0", &[], None);
        assert_eq!(world.count(&|_| false), 2, "the claims of no set");
    }

    #[test]
    fn a_loop_of_owners_ends_here_too() {
        let mut world = World(Strays::default());
        world.add("Pod", "a", &["b"], None);
        world.add("Pod", "b", &["a"], None);
        assert_eq!(world.count(&|_| false), 0);
    }
}
