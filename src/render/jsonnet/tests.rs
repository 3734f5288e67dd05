//! Tests of Jsonnet against answers of go-jsonnet itself.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::imports::Search;
use super::{Variable, output, program};

const TABLE: &str = include_str!("../../../corpus/golib/jsonnet.json");

fn rows(section: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    table[section].as_array().unwrap().clone()
}

/// A checkout with the files of a row.
struct Checkout {
    dir: tempfile::TempDir,
}

impl Checkout {
    fn of(row: &Value) -> Self {
        let checkout = Self { dir: tempfile::tempdir().unwrap() };
        checkout.write("app/main.jsonnet", row["main"].as_str().unwrap());
        for (path, text) in row["files"].as_object().into_iter().flatten() {
            checkout.write(path, text.as_str().unwrap());
        }
        checkout
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn evaluate(&self, row: &Value) -> Result<String, String> {
        let variables = |key: &str| -> Vec<Variable> { serde_json::from_value(row[key].clone()).unwrap_or_default() };
        let libs = row["libs"].as_array().cloned().unwrap_or_default();
        let libs = libs.iter().map(|lib| self.root().join(lib.as_str().unwrap()));
        let search =
            Search { root: self.root(), folders: std::iter::once(self.root().join("app")).chain(libs).collect() };
        let outcome = program::evaluate(&program::Setup {
            file: &self.root().join("app/main.jsonnet"),
            search: &search,
            ext_vars: &variables("extVars"),
            tlas: &variables("tlas"),
        });
        outcome.map_err(|text| text.replace(&*self.root().to_string_lossy(), "<root>"))
    }
}

fn answer(row: &Value) -> Result<Value, String> {
    let json = Checkout::of(row).evaluate(row);
    let json = json.map_err(|cause| format!("Failed to evaluate jsonnet \"main.jsonnet\": {cause}"))?;
    let objects = output::objects(&json);
    objects.map(Value::Array).map_err(|cause| format!("Failed to unmarshal generated json \"main.jsonnet\": {cause}"))
}

/// What Go has: its objects without those that are null.
fn expected(row: &Value) -> Result<Value, String> {
    match row["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => {
            Ok(row["objects"].as_array().into_iter().flatten().filter(|object| !object.is_null()).cloned().collect())
        }
    }
}

/// Programs whose failure reads otherwise: go-jsonnet's library is another text, so its lines in a trace cannot be the same.
/// The first line is the same unless the second list has the program too.
const OTHER_TRACE: &[&str] = &[
    "std.assertEqual(1, 2)",
    "{ a: std.assertEqual({ x: 1 }, { x: 2 }) }",
    "1 % 0",
    "1 in {}",
    "'a' in 1",
    "[x for x in [1] if 1]",
    "5[0:1]",
    "local x = x; x",
    "{ a: self.a }",
    "{ a: std.map(function(x) error 'in map', [1]) }",
    "{ a: std.manifestYamlDoc({ b: error 'in yaml' }) }",
    "{ a: std.objectHas(1, 'a') }",
    "{ a: std.mergePatch({}, error 'p') }",
    "{ a: std.get(1, 'a') }",
];

/// Programs about which the evaluator says or does something else.
const OTHER_ANSWER: &[&str] = &[
    "{ a: [1][-1] }",
    "{ a: [1][0.5] }",
    "{ a: 1 .x }",
    "{ a: null.x }",
    "[1, 2][0:1:0]",
    "[1][0:'a']",
    "{ a: '%d' % 'x' }",
    "{ a: '%s %s' % ['x'] }",
    "{ a: '%(b)s' % { a: 1 } }",
    "{ a: '%' % [] }",
    "{ a: '%q' % 1 }",
    "{ a: std.parseInt('x') }",
    "{ a: std.parseInt('') }",
    "{ a: std.parseJson('{') }",
    "{ a: std.substr(1, 2, 3) }",
    "{ a: std.join(1, []) }",
    "{ a: std.split('a', '') }",
    "{ a: std.base64Decode('!') }",
    "{ a: std.map(1, [1]) }",
    "{ a: std.manifestJson(function(x) 1) }",
    "{ a: std.codepoint('ab') }",
    "{ a: std.char(-1) }",
    "local f(x, x) = 1; f",
    "function(x, x) 1",
    "a in super",
    "{ apiVersion: 'v1', kind: 'ConfigMap', data: { x: std.reverse('é日') } }",
    "{ apiVersion: 'v1', kind: 'ConfigMap', data: { x: std.log10(1000) } }",
];

/// Runs the rows of a section and reports those that differ, apart from the listed ones, and listed ones that do not.
fn check_section(section: &str) -> usize {
    let rows = rows(section);
    let mut wrong = Vec::new();
    for row in &rows {
        let main = row["main"].as_str().unwrap();
        let (expect, got) = (numbers(expected(row)), numbers(answer(row)));
        let (first, other) = (first_line(&expect) == first_line(&got), expect != got);
        let listed = (OTHER_ANSWER.contains(&main), OTHER_TRACE.contains(&main));
        let fits = match listed {
            (true, _) => !first,
            (false, true) => first && other,
            (false, false) => !other,
        };
        if !fits {
            wrong.push(format!("{main}\n  go:  {expect:?}\n  got: {got:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ, or are listed and do not:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    rows.len()
}

fn first_line(answer: &Result<Value, String>) -> Result<Value, String> {
    answer.clone().map_err(|text| text.lines().next().unwrap_or_default().to_owned())
}

/// The table went through JSON once more, where whole floats lost their type.
fn numbers(answer: Result<Value, String>) -> Result<Value, String> {
    answer.map(crate::render::documents::whole_numbers)
}

#[test]
fn programs_give_what_go_jsonnet_gives() {
    assert!(check_section("programs") > 250);
}

#[test]
fn failures_read_as_in_go_jsonnet() {
    assert!(check_section("failures") > 130);
}

#[test]
fn syntax_errors_read_as_in_go_jsonnet() {
    assert!(check_section("syntax") > 160);
}

#[test]
fn imports_stay_in_the_checkout() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.libsonnet");
    fs::write(&secret, "'secret'").unwrap();
    let checkout = Checkout::of(&json!({"main": "", "files": {"app/a.libsonnet": "1"}}));
    std::os::unix::fs::symlink(&secret, checkout.root().join("app/link.libsonnet")).unwrap();
    std::os::unix::fs::symlink(outside.path(), checkout.root().join("app/folder")).unwrap();
    std::os::unix::fs::symlink("a.libsonnet", checkout.root().join("app/inside.libsonnet")).unwrap();
    let up = format!("../../../../../../../..{}", secret.display());
    for path in [&*secret.to_string_lossy(), &up, "link.libsonnet", "folder/secret.libsonnet", "/etc/hostname"] {
        for word in ["import", "importstr", "importbin"] {
            checkout.write("app/main.jsonnet", &format!("{{ a: {word} '{path}' }}"));
            let failure = checkout.evaluate(&json!({})).unwrap_err();
            let expect = format!(
                "RUNTIME ERROR: couldn't open import {path:?}: no match locally or in the Jsonnet library paths\n"
            );
            assert!(failure.starts_with(&expect), "{word} {path}: {failure}");
        }
    }
    checkout.write("app/main.jsonnet", "{ a: import 'inside.libsonnet' }");
    assert_eq!(checkout.evaluate(&json!({})), Ok("{\n   \"a\": 1\n}".to_owned()));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[-a-z0-9:{}\\[\\](),;.=+*!|>#'\"@$ \n\t\\\\é]{0,60}") {
        let checkout = Checkout::of(&json!({"main": text}));
        let _ = checkout.evaluate(&json!({}));
        let _ = super::syntax::first_problem(&text);
    }
}
