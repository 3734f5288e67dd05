//! Ignored fields keep their live value on a sync.

use serde_json::{Value, json};

use super::{comparer, rule};
use crate::diff::respect_ignored;

fn check(rules: &[Value], target: &Value, live: &Value, expect: &Value) {
    let rules: Vec<_> = rules.iter().cloned().map(rule).collect();
    assert_eq!(&respect_ignored(target, live, &comparer(&rules)).unwrap(), expect);
}

fn widget(spec: Value) -> Value {
    json!({"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

#[test]
fn live_value_of_an_ignored_field_is_applied() {
    let rules = [json!({"group": "x.io", "kind": "Widget", "jsonPointers": ["/spec/size"]})];
    let (git, live) = (widget(json!({"size": 1, "color": "red"})), widget(json!({"size": 5, "color": "blue"})));
    check(&rules, &git, &live, &widget(json!({"size": 5, "color": "red"})));
}

#[test]
fn ignored_field_that_is_not_live_is_left_out() {
    let rules = [json!({"group": "x.io", "kind": "Widget", "jsonPointers": ["/spec/size"]})];
    check(&rules, &widget(json!({"size": 1, "a": 1})), &widget(json!({"a": 1})), &widget(json!({"a": 1})));
}

#[test]
fn siblings_in_a_custom_list_come_from_git() {
    let rules = [json!({"group": "x.io", "kind": "Widget", "jqPathExpressions": [".spec.parts[].weight"]})];
    let git = widget(json!({"parts": [{"name": "a", "weight": 1, "v": "new"}, {"name": "c", "weight": 9, "v": "c"}]}));
    let live = widget(json!({"parts": [{"name": "b", "weight": 7, "v": "b"}, {"name": "a", "weight": 5, "v": "old"}]}));
    let expect = widget(json!({"parts": [{"name": "a", "weight": 5, "v": "new"}, {"name": "c", "v": "c"}]}));
    check(&rules, &git, &live, &expect);
}

#[test]
fn an_ignored_list_item_is_kept_whole() {
    let rules =
        [json!({"group": "x.io", "kind": "Widget", "jqPathExpressions": [r#".spec.parts[] | select(.name == "x")"#]})];
    let git = widget(json!({"parts": [{"name": "a"}]}));
    let live = widget(json!({"parts": [{"name": "a", "v": 1}, {"name": "x", "v": 2}]}));
    check(&rules, &git, &live, &widget(json!({"parts": [{"name": "a"}, {"name": "x", "v": 2}]})));
}

#[test]
fn fields_beside_an_ignored_one_in_a_replaced_map_come_from_git() {
    let pdb = |labels: Value| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "p"},
            "spec": {"selector": {"matchLabels": labels}}})
    };
    let rules = [json!({"group": "policy", "kind": "*", "jsonPointers": ["/spec/selector/matchLabels/hash"]})];
    let git = pdb(json!({"app": "new"}));
    let live = pdb(json!({"app": "old", "hash": "1", "extra": "x"}));
    check(&rules, &git, &live, &pdb(json!({"app": "new", "hash": "1"})));
}

#[test]
fn containers_are_told_apart_by_name() {
    let pod = |containers: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}});
    let rules = [json!({"kind": "Pod", "jqPathExpressions": [".spec.containers[].image"]})];
    let git = pod(json!([{"name": "a", "image": "1", "args": ["new"]}]));
    let live = pod(json!([{"name": "side", "image": "s"}, {"name": "a", "image": "2", "args": ["old"]}]));
    check(&rules, &git, &live, &pod(json!([{"name": "a", "image": "2", "args": ["new"]}])));
}

#[test]
fn an_ignored_annotation_is_kept_where_git_has_no_annotations() {
    let rules = [json!({"group": "x.io", "kind": "Widget", "jsonPointers": ["/metadata/annotations/a~1b"]})];
    let mut live = widget(json!({}));
    live["metadata"]["annotations"] = json!({"a/b": "1", "c": "2"});
    let mut expect = widget(json!({}));
    expect["metadata"]["annotations"] = json!({"a/b": "1"});
    check(&rules, &widget(json!({})), &live, &expect);
}

#[test]
fn status_never_comes_from_live() {
    let rules = [json!({"group": "*", "kind": "*", "jsonPointers": ["/status"]})];
    let mut live = widget(json!({}));
    live["status"] = json!({"phase": "x"});
    check(&rules, &widget(json!({})), &live, &widget(json!({})));
}
