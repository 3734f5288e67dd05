//! Holds the walls of `docs/architecture.md`: which room may use which, and what each layer must not touch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms by layer.
const LAYERS: &[(u8, &[&str])] = &[
    (1, &["api", "gocompat"]),
    (2, &["settings", "project", "track", "health", "template"]),
    (3, &["diff", "sync", "status", "compare", "guard", "check", "explain", "appset", "webhook"]),
    (4, &["process", "http", "forge", "cluster", "watch", "repo", "charts", "render", "telemetry"]),
    (5, &["desired"]),
    (6, &["controller"]),
    (7, &["cli"]),
];

/// Uses inside one layer that are allowed: (user, used).
const SAME_LAYER: &[(&str, &str)] = &[
    ("api", "gocompat"),
    ("project", "settings"),
    ("settings", "track"),
    ("settings", "health"),
    ("appset", "diff"),
    ("appset", "status"),
    ("compare", "diff"),
    ("compare", "sync"),
    ("compare", "status"),
    ("webhook", "compare"),
    ("explain", "diff"),
    ("explain", "compare"),
    ("explain", "sync"),
    ("explain", "guard"),
    ("forge", "http"),
    ("forge", "repo"),
    ("repo", "http"),
    ("repo", "process"),
    ("render", "process"),
    ("render", "repo"),
    ("charts", "http"),
    ("charts", "repo"),
    ("render", "charts"),
    ("cluster", "watch"),
];

/// Paths that a layer below 4 must not name: it would do IO, read a clock, or roll dice.
const IMPURE: &[&str] = &[
    "tokio",
    "kube",
    "rand",
    "std::fs",
    "std::process",
    "std::env",
    "std::net",
    "std::thread",
    "*::Instant::now",
    "*::SystemTime",
    "*::Timestamp::now",
    "*::Zoned::now",
    "*::TimeZone::system",
    "*::spawn_local",
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
        for used in rooms_used(&room, &path, &text) {
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

/// Rooms that a file names, by `crate::` or by enough `super::`.
fn rooms_used(room: &str, path: &Path, text: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let file = path.strip_prefix(&root).unwrap_or(path);
    let depth = file.components().count() - usize::from(file.ends_with("mod.rs"));
    assert!(file.starts_with(room), "{} lies outside its room", path.display());
    let room_of = |path: &String| {
        let parts: Vec<&str> = path.split("::").collect();
        let supers = parts.iter().take_while(|part| **part == "super").count();
        let at = if parts.first() == Some(&"crate") { 1 } else { supers };
        (parts.first() == Some(&"crate") || supers >= depth)
            .then(|| parts.get(at).map(|part| (*part).to_owned()))
            .flatten()
    };
    paths(&tokens(text)).iter().filter_map(room_of).collect()
}

/// Words and signs of Rust text, without comments, texts and what only tests use.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        let (token, after) = rest.split_at(length);
        rest = after;
        let is_code = !first.is_whitespace() && !token.starts_with("//") && !token.starts_with("/*");
        // Texts become an empty text: what they say is no code, but something stands there.
        let is_text = token.len() > 1 && token.ends_with(['"', '#']) || first == '\'' && token.ends_with('\'');
        if is_code {
            found.push(if is_text { "\"\"".to_owned() } else { token.to_owned() });
        }
    }
    without_tests(&found)
}

fn token_length(rest: &str, first: char) -> usize {
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    if rest.starts_with("::") {
        return 2;
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = rest
            .strip_prefix(prefix)
            .map(|after| if prefix.contains('r') { after.trim_start_matches('#') } else { after });
        after.is_some_and(|after| after.starts_with('"'))
    });
    if let Some(prefix) = prefix {
        return text_length(rest, prefix);
    }
    if first == '\'' || rest.starts_with("b'") {
        return char_length(rest);
    }
    if first.is_alphanumeric() || first == '_' { word(rest) } else { first.len_utf8() }
}

/// Length of a text literal, raw or not.
fn text_length(rest: &str, prefix: &str) -> usize {
    let body = &rest[prefix.len()..];
    if prefix.contains('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let start = prefix.len() + hashes + 1;
        return rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len());
    }
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return prefix.len() + at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a character literal, or of the quote of a lifetime.
fn char_length(rest: &str) -> usize {
    let start = rest.find('\'').map_or(0, |at| at + 1);
    let mut chars = rest[start..].char_indices();
    let Some((_, first)) = chars.next() else { return start };
    if first == '\\' {
        let after = start + 1 + chars.next().map_or(0, |(_, c)| c.len_utf8());
        return rest[after..].find('\'').map_or(rest.len(), |at| after + at + 1);
    }
    match chars.next() {
        Some((at, '\'')) => start + at + 1,
        _ => start,
    }
}

/// Leaves out each item behind `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const MARK: &[&str] = &["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().map(String::as_str).take(MARK.len()).eq(MARK.iter().copied()) {
            at += MARK.len();
            at += item_length(&tokens[at..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Tokens up to the `;` or the closing brace that ends an item.
fn item_length(tokens: &[String]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                // A group of `use a::{b};` ends with its semicolon.
                if depth == 0 && token == "}" && tokens.get(at + 1).is_none_or(|next| next != ";") {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// All paths in code, groups of `use` written out; the name of a macro keeps its `!`.
fn paths(tokens: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = path(tokens, at, "", &mut found).max(at + 1);
    }
    found
}

fn is_word(token: &str) -> bool {
    token == "*" || token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads one path, or one group of paths, that starts at a token; returns where it ends.
fn path(tokens: &[String], mut at: usize, before: &str, found: &mut Vec<String>) -> usize {
    let mut name = before.to_owned();
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    if token(at) == "::" {
        at += 1;
    }
    while is_word(token(at)) {
        if token(at) != "self" || before.is_empty() {
            name = if name.is_empty() { token(at).to_owned() } else { format!("{name}::{}", token(at)) };
        }
        at += 1;
        match (token(at), token(at + 1)) {
            ("::", "{") => return group(tokens, at + 2, &name, found),
            ("::", next) if is_word(next) => at += 1,
            ("!", next) if next != "=" => {
                found.push(format!("{name}!"));
                return at + 1;
            }
            _ => {
                found.push(name);
                return at;
            }
        }
    }
    at
}

fn group(tokens: &[String], mut at: usize, before: &str, found: &mut Vec<String>) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "}" => return at + 1,
            "as" => at += 2,
            _ => at = path(tokens, at, before, found).max(at + 1),
        }
    }
    at
}

/// Whether a path is or goes through what a rule names; `*::` in front lets the rule begin anywhere.
fn names(path: &str, rule: &str) -> bool {
    let (rule, anywhere) = rule.strip_prefix("*::").map_or((rule, false), |rule| (rule, true));
    let (path, rule): (Vec<&str>, Vec<&str>) = (path.split("::").collect(), rule.split("::").collect());
    if anywhere { path.windows(rule.len()).any(|part| part == rule) } else { path.starts_with(&rule) }
}

#[test]
fn the_reader_of_paths_misses_no_way_to_write_them() {
    let text = r##"
        use std::{fs, io::{self, Read as _}, *};
        use crate::{a::{B, c::D}, e};
        #[cfg(test)]
        mod tests { use std::net; }
        #[cfg(test)]
        use tokio::{sync};
        // std::env
        fn f<'a>(x: &'a str) -> char { kube :: Api::create("std::process \" ", r#"" rand::x"#, '"'); println!("{x}"); 'x' }
    "##;
    let found = paths(&tokens(text));
    for wanted in [
        "std::fs",
        "std::io",
        "std::io::Read",
        "std::*",
        "crate::a::B",
        "crate::a::c::D",
        "crate::e",
        "kube::Api::create",
        "println!",
    ] {
        assert!(found.iter().any(|path| path == wanted), "{wanted} is missing in {found:?}");
    }
    for unwanted in ["std::net", "tokio", "std::env", "std::process", "rand"] {
        assert!(!found.iter().any(|path| names(path, unwanted)), "{unwanted} is no code");
    }
    assert!(names("jiff::tz::TimeZone::system", "*::TimeZone::system") && !names("a::kube", "kube"));
}

#[test]
fn decisions_are_pure() {
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if layer_of(&room).is_none_or(|layer| layer > 3) || is_test(&path) {
            continue;
        }
        let paths = paths(&tokens(&text));
        for rule in IMPURE {
            if paths.iter().any(|path| names(path, rule)) {
                wrong.push(format!("{} uses {rule}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_named_rooms_start_children_spawn_loops_and_print() {
    // `watch` follows each kind in a task of its own that ends with the kind.
    let rules: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("tokio::process", ["process"].as_slice()),
        ("std::process::Command", [].as_slice()),
        ("std::thread::spawn", [].as_slice()),
        ("*::thread::spawn", [].as_slice()),
        ("*::thread::Builder", [].as_slice()),
        ("*::spawn_local", ["controller", "watch"].as_slice()),
        ("*::tokio::spawn", ["controller", "process"].as_slice()),
        ("*::task::spawn", ["controller", "process"].as_slice()),
        ("println!", ["cli"].as_slice()),
        ("print!", ["cli"].as_slice()),
        ("eprintln!", ["cli"].as_slice()),
        ("eprint!", ["cli"].as_slice()),
        ("dbg!", [].as_slice()),
    ]);
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        let paths = paths(&tokens(&text));
        // With the module itself in scope its `Command` would have another name.
        if room != "process" && paths.iter().any(|path| path == "std::process") {
            wrong.push(format!("{} uses std::process as a whole", path.display()));
        }
        for (rule, rooms) in &rules {
            if !rooms.contains(&room.as_str()) && paths.iter().any(|path| names(path, rule)) {
                wrong.push(format!("{} uses {rule}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Ways to make a request that changes the cluster.
const WRITES: &[&str] = &[
    "*::Method::POST",
    "*::Method::PUT",
    "*::Method::PATCH",
    "*::Method::DELETE",
    "*::Request::post",
    "*::Request::put",
    "*::Request::patch",
    "*::Request::delete",
];

/// Methods of `kube::Api` that write.
const API_WRITES: &[&str] = &[
    "create",
    "patch",
    "replace",
    "delete",
    "delete_collection",
    "entry",
    "patch_status",
    "replace_status",
    "patch_metadata",
    "patch_scale",
    "evict",
];

/// The functions that send without a permit in their hand: whoever calls one holds a permit or asks for a dry run.
const UNGUARDED: &[&str] = &["patch_call", "send_apply"];

#[test]
fn only_the_cluster_room_writes_and_only_with_a_permit() {
    let shipped: Vec<(String, PathBuf, Vec<String>)> = sources()
        .into_iter()
        .filter(|(_, path, _)| !is_test(path))
        .map(|(room, path, text)| (room, path, tokens(&text)))
        .collect();
    let (cluster, others): (Vec<_>, Vec<_>) = shipped.iter().partition(|(room, ..)| room == "cluster");
    let mut wrong: Vec<String> = others
        .iter()
        // The client of the room `http` knows no cluster and no credentials of one.
        .filter(|(room, _, tokens)| room != "http" && writes(tokens))
        .map(|(_, path, _)| format!("{} writes to Kubernetes", path.display()))
        .collect();
    let holders: Vec<&str> = cluster.iter().flat_map(|(_, _, tokens)| permit_holders(tokens)).collect();
    assert!(cluster.iter().any(|(_, _, tokens)| writes(tokens)), "the writes are no longer recognised");
    for (_, path, tokens) in cluster {
        for function in functions(tokens) {
            let is_held = function.of.iter().any(|word| holders.contains(&word.as_str()));
            let is_guarded = is_held || function.signature.iter().any(|word| word == "Permit");
            let has = |words: &[&str]| function.body.iter().any(|token| words.contains(&token.as_str()));
            let needs_permit = writes(function.body) || has(UNGUARDED) && !has(&["DRY_RUN_ALL"]);
            if needs_permit && !is_guarded && !UNGUARDED.contains(&function.name) {
                wrong.push(format!("{}: {} writes without a permit", path.display(), function.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Types with a permit among their fields: nobody without one can make such a value.
fn permit_holders(tokens: &[String]) -> Vec<&str> {
    let structs = tokens.iter().enumerate().filter(|(_, token)| *token == "struct").map(|(at, _)| at);
    let holds = |at: &usize| tokens[*at..*at + item_length(&tokens[*at..])].iter().any(|token| token == "Permit");
    structs.filter(holds).filter_map(|at| tokens.get(at + 1).map(String::as_str)).collect()
}

fn writes(tokens: &[String]) -> bool {
    let paths = paths(tokens);
    let uses_api = paths.iter().any(|path| names(path, "kube::Api") || names(path, "kube::api"));
    let calls = |token: &[String]| token[0] == "." && API_WRITES.contains(&token[1].as_str()) && token[2] == "(";
    let by_api = paths.iter().any(|path| API_WRITES.iter().any(|write| names(path, &format!("*::Api::{write}"))));
    paths.iter().any(|path| WRITES.iter().any(|write| names(path, write)))
        || by_api
        || uses_api && tokens.windows(3).any(calls)
}

struct Function<'a> {
    name: &'a str,
    /// The head of the `impl` it stands in.
    of: &'a [String],
    signature: &'a [String],
    body: &'a [String],
}

fn functions(tokens: &[String]) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut of: (usize, &[String]) = (0, &[]);
    for (at, token) in tokens.iter().enumerate() {
        let item = || &tokens[at..at + item_length(&tokens[at..])];
        let head = |item: &[String]| item.iter().position(|token| token == "{");
        // `-> impl Trait` stands behind an arrow or inside a signature, an `impl` block behind another item.
        let begins_item = at == 0 || [";", "}", "]"].contains(&tokens[at - 1].as_str());
        if token == "impl" && begins_item {
            let block = item();
            of = (at + block.len(), &block[..head(block).unwrap_or(0)]);
        }
        if token == "fn"
            && let Some(name) = tokens.get(at + 1).filter(|name| is_word(name))
            && let Some(body) = head(item())
        {
            let (signature, body) = item().split_at(body);
            found.push(Function { name, of: if at < of.0 { of.1 } else { &[] }, signature, body });
        }
    }
    found
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
