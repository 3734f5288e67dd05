//! Laws that the health of every kind keeps.
//!
//! In:  `$LITECD_REFERENCE/health-cases/cases.jsonl`, one object a line; unset, the tests say that they did not run.
//! Out: no verdict depends on what an object is called, or on the order of its conditions.

use std::path::PathBuf;

use litecd::api::ObjectExt;
use litecd::health::{self, Overrides};
use serde_json::{Value, json};

/// The objects and where they are from.
fn objects() -> Option<Vec<(String, Value)>> {
    let Some(reference) = std::env::var_os("LITECD_REFERENCE") else {
        println!("not run: LITECD_REFERENCE is not set");
        return None;
    };
    let path = PathBuf::from(reference).join("health-cases/cases.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    let cases = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    let named = cases.map(|mut case| (format!("{} {}", case["dir"], case["case"]), case["object"].take()));
    Some(named.collect())
}

/// Status and message; nothing for kinds without health.
fn verdict(object: &Value) -> Option<(String, String)> {
    let found = health::of(object, &Overrides::none());
    found.unwrap_or_else(|error| panic!("{error}: {object}")).map(|health| (health.status.to_string(), health.message))
}

fn must_all_hold(wrong: &[String], checked: usize) {
    println!("{checked} objects");
    assert!(checked >= 850, "only {checked} objects have a health");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_verdict_depends_on_the_name() {
    let Some(objects) = objects() else { return };
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (place, object) in objects {
        let Some((status, message)) = verdict(&object) else { continue };
        checked += 1;
        let name = object.name().to_owned();
        let mut renamed = object.clone();
        renamed.metadata_mut().insert("name".to_owned(), json!("quite-another-name"));
        let found = verdict(&renamed);
        // A text may name the object; nothing else of it may change.
        let expected = if name.is_empty() { message.clone() } else { message.replace(&name, "quite-another-name") };
        let same = found.as_ref().is_some_and(|(of, text)| *of == status && (*text == expected || *text == message));
        if !same {
            wrong.push(format!("{place}: {status} {message:?}, renamed {found:?}"));
        }
    }
    must_all_hold(&wrong, checked);
}

#[test]
fn no_verdict_depends_on_the_order_of_conditions() {
    let Some(objects) = objects() else { return };
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (place, object) in objects {
        let Some((status, message)) = verdict(&object) else { continue };
        checked += 1;
        let Some(conditions) = object.pointer("/status/conditions").and_then(Value::as_array) else { continue };
        let (mut reversed, mut rotated) = (conditions.clone(), conditions.clone());
        reversed.reverse();
        if !rotated.is_empty() {
            rotated.rotate_left(1);
        }
        for order in [reversed, rotated] {
            let mut reordered = object.clone();
            reordered["status"]["conditions"] = order.into();
            let found = verdict(&reordered);
            if found.as_ref().is_none_or(|(of, _)| *of != status) {
                wrong.push(format!("{place}: {status} {message:?}, reordered {found:?}"));
                break;
            }
        }
    }
    must_all_hold(&wrong, checked);
}
