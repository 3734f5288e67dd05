//! Writes a report for people.
//!
//! In:  a [`Report`].
//! Out: text, what matters first.

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
        self.lost.iter().for_each(|lost| lost_text(&mut text, lost));
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

fn lost_text(text: &mut String, lost: &LostReport) {
    line(text, "left over", &format!("{} is not in the sources, and no sync removes it:", lost.path));
    let since = if lost.since.is_empty() { String::new() } else { format!(" (last changed {})", lost.since) };
    let why = match lost.manager.as_str() {
        "ancient-changes" => "past ten managers the API server forgets who set a field",
        _ => "it was there before the first server-side apply",
    };
    line(text, "", &format!("its owner is forgotten, the API server calls it {:?}{since}; {why}", lost.manager));
    line(text, "", "remove it by hand, or put it into the sources, sync, and take it out again");
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
