//! What comparisons predict against what a real API server, named by `LITECD_TEST_KUBECONFIG`, makes of an apply;
//! without one nothing runs.
//!
//! In:  `objects.yaml`: objects of the built-in kinds and a change to each.
//! Out: an object that was applied does not differ from its live form, defaults and all; a change is predicted as a
//! server-side dry run of the real apply answers it; a comparison by dry run says the same.

use std::sync::Arc;

use litecd::api::{ObjectExt, names};
use litecd::cluster::{self, Apply, Cluster, DryRun};
use litecd::diff::{self, Comparer, Dropped, StatusField, SystemRules, TrackingRule, Webhooks};
use litecd::gocompat::yaml;
use litecd::guard::{self, Permit, Presence};
use serde_json::{Value, json};

const OBJECTS: &str = include_str!("objects.yaml");

struct Lab {
    cluster: Cluster,
    permit: Permit,
    comparer: Comparer,
}

impl Lab {
    async fn new(path: &str) -> Self {
        let config = cluster::from_kubeconfig(path.as_ref(), None).await.unwrap();
        let mut system = SystemRules::default();
        system.ignore_status(StatusField::All);
        let settings = diff::Settings {
            app_rules: &[],
            system: &system,
            tracking: TrackingRule { by_annotation: true, label_key: names::INSTANCE_LABEL.to_owned() },
            server_side_apply: false,
            timer: Arc::new(|| Box::new(|| false)),
        };
        Self {
            cluster: Cluster::connect(config, names::IN_CLUSTER_SERVER.to_owned()).unwrap(),
            permit: guard::decide(Some(&Presence::default()), false).permit().unwrap(),
            comparer: Comparer::new(settings).unwrap(),
        }
    }

    async fn apply(&self, object: &Value, live: Option<&Value>, dry_run: DryRun) -> Result<Value, String> {
        let ask = Apply {
            object,
            live,
            dry_run,
            server_side: false,
            force: false,
            replace: false,
            manager: names::FIELD_MANAGER,
        };
        let applied = self.cluster.apply(self.permit, &ask).await.map_err(|error| error.to_string())?;
        applied.object.ok_or_else(|| "no object in the answer".to_owned())
    }

    async fn get(&self, object: &Value) -> Value {
        let resource = self.cluster.resource(&object.gvk()).await.unwrap();
        self.cluster.get(&resource, object.namespace(), object.name()).await.unwrap().unwrap_or_default()
    }

    async fn by_server(&self, target: &Value, live: &Value) -> Result<bool, String> {
        let object = self.comparer.dry_run_object(target, live);
        let answer = self.cluster.predict(&object, names::FIELD_MANAGER).await.map_err(|error| error.to_string())?;
        let run = diff::DryRun { answer: &answer, webhooks: Webhooks::Undone, dropped: Dropped::Removed };
        self.comparer.compare_dry_run(target, live, &run).map(|found| found.modified).map_err(|error| error.to_string())
    }

    /// The form in which sides are compared, without what only the server writes.
    fn plain(&self, object: &Value) -> Value {
        let mut object = self.comparer.compare(None, Some(object)).unwrap().live;
        for field in ["managedFields", "resourceVersion", "generation", "uid", "selfLink"] {
            object.metadata_mut().remove(field);
        }
        if let Some(Value::Object(annotations)) = object.metadata_mut().get_mut("annotations") {
            annotations.remove(names::LAST_APPLIED);
            annotations.remove("deprecated.daemonset.template.generation");
            if annotations.is_empty() {
                object.metadata_mut().remove("annotations");
            }
        }
        object
    }

    async fn check(&self, object: &Value, change: &Value) -> Result<(), String> {
        self.apply(object, None, DryRun::None).await?;
        let live = self.get(object).await;
        let same = self.comparer.compare(Some(object), Some(&live)).map_err(|error| error.to_string())?;
        if same.modified {
            return Err(format!("differs from its live form:\n{}\n{}", same.live, same.predicted));
        }
        if self.by_server(object, &live).await? {
            return Err("differs from its live form by dry run".to_owned());
        }
        let target = diff::merge_patch(object, change);
        // Controllers write too; both answers must be about one version.
        for _ in 0..20 {
            let live = self.get(object).await;
            let outcome = self.check_change(&target, &live).await;
            if self.get(object).await.resource_version() == live.resource_version() {
                return outcome;
            }
        }
        Err("the object never comes to rest".to_owned())
    }

    async fn check_change(&self, target: &Value, live: &Value) -> Result<(), String> {
        let predicted = self.comparer.compare(Some(target), Some(live)).map_err(|error| error.to_string())?;
        if !predicted.modified {
            return Err("the change is not seen".to_owned());
        }
        let answer = self.apply(target, Some(live), DryRun::Server).await?;
        let (predicted, answer) = (self.plain(&predicted.predicted), self.plain(&answer));
        if predicted != answer {
            return Err(format!("predicted\n{predicted}\nthe server says\n{answer}"));
        }
        if !self.by_server(target, live).await? {
            return Err("the change is not seen by dry run".to_owned());
        }
        Ok(())
    }
}

#[tokio::test]
async fn predictions_are_what_the_api_server_answers() {
    let Ok(path) = std::env::var("LITECD_TEST_KUBECONFIG") else {
        println!("not run: LITECD_TEST_KUBECONFIG is not set");
        return;
    };
    let lab = Lab::new(&path).await;
    for name in ["diff", "diff-other"] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        lab.apply(&namespace, None, DryRun::None).await.unwrap();
    }
    let entries = yaml::parse_all(OBJECTS).unwrap();
    let mut wrong = Vec::new();
    for entry in &entries {
        let object = &entry["object"];
        if let Err(text) = lab.check(object, &entry["change"]).await {
            wrong.push(format!("{} {}: {text}", object.gvk(), object.name()));
        }
    }
    println!("{} kinds", entries.len());
    assert!(entries.len() >= 40);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}
