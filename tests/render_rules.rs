//! Keeps the table of `docs/rendering.md` true.
//!
//! In:  the table, the sources, the cases.
//! Out: a failure for a test or case that the table names and that is not there.

use std::fs;
use std::path::Path;

#[test]
fn every_test_and_case_of_the_table_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src", "tests"] {
        collect(&root.join(folder), &mut sources);
    }
    let table = fs::read_to_string(root.join("docs/rendering.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| REND-"));
    let mut named = 0;
    for row in rows {
        let tested_by = row.split(" | ").nth(2).unwrap_or_else(|| panic!("no third column: {row}"));
        for name in tested_by.split('`').skip(1).step_by(2) {
            named += 1;
            let exists = match name.contains('/') {
                true => root.join("corpus/cases").join(name).join("case.yaml").is_file(),
                false => sources.contains(&format!("fn {name}(")),
            };
            assert!(exists, "{name} does not exist: {row}");
        }
    }
    assert!(named > 60, "only {named} tests and cases are named");
}

fn collect(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
