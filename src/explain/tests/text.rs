//! The report as people read it.

use serde_json::json;

use super::{app, deployment, facts, live, pair, report};

#[test]
fn what_is_lost_is_listed_with_one_explanation() {
    let mut there = deployment("web", json!({"replicas": 1}));
    there["metadata"]["labels"] = json!({"a": "1", "b": "2"});
    let forgotten = json!([{"manager": "ancient-changes", "operation": "Update", "time": "2025-05-05T00:00:00Z",
                            "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}}}}]);
    let target = deployment("web", json!({"replicas": 1}));
    let facts = facts(app(json!({})), vec![pair(Some(target), Some(live(there, forgotten)))]);
    let text = report(&facts).text();
    assert!(
        text.ends_with(
            "
apps/Deployment shop/web: is as the sources want it
  sync     Synced
  health   Progressing: Waiting for rollout to finish: 0 out of 1 new replicas have been updated...
  lost     metadata.labels.a
           metadata.labels.b
           not in the sources, and no sync removes it: its owner is forgotten (ancient-changes, last changed 2025-05-05T00:00:00Z),
           since past ten managers the API server forgets who set a field; remove it by hand
"
        ),
        "{text}"
    );
}

#[test]
fn a_report_reads_from_the_verdict_to_its_reasons() {
    let target = deployment("web", json!({"replicas": 3}));
    let mut there = deployment("web", json!({"replicas": 5}));
    there["status"] = json!({"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]});
    let edit = json!([{"manager": "kubectl-edit", "operation": "Update", "time": "2026-01-02T00:00:00Z",
                       "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let rules = json!([{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replica"]}]);
    let app = app(json!({"spec": {"ignoreDifferences": rules, "syncPolicy": {"automated": {"enabled": false}}}}));
    let facts = facts(app, vec![pair(Some(target), Some(live(there, edit)))]);
    assert_eq!(
        report(&facts).text(),
        "\
Application argocd/shop
  sync     OutOfSync with 4f2a1c9
  health   Degraded
           apps/Deployment shop/web: Deployment \"web\" exceeded its progress deadline
  next     nothing by itself: somebody has to start a sync
           automated sync is off (spec.syncPolicy.automated)
           start one with kubectl -n argocd patch applications.argoproj.io shop --type merge -p '{\"operation\":{\"sync\":{}}}'

apps/Deployment shop/web: differs from the sources
  sync     OutOfSync
  health   Degraded: Deployment \"web\" exceeded its progress deadline
  field    spec.replicas
           desired  3
           live     5
           owner    kubectl-edit (Update), since 2026-01-02T00:00:00Z
  rule     jsonPointers /spec/replica (spec.ignoreDifferences[0])
           hides nothing: neither side has such a field
"
    );
}
