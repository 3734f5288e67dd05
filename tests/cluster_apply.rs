//! The cluster room against a real API server, named by `LITECD_TEST_KUBECONFIG`; without it nothing runs.
//!
//! In:  a kubeconfig with administrator rights on a throw-away cluster.
//! Out: messages as the goldens in `corpus/cases/sync` show them, and the field managers behind them.

use litecd::api::{GroupKind, GroupVersionKind, ObjectExt, names};
use litecd::cluster::{self, Applied, Apply, ApplyError, Cluster, DryRun, Propagation, Target};
use litecd::guard::{self, Permit, Presence};
use serde_json::{Value, json};

const WARNING: &str = " annotation which is required by  apply.  apply should only be used on resources created \
    declaratively by either  create --save-config or  apply. The missing annotation will be patched automatically.";

struct Lab {
    cluster: Cluster,
    permit: Permit,
    namespace: &'static str,
}

/// Connects and makes the test's own namespace anew.
async fn lab(namespace: &'static str) -> Option<Lab> {
    let Ok(path) = std::env::var("LITECD_TEST_KUBECONFIG") else {
        println!("not run: LITECD_TEST_KUBECONFIG is not set");
        return None;
    };
    let config = cluster::from_kubeconfig(path.as_ref(), None).await.unwrap();
    let cluster = Cluster::connect(config, names::IN_CLUSTER_SERVER.to_owned()).unwrap();
    let permit = guard::decide(Some(&Presence::default()), false).permit().unwrap();
    let lab = Lab { cluster, permit, namespace };
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let namespaces = lab.cluster.resource(&object.gvk()).await.unwrap();
    lab.cluster.create(permit, &namespaces, &object, "test").await.unwrap();
    Some(lab)
}

fn plain(object: &Value) -> Apply<'_> {
    Apply {
        object,
        live: None,
        dry_run: DryRun::None,
        server_side: false,
        force: false,
        replace: false,
        manager: names::FIELD_MANAGER,
    }
}

impl Lab {
    fn config_map(&self, name: &str, data: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": self.namespace}, "data": data})
    }

    fn deployment(&self, name: &str, label: &str) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": label}},
                "template": {
                    "metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
                },
            },
        })
    }

    fn job(&self, image: &str) -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "load", "namespace": self.namespace},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}}},
        })
    }

    async fn apply(&self, ask: &Apply<'_>) -> Result<Applied, ApplyError> {
        self.cluster.apply(self.permit, ask).await
    }

    async fn message(&self, ask: &Apply<'_>) -> String {
        match self.apply(ask).await {
            Ok(applied) => applied.message,
            Err(error) => error.to_string(),
        }
    }

    async fn live(&self, of: &Value) -> Option<Value> {
        let resource = self.cluster.resource(&of.gvk()).await.unwrap();
        self.cluster.get(&resource, of.namespace(), of.name()).await.unwrap()
    }

    async fn managers(&self, of: &Value) -> Vec<(String, String)> {
        let live = self.live(of).await.unwrap();
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let entries = live["metadata"]["managedFields"].as_array().unwrap().iter();
        let mut managers: Vec<_> = entries.map(|e| (text(e, "manager"), text(e, "operation"))).collect();
        managers.sort();
        managers
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[tokio::test]
async fn discovery_answers_as_argo_cd_words_it() {
    let Some(lab) = lab("lab-discovery").await else { return };
    let ask = |api: &str, kind: &str| GroupVersionKind::from_api_version(api, kind);
    let deployment = lab.cluster.resource(&ask("apps/v1", "Deployment")).await.unwrap();
    assert_eq!((deployment.plural.as_str(), deployment.namespaced), ("deployments", true));
    assert!(deployment.verbs.has("PATCH") && !deployment.verbs.has("bind"));
    let text = async |api: &str, kind: &str, verb: &str| {
        let error = lab.cluster.resource_with_verb(&ask(api, kind), verb).await.unwrap_err();
        (error.not_found, error.text)
    };
    assert_eq!(
        text("example.com/v1", "Widget", "get").await,
        (
            true,
            "failed to discover server resources for group version example.com/v1: the server could not find the \
             requested resource"
                .to_owned()
        )
    );
    assert_eq!(text("apps/v1", "Widget", "get").await, (true, "Widget.apps \"\" not found".to_owned()));
    assert_eq!(text("v1", "Widget", "get").await, (true, "Widget \"\" not found".to_owned()));
    assert_eq!(
        text("v1", "Binding", "get").await,
        (false, "get is not supported on resources of kind \"Binding\"".to_owned())
    );
    let scope = async |group: &str, kind: &str| lab.cluster.namespaced(&GroupKind::new(group, kind)).await;
    assert_eq!(scope("", "Node").await, Some(false));
    assert_eq!(scope("batch", "Job").await, Some(true));
    assert_eq!(scope("example.com", "Widget").await, None);
    assert_eq!(
        lab.cluster.preferred(&GroupKind::new("autoscaling", "HorizontalPodAutoscaler")).await.unwrap().version,
        "v2"
    );
    let versions = lab.cluster.api_versions().await.unwrap();
    assert!(versions.is_sorted());
    for wanted in ["v1", "v1/Pod", "apps/v1", "apps/v1/Deployment", "autoscaling/v1/HorizontalPodAutoscaler"] {
        assert!(versions.iter().any(|known| known == wanted), "{wanted} is missing");
    }
    assert!(!versions.iter().any(|known| known.ends_with("/TokenReview")));
    assert!(lab.cluster.version().await.unwrap().starts_with("v1."));
    let listable = lab.cluster.all_listable().await.unwrap();
    assert!(listable.iter().any(|r| r.plural == "events" && r.group.is_empty()));
    assert_eq!(listable.iter().filter(|r| r.kind == "HorizontalPodAutoscaler").count(), 1);
    assert_eq!(lab.cluster.unreadable_versions().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn client_side_apply_creates_then_patches_then_leaves_alone() {
    let Some(lab) = lab("lab-client-side").await else { return };
    let first = lab.config_map("settings", json!({"color": "red"}));
    let dry = Apply { dry_run: DryRun::Client, ..plain(&first) };
    assert_eq!(lab.message(&dry).await, "configmap/settings created (dry run)");
    assert_eq!(lab.live(&first).await, None);
    let applied = lab.apply(&plain(&first)).await.unwrap();
    assert_eq!(applied.message, "configmap/settings created");
    assert_eq!(applied.object, lab.live(&first).await);
    assert_eq!(lab.managers(&first).await, pairs(&[("argocd-controller", "Update")]));
    let unchanged = lab.apply(&plain(&first)).await.unwrap();
    assert_eq!(unchanged.message, "configmap/settings unchanged");
    assert_eq!(unchanged.object, lab.live(&first).await);
    assert_eq!(lab.message(&dry).await, "configmap/settings unchanged (dry run)");

    let second = lab.config_map("settings", json!({"color": "blue"}));
    let dry = Apply { dry_run: DryRun::Client, ..plain(&second) };
    assert_eq!(lab.message(&dry).await, "configmap/settings configured (dry run)");
    assert_eq!(lab.live(&first).await.unwrap()["data"], json!({"color": "red"}));
    let server = Apply { dry_run: DryRun::Server, ..plain(&second) };
    let predicted = lab.apply(&server).await.unwrap();
    assert_eq!(predicted.message, "configmap/settings configured (server dry run)");
    assert_eq!(predicted.object.unwrap()["data"], json!({"color": "blue"}));
    assert_eq!(lab.live(&first).await.unwrap()["data"], json!({"color": "red"}));
    assert_eq!(lab.message(&plain(&second)).await, "configmap/settings configured");
    assert_eq!(lab.live(&first).await.unwrap()["data"], json!({"color": "blue"}));
}

#[tokio::test]
async fn adopting_an_object_warns_about_the_missing_annotation() {
    let Some(lab) = lab("lab-adopt").await else { return };
    let object = lab.config_map("mine", json!({"a": "1"}));
    let resource = lab.cluster.resource(&object.gvk()).await.unwrap();
    lab.cluster.create(lab.permit, &resource, &object, "someone").await.unwrap();
    assert_eq!(
        lab.message(&plain(&object)).await,
        format!(
            "configmap/mine configured. Warning: resource configmaps/mine is missing the {}{WARNING}",
            names::LAST_APPLIED
        )
    );
}

#[tokio::test]
async fn objects_in_deletion_are_warned_about() {
    let Some(lab) = lab("lab-deleting").await else { return };
    let mut object = lab.config_map("going", json!({"a": "1"}));
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    lab.apply(&plain(&object)).await.unwrap();
    let resource = lab.cluster.resource(&object.gvk()).await.unwrap();
    let target = Target::new(&resource, lab.namespace, "going");
    let going = lab.cluster.delete(lab.permit, &target, Propagation::Background, None).await.unwrap().unwrap();
    assert!(going.is_deleting());
    let message =
        "configmap/going unchanged. Warning: Detected changes to resource going which is currently being deleted.";
    assert_eq!(lab.message(&plain(&object)).await, message);
    let release = json!({"metadata": {"finalizers": null}});
    lab.cluster.merge_patch(lab.permit, &target, &release, names::BINARY_MANAGER).await.unwrap();
    assert_eq!(lab.live(&object).await, None);
}

#[tokio::test]
async fn refusals_read_as_recorded() {
    let Some(lab) = lab("lab-errors").await else { return };
    let mut mismatch = lab.deployment("mismatch", "one");
    mismatch["spec"]["template"]["metadata"]["labels"]["app"] = json!("two");
    assert_eq!(
        lab.message(&plain(&mismatch)).await,
        "Deployment.apps \"mismatch\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"two\"}: \
         `selector` does not match template `labels`"
    );
    let mut typed = lab.deployment("typed", "one");
    typed["spec"]["replicas"] = json!("many");
    assert_eq!(
        lab.message(&plain(&typed)).await,
        "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct \
         field DeploymentSpec.spec.replicas of type int32"
    );
    lab.apply(&plain(&lab.deployment("fixed", "one"))).await.unwrap();
    let changed = lab.deployment("fixed", "two");
    let error = lab.apply(&plain(&changed)).await.unwrap_err();
    let (before, after) = error.text.split_once("/dev/shm/").unwrap();
    assert_eq!(before, "error when patching \"");
    assert_eq!(
        after.trim_start_matches(|c: char| c.is_ascii_digit()),
        "\": Deployment.apps \"fixed\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"two\"}}: \
         field is immutable"
    );
    assert!(matches!(error.cause.as_deref(), Some(cluster::Error::Invalid(_))));

    let mut nowhere = lab.config_map("lost", json!({}));
    nowhere["metadata"]["namespace"] = json!("lab-nowhere");
    assert_eq!(lab.message(&plain(&nowhere)).await, "namespaces \"lab-nowhere\" not found");
    let dry = Apply { dry_run: DryRun::Client, ..plain(&nowhere) };
    assert_eq!(lab.message(&dry).await, "configmap/lost created (dry run)");

    let mut nameless = lab.config_map("", json!({}));
    nameless["metadata"] = json!({"generateName": "made-", "namespace": lab.namespace});
    assert_eq!(lab.message(&plain(&nameless)).await, "from made-: cannot use generate name with apply");

    let unknown = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": lab.namespace}});
    let text = lab.message(&plain(&unknown)).await;
    assert!(
        text.starts_with("resource mapping not found for name: \"w\" namespace: \"lab-errors\" from \"/dev/shm/"),
        "{text}"
    );
    assert!(
        text.ends_with(
            "\": no matches for kind \"Widget\" in version \"example.com/v1\"\nensure CRDs are installed first"
        ),
        "{text}"
    );
    let both = Apply { server_side: true, force: true, ..plain(&changed) };
    assert_eq!(lab.message(&both).await, "error validating options: --force cannot be used with --server-side");
}

#[tokio::test]
async fn roles_and_bindings_are_reconciled_before_they_are_applied() {
    let Some(lab) = lab("lab-rbac").await else { return };
    let role = |verbs: Value| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "r", "namespace": lab.namespace},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
        })
    };
    let id = "role.rbac.authorization.k8s.io/r";
    let first = role(json!(["get", "list"]));
    let dry = Apply { dry_run: DryRun::Client, ..plain(&first) };
    assert_eq!(
        lab.message(&dry).await,
        format!(
            "{id} reconciled (dry run). reconciliation required create\n\tmissing rules added:\n\t\t{{Verbs:[get list] \
             APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}}{id} created (dry run)"
        )
    );
    assert_eq!(
        lab.message(&plain(&first)).await,
        format!(
            "{id} reconciled. reconciliation required create\n\tmissing rules added:\n\t\t{{Verbs:[get list] APIGroups:[] \
             Resources:[pods] ResourceNames:[] NonResourceURLs:[]}}{id} configured. Warning: resource roles/r is missing \
             the {}{WARNING}",
            names::LAST_APPLIED
        )
    );
    assert_eq!(
        lab.managers(&first).await,
        pairs(&[("argocd-application-controller", "Update"), ("argocd-controller", "Update")])
    );
    assert_eq!(lab.message(&plain(&first)).await, format!("{id} reconciled{id} unchanged"));
    assert_eq!(
        lab.message(&plain(&role(json!(["get", "list", "watch"])))).await,
        format!(
            "{id} reconciled. reconciliation required update\n\tmissing rules added:\n\t\t{{Verbs:[watch] APIGroups:[] \
             Resources:[pods] ResourceNames:[] NonResourceURLs:[]}}{id} configured"
        )
    );

    let binding = |role: &str| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "b", "namespace": lab.namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": lab.namespace}],
        })
    };
    let created = lab.message(&plain(&binding("r"))).await;
    let start = "rolebinding.rbac.authorization.k8s.io/b reconciled. reconciliation required create\n\tmissing subjects \
                 added:\n\t\t{Kind:ServiceAccount APIGroup: Name:default Namespace:lab-rbac}";
    assert!(created.starts_with(start), "{created}");
    let uid = lab.live(&binding("r")).await.unwrap().uid().to_owned();
    let recreated = lab.message(&plain(&binding("other"))).await;
    assert!(recreated.contains("reconciliation required recreate"), "{recreated}");
    assert_ne!(lab.live(&binding("r")).await.unwrap().uid(), uid);

    let mut nowhere = first.clone();
    nowhere["metadata"]["namespace"] = json!("lab-nowhere");
    assert_eq!(
        lab.message(&plain(&nowhere)).await,
        "error running kubectl auth reconcile: error getting namespace lab-nowhere: namespaces \"lab-nowhere\" not found"
    );
}

#[tokio::test]
async fn server_side_apply_takes_over_from_client_side_apply() {
    let Some(lab) = lab("lab-server-side").await else { return };
    let object = lab.config_map("settings", json!({"color": "red", "gone": "1"}));
    lab.apply(&plain(&object)).await.unwrap();
    let next = lab.config_map("settings", json!({"color": "blue"}));
    let other = json!({"data": {"extra": "1", "color": "green"}});
    let resource = lab.cluster.resource(&object.gvk()).await.unwrap();
    let target = Target::new(&resource, lab.namespace, "settings");
    lab.cluster.merge_patch(lab.permit, &target, &other, "other-tool").await.unwrap();

    let predicted = lab.cluster.predict(&next, names::FIELD_MANAGER).await.unwrap();
    assert_eq!(predicted["data"]["color"], "blue");
    assert_eq!(lab.live(&object).await.unwrap()["data"]["color"], "green");

    let applied = lab.apply(&Apply { server_side: true, ..plain(&next) }).await.unwrap();
    assert_eq!(applied.message, "configmap/settings serverside-applied");
    let live = lab.live(&object).await.unwrap();
    assert_eq!(live["data"], json!({"color": "blue", "extra": "1"}));
    assert_eq!(live.annotation(names::LAST_APPLIED), None);
    assert_eq!(applied.object, Some(live));
    assert_eq!(lab.managers(&object).await, pairs(&[("argocd-controller", "Apply"), ("other-tool", "Update")]));
}

#[tokio::test]
async fn ownership_of_another_client_side_manager_is_migrated() {
    let Some(lab) = lab("lab-migration").await else { return };
    let object = lab.config_map("settings", json!({"color": "red"}));
    lab.apply(&Apply { manager: "kubectl-client-side-apply", ..plain(&object) }).await.unwrap();
    let resource = lab.cluster.resource(&object.gvk()).await.unwrap();
    let target = Target::new(&resource, lab.namespace, "settings");
    let migrate =
        || lab.cluster.migrate_ownership(lab.permit, &target, "kubectl-client-side-apply", names::FIELD_MANAGER);
    assert!(migrate().await.unwrap().is_some());
    assert_eq!(lab.managers(&object).await, pairs(&[("argocd-controller", "Apply")]));
    assert_eq!(migrate().await.unwrap(), None);
}

#[tokio::test]
async fn replace_overwrites_and_force_recreates() {
    let Some(lab) = lab("lab-replace").await else { return };
    let first = lab.config_map("swapped", json!({"v": "1"}));
    let replace = |object| Apply { replace: true, ..plain(object) };
    let created = lab.apply(&replace(&first)).await.unwrap();
    assert_eq!(created.message, "configmap/swapped created");
    let live = created.object.unwrap();
    assert_eq!(live.annotation(names::LAST_APPLIED), None);
    let resource = lab.cluster.resource(&first.gvk()).await.unwrap();
    let target = Target::new(&resource, lab.namespace, "swapped");
    lab.cluster.merge_patch(lab.permit, &target, &json!({"data": {"byhand": "1"}}), "someone").await.unwrap();
    let again = Apply { live: Some(&live), ..replace(&first) };
    assert_eq!(lab.message(&Apply { dry_run: DryRun::Client, ..again }).await, "configmap/swapped replaced (dry run)");
    assert_eq!(lab.message(&again).await, "configmap/swapped replaced");
    assert_eq!(lab.live(&first).await.unwrap()["data"], json!({"v": "1"}));
    assert_eq!(lab.managers(&first).await, pairs(&[("argocd-application-controller", "Update")]));

    let old = lab.job("example.com/load:1");
    let live = lab.apply(&replace(&old)).await.unwrap().object.unwrap();
    let new = lab.job("example.com/load:2");
    let refused = lab.message(&Apply { live: Some(&live), ..replace(&new) }).await;
    assert!(refused.starts_with("error when replacing \"/dev/shm/"), "{refused}");
    let forced = lab.apply(&Apply { live: Some(&live), force: true, ..replace(&new) }).await.unwrap();
    assert_eq!(forced.message, "job.batch \"load\" deleted from lab-replace namespace\njob.batch/load replaced");
    assert_ne!(forced.object.unwrap().uid(), live.uid());

    let mut space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": lab.namespace}});
    let live = lab.live(&space).await.unwrap();
    space["metadata"]["labels"] = json!({"seen": "yes"});
    let update = Apply { live: Some(&live), force: true, ..replace(&space) };
    assert_eq!(lab.message(&update).await, "Namespace/lab-replace updated");
    let updated = lab.live(&space).await.unwrap();
    assert_eq!((updated.uid(), updated.label("seen")), (live.uid(), Some("yes")));
}

#[tokio::test]
async fn force_recreates_only_what_a_patch_cannot_change() {
    let Some(lab) = lab("lab-force").await else { return };
    let first = lab.deployment("fixed", "one");
    let uid = lab.apply(&plain(&first)).await.unwrap().object.unwrap().uid().to_owned();
    let mut scaled = first.clone();
    scaled["metadata"]["labels"] = json!({"a": "b"});
    let patched = lab.apply(&Apply { force: true, ..plain(&scaled) }).await.unwrap().object.unwrap();
    assert_eq!(patched.uid(), uid);
    let changed = lab.deployment("fixed", "two");
    let forced = lab.apply(&Apply { force: true, ..plain(&changed) }).await.unwrap();
    assert_eq!(forced.message, "deployment.apps/fixed configured");
    assert_ne!(forced.object.unwrap().uid(), uid);
}

#[tokio::test]
async fn custom_kinds_are_usable_right_after_their_definition() {
    let Some(lab) = lab("lab-crd").await else { return };
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.lab.example.com", "namespace": lab.namespace},
        "spec": {
            "group": "lab.example.com", "scope": "Namespaced",
            "names": {"kind": "Gear", "plural": "gears", "singular": "gear", "listKind": "GearList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let gear = json!({"apiVersion": "lab.example.com/v1", "kind": "Gear",
        "metadata": {"name": "g", "namespace": lab.namespace}, "spec": {"teeth": 12}});
    assert_eq!(lab.cluster.namespaced(&gear.group_kind()).await, None);
    let defined = lab.apply(&plain(&crd)).await.unwrap();
    assert_eq!(defined.message, "customresourcedefinition.apiextensions.k8s.io/gears.lab.example.com created");
    assert_eq!(lab.message(&plain(&gear)).await, "gear.lab.example.com/g created");
    assert_eq!(lab.cluster.namespaced(&gear.group_kind()).await, Some(true));
    assert!(lab.cluster.api_versions().await.unwrap().contains(&"lab.example.com/v1/Gear".to_owned()));
    let live = lab.live(&crd).await.unwrap();
    let update = Apply { live: Some(&live), replace: true, force: true, ..plain(&crd) };
    assert_eq!(lab.message(&update).await, "CustomResourceDefinition/gears.lab.example.com updated");
    assert!(lab.live(&gear).await.is_some());
}

#[tokio::test]
async fn lists_are_complete_over_pages_and_carry_kinds() {
    let Some(lab) = lab("lab-list").await else { return };
    let resource = lab.cluster.resource(&GroupVersionKind::from_api_version("v1", "ConfigMap")).await.unwrap();
    for number in 0..260 {
        let mut object = lab.config_map(&format!("n-{number:03}"), json!({"v": "1"}));
        object["metadata"]["labels"] = json!({"odd": (number % 2 == 1).to_string()});
        lab.cluster.create(lab.permit, &resource, &object, "test").await.unwrap();
    }
    let odd = lab.cluster.list(&resource, Some(lab.namespace), "odd=true").await.unwrap();
    assert_eq!(odd.items.len(), 130);
    let all = lab.cluster.list(&resource, Some(lab.namespace), "odd").await.unwrap();
    assert_eq!(all.items.len(), 260);
    assert!(all.items.iter().all(|item| item.gvk() == resource.gvk() && item["data"] == json!({"v": "1"})));
    assert!(!all.resource_version.is_empty());
    let metadata = lab.cluster.list_metadata(&resource, None, "odd").await.unwrap();
    assert_eq!(metadata.items.len(), 260);
    assert!(metadata.items.iter().all(|item| item.gvk() == resource.gvk() && item.get("data").is_none()));
}

#[tokio::test]
async fn deletes_respect_the_uid_and_report_what_is_gone() {
    let Some(lab) = lab("lab-delete").await else { return };
    let object = lab.config_map("x", json!({}));
    lab.apply(&plain(&object)).await.unwrap();
    let resource = lab.cluster.resource(&object.gvk()).await.unwrap();
    let target = Target::new(&resource, lab.namespace, "x");
    let other = lab.cluster.delete(lab.permit, &target, Propagation::Background, Some("other")).await;
    assert!(matches!(other, Err(cluster::Error::Conflict(_))), "{other:?}");
    let uid = lab.live(&object).await.unwrap().uid().to_owned();
    lab.cluster.delete(lab.permit, &target, Propagation::Background, Some(&uid)).await.unwrap();
    let gone = lab.cluster.delete(lab.permit, &target, Propagation::Background, None).await.unwrap_err();
    assert_eq!(gone.to_string(), "configmaps \"x\" not found");
    assert!(gone.is_not_found());
}

#[tokio::test]
async fn an_impersonated_user_has_only_its_own_rights() {
    let Some(lab) = lab("lab-user").await else { return };
    let object = lab.config_map("x", json!({}));
    let user = lab.cluster.as_user("system:serviceaccount:lab-user:nobody").unwrap();
    let refused = user.apply(lab.permit, &plain(&object)).await.unwrap_err();
    assert!(
        refused.text.ends_with(
            "configmaps \"x\" is forbidden: User \"system:serviceaccount:lab-user:nobody\" cannot get resource \
             \"configmaps\" in API group \"\" in the namespace \"lab-user\""
        ),
        "{}",
        refused.text
    );
    assert!(matches!(refused.cause.as_deref(), Some(cluster::Error::Forbidden(_))));
}
