use serde_json::json;

use crate::diff::merge_patch;

#[test]
fn merge_patch_removes_null_members() {
    assert_eq!(merge_patch(&json!({"a": 1, "b": {"c": 1}}), &json!({"b": {"c": null}})), json!({"a": 1, "b": {}}));
}
