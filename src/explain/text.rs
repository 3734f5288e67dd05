//! Writes a report for people.
//!
//! In:  a [`Report`].
//! Out: text, what matters first.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::owners::OwnerReport;
use super::report::{FieldReport, LostReport, ObjectReport, Report};
use super::rules::{Effect, RuleNote};
use super::{body, heading};

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("Application {}/{}\n", self.namespace, self.application);
        let with =
            if self.revisions.is_empty() { String::new() } else { format!(" with {}", self.revisions.join(", ")) };
        line(&mut text, "sync", &format!("{}{with}", or_unknown(&self.sync)));
        line(&mut text, "health", or_unknown(&self.health));
        for cause in &self.health_causes {
            let message = if cause.message.is_empty() { "its check says no more" } else { &cause.message };
            line(&mut text, "", &format!("{}: {message}", cause.object));
        }
        line(&mut text, "next", &self.next.action);
        for hold in &self.next.holds {
            line(&mut text, "", hold);
        }
        for condition in self.conditions.iter().filter(|condition| !self.is_told(&condition.message)) {
            line(&mut text, "says", &format!("{}: {}", condition.r#type, condition.message));
        }
        for object in &self.objects {
            text.push('\n');
            text.push_str(&object.text());
        }
        text
    }

    /// Whether a condition's message stands among what holds the application.
    fn is_told(&self, message: &str) -> bool {
        self.next.holds.iter().any(|hold| hold.contains(message))
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "Unknown" } else { text }
}

fn line(text: &mut String, name: &str, value: &str) {
    // Messages of several lines stay in their column.
    let value = value.trim_end().replace('\n', "\n           ");
    let _ = writeln!(text, "  {name:<9}{value}");
}

impl ObjectReport {
    fn text(&self) -> String {
        let mut text = heading(&self.key());
        let state = match self.state {
            "missing" => "is not in the cluster",
            "extra" => "is not in the sources",
            "differs" => "differs from the sources",
            "unknown" => "could not be compared",
            _ => "is as the sources want it",
        };
        let _ = writeln!(text, ": {state}");
        let wave = if self.wave == 0 { String::new() } else { format!(", wave {}", self.wave) };
        line(&mut text, "sync", &format!("{}{wave}", if self.sync.is_empty() { "none" } else { &self.sync }));
        if !self.health.is_empty() {
            let message = if self.health_message.is_empty() { "" } else { ": " };
            line(&mut text, "health", &format!("{}{message}{}", self.health, self.health_message));
        }
        self.fields.iter().for_each(|field| field_text(&mut text, field));
        lost_text(&mut text, &self.lost);
        for kept in &self.kept {
            let (path, manager) = (&kept.path, &kept.manager);
            line(
                &mut text,
                "kept",
                &format!("{path} is not in the sources and stays: field manager {manager} owns it"),
            );
        }
        self.rules.iter().for_each(|note| rule_text(&mut text, note));
        text
    }
}

fn field_text(text: &mut String, field: &FieldReport) {
    line(text, "field", &field.path);
    line(text, "", &format!("desired  {}", body::line(field.desired.as_ref())));
    line(text, "", &format!("live     {}", body::line(field.live.as_ref())));
    for owner in &field.owners {
        line(text, "", &format!("owner    {}", owner_text(owner)));
    }
    if field.owners.is_empty() && field.live.is_some() {
        line(text, "", "owner    nobody that the API server knows of");
    }
}

fn owner_text(owner: &OwnerReport) -> String {
    let of = if owner.subresource.is_empty() { String::new() } else { format!(" of {}", owner.subresource) };
    let since = if owner.since.is_empty() { String::new() } else { format!(", since {}", owner.since) };
    format!("{} ({}{of}){since}", owner.manager, owner.operation)
}

/// What lives on is listed once, with one explanation for each name that stands for forgotten owners.
fn lost_text(text: &mut String, all: &[LostReport]) {
    let managers: BTreeSet<(&str, &str)> =
        all.iter().map(|lost| (lost.manager.as_str(), lost.since.as_str())).collect();
    for (manager, since) in managers {
        let of_manager = all.iter().filter(|lost| lost.manager == manager && lost.since == since);
        for (index, lost) in of_manager.enumerate() {
            line(text, if index == 0 { "lost" } else { "" }, &lost.path);
        }
        let since = if since.is_empty() { String::new() } else { format!(", last changed {since}") };
        let why = match manager {
            "ancient-changes" => "past ten managers the API server forgets who set a field",
            _ => "what is older than the first server-side apply belongs to nobody",
        };
        line(
            text,
            "",
            &format!("not in the sources, and no sync removes it: its owner is forgotten ({manager}{since}),"),
        );
        line(text, "", &format!("since {why}; remove it by hand"));
    }
}

fn rule_text(text: &mut String, note: &RuleNote) {
    let effect = match &note.effect {
        Effect::Hides(paths) => format!("hides {}", paths.join(", ")),
        Effect::HidesWhatManagerChanged(manager) => format!("hides what {manager} changed, where both sides have it"),
        Effect::NoSuchField => "hides nothing: neither side has such a field".to_owned(),
        Effect::ManagerOwnsNothing(manager) => format!("hides nothing: {manager} owns no field of the live object"),
        Effect::DoesNotMatch(reason) => format!("does not match: {reason}"),
        Effect::Unreadable(reason) => format!("cannot be read: {reason}"),
    };
    line(text, "rule", &format!("{} ({})", note.rule, note.origin));
    line(text, "", &effect);
}
