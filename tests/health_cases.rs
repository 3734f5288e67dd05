//! Runs the library of custom kinds over Argo CD's own test data.
//!
//! In:  `$LITECD_REFERENCE/health-cases/cases.jsonl`, one case a line; unset, the test says that it did not run.
//! Out: every case of every kind that the library claims to know must give exactly Argo CD's status and message.

use std::collections::BTreeMap;
use std::path::PathBuf;

use litecd::api::ObjectExt;
use litecd::health::library;
use serde_json::Value;

/// Cases that must be covered at least, so that a kind dropped from the library is noticed.
const COVERED: usize = 850;

fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn library_gives_the_health_that_argo_cd_gives() {
    let Some(reference) = std::env::var_os("LITECD_REFERENCE") else {
        println!("not run: LITECD_REFERENCE is not set");
        return;
    };
    let path = PathBuf::from(reference).join("health-cases/cases.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    let cases: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    let mut unknown = BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let object = &case["object"];
        let key = format!("{}/{}", object.group(), object.kind());
        let dir = text(case, "/dir");
        if !library::knows(&key) {
            *unknown.entry(dir).or_default() += 1;
            continue;
        }
        let found = library::health(&key, object).unwrap_or_else(|fault| panic!("{dir}: {fault}"));
        let found = found.map(|health| (health.status.to_string(), health.message));
        let expected = (text(case, "/expect/status"), text(case, "/expect/message"));
        if found.as_ref() != Some(&expected) {
            wrong.push(format!("{dir} {}\n  expected {expected:?}\n  found    {found:?}", text(case, "/case")));
        }
    }
    let covered = cases.len() - unknown.values().sum::<usize>();
    println!("{covered} of {} cases covered; unknown kinds: {unknown:?}", cases.len());
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(covered >= COVERED, "only {covered} of {} cases covered", cases.len());
}
