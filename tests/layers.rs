//! Holds the walls of `docs/architecture.md`: which room may use which, and what each layer must not touch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms by layer.
const LAYERS: &[(u8, &[&str])] = &[
    (1, &["api", "gocompat"]),
    (2, &["settings", "project", "track", "health"]),
    (3, &["diff", "sync", "status", "compare", "guard", "check"]),
    (4, &["process", "cluster", "watch", "repo", "render", "webhook", "telemetry"]),
    (5, &["controller"]),
    (6, &["cli"]),
];

/// Uses inside one layer that are allowed: (user, used).
const SAME_LAYER: &[(&str, &str)] = &[
    ("api", "gocompat"),
    ("project", "settings"),
    ("settings", "track"),
    ("settings", "health"),
    ("compare", "diff"),
    ("compare", "sync"),
    ("compare", "status"),
    ("repo", "process"),
    ("render", "process"),
    ("render", "repo"),
    ("cluster", "watch"),
];

/// Words that a layer below 4 must not contain: it would do IO, read a clock, or roll dice.
const IMPURE: &[&str] = &[
    "tokio::",
    "kube::",
    "std::fs",
    "std::process",
    "std::env",
    "std::net",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "rand::",
    "spawn_local",
];

/// The lines longest files may have; tables count by themselves.
const LONGEST: usize = 800;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("source folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Room, path and text of every source file of the library.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&root, &mut found);
    found
        .into_iter()
        .filter_map(|path| {
            let room = path.strip_prefix(&root).ok()?.components().next()?.as_os_str().to_str()?.to_owned();
            let text = std::fs::read_to_string(&path).ok()?;
            (!room.ends_with(".rs")).then_some((room, path, text))
        })
        .collect()
}

fn layer_of(room: &str) -> Option<u8> {
    LAYERS.iter().find(|(_, rooms)| rooms.contains(&room)).map(|(layer, _)| *layer)
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

/// The part of a file that ships.
fn shipped(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").map_or(text, |start| &text[..start])
}

#[test]
fn every_room_has_a_layer() {
    let mut unknown: Vec<String> =
        sources().into_iter().map(|(room, ..)| room).filter(|r| layer_of(r).is_none()).collect();
    unknown.dedup();
    assert!(unknown.is_empty(), "rooms without a layer: {unknown:?}");
}

#[test]
fn a_room_uses_earlier_layers_only() {
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        let Some(layer) = layer_of(&room) else { continue };
        for used in rooms_used(shipped(&text)) {
            let allowed = used == room
                || layer_of(&used).is_some_and(|other| other < layer)
                || SAME_LAYER.contains(&(room.as_str(), used.as_str()));
            if layer_of(&used).is_some() && !allowed && !is_test(&path) {
                wrong.push(format!("{} uses {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Names after `crate::` and inside `use crate::{…}`.
fn rooms_used(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let parts: Vec<&str> = match rest.strip_prefix('{') {
            Some(inner) => inner.split('}').next().unwrap_or_default().split(',').collect(),
            None => vec![rest],
        };
        for part in parts {
            let name: String = part.trim_start().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            used.push(name);
        }
    }
    used
}

#[test]
fn decisions_are_pure() {
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if layer_of(&room).is_none_or(|layer| layer > 3) || is_test(&path) {
            continue;
        }
        for word in IMPURE {
            if shipped(&text).lines().any(|line| line.contains(word) && !line.trim_start().starts_with("//")) {
                wrong.push(format!("{} contains {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_named_rooms_start_children_spawn_loops_and_print() {
    let rules: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("tokio::process::Command", ["process"].as_slice()),
        ("std::process::Command", [].as_slice()),
        ("spawn_local(", ["controller", "watch"].as_slice()),
        ("tokio::spawn(", ["controller", "process"].as_slice()),
        ("println!(", ["cli"].as_slice()),
        ("print!(", ["cli"].as_slice()),
        ("dbg!(", [].as_slice()),
    ]);
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        for (word, rooms) in &rules {
            let hit = shipped(&text).lines().any(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            if hit && !rooms.contains(&room.as_str()) {
                wrong.push(format!("{} contains {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Methods of the client that change the cluster, as they are called on the wire.
const WRITES: &[&str] = &["Method::POST", "Method::PUT", "Method::PATCH", "Method::DELETE"];

#[test]
fn only_the_cluster_room_writes_and_only_with_a_permit() {
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        let writes = shipped(&text).lines().any(|line| WRITES.iter().any(|write| line.contains(write)));
        if writes && room != "cluster" {
            wrong.push(format!("{} writes to Kubernetes", path.display()));
        }
        if writes && room == "cluster" && !shipped(&text).contains("Permit") {
            wrong.push(format!("{} writes without a permit", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_and_stays_readable() {
    let mut wrong = Vec::new();
    for (_, path, text) in sources() {
        if !text.starts_with("//!") {
            wrong.push(format!("{} has no header", path.display()));
        }
        if shipped(&text).lines().count() > LONGEST {
            wrong.push(format!("{} is longer than {LONGEST} lines", path.display()));
        }
        for name in ["utils", "common", "misc", "helpers"] {
            if path.file_stem().is_some_and(|stem| stem == name) {
                wrong.push(format!("{} has a name that says nothing", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
