//! Secrets in a published difference.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::names::LAST_APPLIED;
use crate::api::object::ObjectExt;
use crate::diff::{mask_secret, with_last_applied};

fn secret(part: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, part: data})
}

#[test]
fn equal_values_get_equal_masks_and_others_longer_ones() {
    let target = secret("stringData", json!({"a": "x", "b": "new"}));
    let live = with_last_applied(&secret("data", json!({"a": "eA==", "b": "b2xk"})));
    let (target, live) = mask_secret(Some(&target), Some(&live), &BTreeSet::new()).unwrap();
    let (target, live) = (target.unwrap(), live.unwrap());
    assert_eq!(target["data"], json!({"a": "++++++++", "b": "++++++++"}));
    assert_eq!(target.get("stringData"), None);
    assert_eq!(live["data"], json!({"a": "++++++++", "b": "++++++++++++"}));
    let applied = live.annotation(LAST_APPLIED).unwrap();
    assert!(applied.contains(r#""data":{"a":"++++++++","b":"++++++++++++"}"#), "{applied}");
}

#[test]
fn an_annotation_that_cannot_be_read_is_hidden_whole() {
    let mut live = secret("data", json!({}));
    live.set_annotation(LAST_APPLIED, "{broken secret");
    let (_, live) = mask_secret(None, Some(&live), &BTreeSet::new()).unwrap();
    assert_eq!(live.unwrap().annotation(LAST_APPLIED), Some("++++++++"));
}

#[test]
fn named_annotations_are_hidden_and_other_kinds_are_not_touched() {
    let hidden = BTreeSet::from(["token".to_owned()]);
    let mut live = secret("data", Value::Null);
    live.set_annotation("token", "t");
    let (_, masked) = mask_secret(None, Some(&live), &hidden).unwrap();
    assert_eq!(masked.unwrap().annotation("token"), Some("++++++++"));
    live["kind"] = "ConfigMap".into();
    assert_eq!(mask_secret(None, Some(&live), &hidden).unwrap().1, Some(live));
    assert!(mask_secret(None, Some(&secret("data", json!("text"))), &hidden).is_err());
}
