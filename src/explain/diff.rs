//! A unified diff of an application's objects, as people and their tools read it.
//!
//! In:  a comparison; how much room there is.
//! Out: text with a heading per object: `-` is what the cluster has, `+` what the sources want.
//! Invariant: equal comparisons give equal texts; what does not fit is counted and named, never dropped silently.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use similar::TextDiff;

use super::shown::{is_secret, shown};
use super::{body, heading};
use crate::api::status::{ResourceStatus, SyncStatus};
use crate::api::{Application, ResourceKey};
use crate::compare::Pair;
use crate::diff::Difference;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Objects that are named when there is no room for them.
const NAMED: usize = 20;

/// How much text may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes for all objects together.
    pub all: usize,
    /// Bytes for one of them.
    pub each: usize,
    /// Lines of one side beyond which changes are not looked for line by line: the time grows with their product.
    pub lines: usize,
}

impl Room {
    /// No bound but patience: two sides of so many lines take seconds.
    pub const ENDLESS: Self = Self { all: usize::MAX, each: usize::MAX, lines: 20_000 };
}

/// What is compared.
pub struct Input<'a> {
    /// The Application.
    pub app: &'a Application,
    /// Result of the comparison.
    pub status: &'a SyncStatus,
    /// Compared objects.
    pub resources: &'a [ResourceStatus],
    /// Their differences, in the same order.
    pub differences: &'a [Difference],
    /// Both sides as they were compared, in the same order.
    pub pairs: &'a [Pair],
    /// Annotations of Secrets that are hidden.
    pub hidden: &'a BTreeSet<String>,
}

/// A diff in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The whole text.
    pub text: String,
    /// Objects that are out of sync.
    pub objects: usize,
}

/// The diff of all objects that are out of sync, in the order of their keys.
pub fn of(input: &Input<'_>, room: Room) -> Text {
    let mut differing: Vec<(ResourceKey, &ResourceStatus, Cow<'_, Difference>)> = input
        .resources
        .iter()
        .zip(input.differences)
        .zip(input.pairs)
        .filter(|((entry, _), _)| entry.status == "OutOfSync")
        .map(|((entry, difference), pair)| (entry.key(), entry, whole(difference, pair)))
        .collect();
    differing.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let mut text = opening(input, differing.len());
    let mut left_out = Vec::new();
    for (key, entry, difference) in &differing {
        if !left_out.is_empty() {
            // What is only named costs no search for lines.
            left_out.push(heading(key));
            continue;
        }
        let section = cut(section((key, entry, difference), input.hidden, room.lines), room.each);
        if text.len().saturating_add(section.len()) <= room.all {
            text.push_str(&section);
        } else {
            left_out.push(heading(key));
        }
    }
    if !left_out.is_empty() {
        text.push_str(&not_shown(&left_out));
    }
    Text { text, objects: differing.len() }
}

/// What an ignore rule hides is in no comparison, and yet a sync creates it with the object. A Secret stays as it was
/// compared: its `stringData` has become data there, key by key.
fn whole<'a>(difference: &'a Difference, pair: &Pair) -> Cow<'a, Difference> {
    match (&pair.target, &pair.live) {
        (Some(target), None) if !is_secret(target) => {
            Cow::Owned(Difference { predicted: target.clone(), ..difference.clone() })
        }
        _ => Cow::Borrowed(difference),
    }
}

fn opening(input: &Input<'_>, differing: usize) -> String {
    let (meta, status) = (&input.app.metadata, input.status);
    let revision = if status.revisions.is_empty() { status.revision.clone() } else { status.revisions.join(", ") };
    let compared = if revision.is_empty() { String::new() } else { format!(" with {revision}") };
    let mut text = format!("# Application {}/{} is {}{compared}: ", meta.namespace, meta.name, status.status);
    let _ = writeln!(text, "{differing} of {} objects differ.", input.resources.len());
    if differing == 0 && status.status == "OutOfSync" {
        text.push_str("# The metadata wanted for the destination namespace differs from what the last sync applied.\n");
    }
    if differing > 0 {
        text.push_str("# - is what the cluster has, + is what the sources want. Secrets are masked: equal masks are equal values.\n");
    }
    text
}

fn section(
    (key, entry, difference): (&ResourceKey, &ResourceStatus, &Difference),
    hidden: &BTreeSet<String>,
    longest: usize,
) -> String {
    let name = heading(key);
    let sides = match shown(difference, hidden) {
        Ok(sides) => sides,
        // A Secret of a strange shape must not be shown by accident.
        Err(_) => return format!("\n=== {name} (differs; it is no proper Secret and is not shown)\n"),
    };
    let what = match (&sides.live, &sides.desired) {
        (None, _) => "to be created",
        (_, None) if entry.requires_pruning => "to be pruned",
        _ => "differs",
    };
    let (live, desired) = (body::yaml(sides.live.as_ref()), body::yaml(sides.desired.as_ref()));
    let mut text = format!("\n=== {name} ({what})\n");
    let (live_lines, desired_lines) = (live.lines().count(), desired.lines().count());
    if live_lines.max(desired_lines) > longest {
        let _ = writeln!(text, "# too long to be compared by line: {live_lines} lines live, {desired_lines} desired");
        return text;
    }
    let diff = TextDiff::from_lines(&live, &desired);
    let parts = [&key.group, &key.kind, &key.namespace, &key.name].map(String::as_str);
    let place = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let file = |side: &str, there: bool| if there { format!("{side}/{place}") } else { "/dev/null".to_owned() };
    let (from, to) = (file("live", sides.live.is_some()), file("desired", sides.desired.is_some()));
    let hunks = diff.unified_diff().context_radius(CONTEXT).header(&from, &to).missing_newline_hint(false).to_string();
    text.push_str(&hunks);
    text
}

/// Cuts at the end of a line, and says how much was cut.
fn cut(text: String, room: usize) -> String {
    if text.len() <= room {
        return text;
    }
    let mut kept = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if kept.len().saturating_add(line.len()).saturating_add(1) > room {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    // The line that did not fit was taken from the rest already.
    let more = lines.count().saturating_add(1);
    format!("{kept}# cut here: {more} more lines of this object\n")
}

fn not_shown(names: &[String]) -> String {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("\n# not shown for lack of room: {} objects that differ too: {named}{more}\n", names.len())
}
