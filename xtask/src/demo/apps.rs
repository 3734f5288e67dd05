//! The applications as the demo shows them.
//!
//! In:  Applications as the API server gives them.  Out: a table, redrawn in place on a terminal.

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, Result};
use corpus::yaml;
use serde_json::Value;

/// What the demo shows of an Application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// Its name.
    pub name: String,
    sync: String,
    health: String,
    operation: String,
    revision: String,
    finished: String,
    messages: Vec<String>,
}

impl App {
    /// Reads an Application.
    pub fn of(object: &Value) -> Self {
        let word = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
        let condition = |condition: &Value| {
            let word = |key| condition.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", word("type"), word("message"))
        };
        let mut messages: Vec<String> = conditions.map(condition).collect();
        messages.extend(Some(word("/status/operationState/message")).filter(|message| !message.is_empty()));
        let is_pending = object.get("operation").is_some_and(|operation| !operation.is_null());
        Self {
            name: word("/metadata/name"),
            sync: word("/status/sync/status"),
            health: word("/status/health/status"),
            operation: if is_pending { "Pending".to_owned() } else { word("/status/operationState/phase") },
            revision: word("/status/sync/revision").chars().take(7).collect(),
            finished: word("/status/operationState/finishedAt"),
            messages,
        }
    }

    /// True when it is synced, healthy, and not in the middle of an operation.
    pub fn is_well(&self) -> bool {
        self.sync == "Synced" && self.health == "Healthy" && matches!(self.operation.as_str(), "" | "Succeeded")
    }

    /// What it says of itself, a line each.
    pub fn reasons(&self) -> Vec<String> {
        let state = [&self.sync, &self.health, &self.operation].map(|word| or_dash(word)).join(", ");
        let mut lines = vec![format!("  {}: {state}", self.name)];
        lines.extend(self.messages.iter().map(|message| format!("    {message}")));
        lines
    }
}

fn or_dash(word: &str) -> &str {
    if word.is_empty() { "-" } else { word }
}

/// The names of the Applications that the examples hold.
pub fn expected() -> Result<Vec<String>> {
    let examples = crate::workspace().join("examples");
    let mut files = vec![examples.join("root.yaml")];
    for entry in fs::read_dir(examples.join("apps"))? {
        files.push(entry?.path());
    }
    let mut names = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let documents = yaml::load_all(&text).with_context(|| format!("{}", file.display()))?;
        let apps = documents.iter().filter(|document| document.get("kind").is_some_and(|kind| kind == "Application"));
        names.extend(apps.filter_map(|app| app.pointer("/metadata/name")?.as_str().map(str::to_owned)));
    }
    names.sort();
    Ok(names)
}

/// Notices that litecd put something right.
#[derive(Debug, Default)]
pub struct Repairs(BTreeMap<String, (String, String)>);

impl Repairs {
    /// What finished since the last call: a sync of the same commit as before repaired a drift, another brought a commit.
    pub fn since(&mut self, apps: &[App]) -> Vec<String> {
        let mut news = Vec::new();
        for app in apps.iter().filter(|app| app.is_well()) {
            let now = (app.finished.clone(), app.revision.clone());
            let before = self.0.insert(app.name.clone(), now);
            match before {
                Some((finished, _)) if finished == app.finished => {}
                Some((_, revision)) if revision == app.revision => {
                    news.push(format!("healed: {} is what Git says again", app.name));
                }
                Some(_) => news.push(format!("synced: {} is at {} now", app.name, app.revision)),
                None => {}
            }
        }
        news
    }
}

/// Draws the applications; over what it drew before, where that can be done.
#[derive(Debug, Default)]
pub struct Table {
    drawn: String,
}

impl Table {
    /// Draws the applications if they changed.
    pub fn show(&mut self, apps: &[App]) {
        let text = draw(apps);
        if text == self.drawn {
            return;
        }
        self.erase();
        print!("{text}");
        let _ = std::io::stdout().flush();
        self.drawn = text;
    }

    /// Says something above the table.
    pub fn say(&mut self, text: &str) {
        self.erase();
        println!("{text}");
        if std::io::stdout().is_terminal() {
            print!("{}", self.drawn);
            let _ = std::io::stdout().flush();
        }
    }

    fn erase(&self) {
        let lines = self.drawn.lines().count();
        if lines > 0 && std::io::stdout().is_terminal() {
            // Up to the table's first line, then clear to the end of the screen.
            print!("\x1b[{lines}F\x1b[J");
        }
    }
}

fn draw(apps: &[App]) -> String {
    let head = ["APPLICATION", "SYNC", "HEALTH", "OPERATION", "REVISION"];
    let rows = apps
        .iter()
        .map(|app| [&app.name, &app.sync, &app.health, &app.operation, &app.revision].map(|word| or_dash(word)));
    let rows: Vec<[&str; 5]> = std::iter::once(head).chain(rows).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        rows.iter().filter_map(|row| row.get(column)).map(|word| word.len()).max().unwrap_or(0)
    });
    let mut text = String::from("\n");
    for row in rows {
        let cells = row.iter().zip(widths).map(|(word, width)| format!("{word:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn app(sync: &str, health: &str, phase: &str) -> App {
        App::of(&json!({
            "metadata": {"name": "one"},
            "status": {
                "sync": {"status": sync, "revision": "0123456789abcdef"},
                "health": {"status": health},
                "operationState": {"phase": phase, "message": "said"},
                "conditions": [{"type": "SyncError", "message": "why"}],
            },
        }))
    }

    #[test]
    fn only_a_synced_and_healthy_app_without_a_running_operation_is_well() {
        assert!(app("Synced", "Healthy", "Succeeded").is_well());
        assert!(app("Synced", "Healthy", "").is_well());
        assert!(!app("OutOfSync", "Healthy", "Succeeded").is_well());
        assert!(!app("Synced", "Progressing", "Succeeded").is_well());
        assert!(!app("Synced", "Healthy", "Running").is_well());
        assert!(!app("Synced", "Healthy", "Failed").is_well());
        assert!(
            !App::of(
                &json!({"operation": {}, "status": {"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}})
            )
            .is_well()
        );
    }

    #[test]
    fn an_unwell_app_says_its_state_conditions_and_operation() {
        assert_eq!(
            app("OutOfSync", "", "Failed").reasons(),
            ["  one: OutOfSync, -, Failed", "    SyncError: why", "    said",]
        );
    }

    #[test]
    fn a_sync_of_the_same_commit_heals_and_another_brings_it() {
        let at = |finished: &str, revision: &str| App {
            finished: finished.to_owned(),
            revision: revision.to_owned(),
            ..app("Synced", "Healthy", "Succeeded")
        };
        let mut repairs = Repairs::default();
        assert!(repairs.since(&[at("1", "a")]).is_empty());
        assert!(repairs.since(&[at("1", "a")]).is_empty());
        assert!(repairs.since(&[app("OutOfSync", "Healthy", "Running")]).is_empty());
        assert_eq!(repairs.since(&[at("2", "a")]), ["healed: one is what Git says again"]);
        assert_eq!(repairs.since(&[at("3", "b")]), ["synced: one is at b now"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_word() {
        assert_eq!(
            draw(&[app("Synced", "", "Running")]),
            "\nAPPLICATION  SYNC    HEALTH  OPERATION  REVISION\none          Synced  -       Running    0123456\n"
        );
    }

    #[test]
    fn the_examples_hold_the_root_and_the_guestbooks() {
        assert_eq!(expected().unwrap(), ["guestbook-helm", "guestbook-kustomize", "root"]);
    }
}
