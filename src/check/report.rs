//! The report over all scanned files.
//!
//! In:  the outcome of scanning each file.
//! Out: a summary per feature, an exit code, JSON and a table for people.
//! Invariant: code 0 means that every manifest was read and would be stored, and that every feature found is supported
//! as a whole.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::patches::normal;
use super::{Feature, Note, Part, Problem, ProblemKind, Support, Use};

/// How many places the summary names per feature.
const PLACES: usize = 3;

/// What all files hold together.
#[derive(Debug, Default)]
pub struct Report {
    /// Files scanned, whatever came of it.
    pub files: usize,
    /// Files that were left alone because they can be no manifests.
    pub skipped: usize,
    /// Objects of Argo CD's kinds, and its settings, by kind.
    pub objects: BTreeMap<String, usize>,
    /// All uses.
    pub uses: Vec<Use>,
    /// Files passed over.
    pub notes: Vec<Note>,
    /// What was wrong with files and objects before it is known which files are patches.
    found: Vec<Problem>,
    /// Files that are patches, as they are normally spelt.
    patches: BTreeSet<String>,
}

/// One feature over all files.
#[derive(Debug, Clone)]
pub struct FeatureSummary<'a> {
    /// The feature.
    pub feature: &'static Feature,
    /// How often it is used.
    pub count: usize,
    /// At how many places: several uses on one line are at one.
    pub places: usize,
    /// A use at each of the first places, at most three.
    pub first: Vec<&'a Use>,
}

impl Report {
    /// Adds one file's outcome.
    pub fn add(&mut self, outcome: Result<Part, Problem>) {
        self.files += 1;
        match outcome {
            Ok(part) => {
                for (kind, count) in part.objects {
                    *self.objects.entry(kind).or_default() += count;
                }
                self.uses.extend(part.uses);
                self.notes.extend(part.notes);
                self.found.extend(part.problems);
                self.patches.extend(part.patches);
            }
            Err(problem) => self.found.push(problem),
        }
    }

    /// What keeps files and objects from being used. A patch need not be whole.
    pub fn problems(&self) -> Vec<&Problem> {
        let is_patch = |problem: &Problem| self.patches.contains(&normal(&problem.file));
        let is_partial = |problem: &Problem| matches!(problem.kind, ProblemKind::Incomplete | ProblemKind::Unlabelled);
        let counts = |problem: &&Problem| !(is_partial(problem) && is_patch(problem));
        self.found.iter().filter(counts).collect()
    }

    /// One entry per feature in use: first what is not supported, then what is in part, then what is Argo CD's own, then the rest, each by id.
    /// Unknown things are one entry per text, since each is something else.
    pub fn summary(&self) -> Vec<FeatureSummary<'_>> {
        let mut found: BTreeMap<(u8, &str, &str), Vec<&Use>> = BTreeMap::new();
        for each in &self.uses {
            let id = each.feature.id;
            let apart = if id == "unknown" { each.what.as_str() } else { "" };
            found.entry((urgency(each.feature.support), id, apart)).or_default().push(each);
        }
        found.into_values().filter_map(summed_up).collect()
    }

    /// 0: all supported, or done by Argo CD's other programs; 1: something is not, or not wholly; 2: a file or setting
    /// cannot be read, or an object would be refused.
    pub fn exit_code(&self) -> u8 {
        if !self.problems().is_empty() {
            2
        } else if self.uses.iter().any(|each| matches!(each.feature.support, Support::No(_) | Support::Partial(_))) {
            1
        } else {
            0
        }
    }

    /// For scripts.
    pub fn to_json(&self) -> Value {
        let features: Vec<Value> = self.summary().iter().map(feature_json).collect();
        let notes: Vec<Value> = self.notes.iter().map(|note| json!({"file": note.file, "text": note.text})).collect();
        let problems: Vec<Value> = self.problems().into_iter().map(problem_json).collect();
        json!({
            "argocdVersion": crate::api::names::ARGOCD_VERSION,
            "files": self.files,
            "filesNotExamined": self.not_examined(),
            "objects": self.objects,
            "features": features,
            "notes": notes,
            "problems": problems,
        })
    }

    /// For people.
    pub fn to_table(&self) -> String {
        let rows: Vec<[String; 4]> = self.summary().iter().map(table_row).collect();
        let head = ["SUPPORT", "FEATURE", "USES", "WHERE"].map(str::to_owned);
        let width = |column: usize| {
            rows.iter()
                .chain([&head])
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        let head = [&head].into_iter().filter(|_| !rows.is_empty());
        let mut lines: Vec<String> = head.chain(&rows).map(|row| aligned(row, widths)).collect();
        lines.extend(self.reasons());
        lines.extend(self.grouped_notes());
        lines.extend(self.problems().iter().map(|problem| format!("error: {problem}")));
        lines.push(self.verdict());
        lines.join("\n") + "\n"
    }

    fn reasons(&self) -> Vec<String> {
        let reason = |entry: &FeatureSummary<'_>| match entry.feature.support {
            Support::Yes => None,
            Support::Partial(why) | Support::No(why) | Support::Other(why) => {
                Some(format!("{}: {why}", entry.feature.id))
            }
        };
        let mut reasons: Vec<String> = self.summary().iter().filter_map(reason).collect();
        reasons.dedup();
        reasons
    }

    /// One line per reason: a repository of charts has hundreds of templates.
    fn grouped_notes(&self) -> Vec<String> {
        let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for note in &self.notes {
            files.entry(&note.text).or_default().push(&note.file);
        }
        let line = |(text, files): (&str, Vec<&str>)| {
            let more = if files.len() > PLACES { ", …" } else { "" };
            let first: Vec<&str> = files.iter().take(PLACES).copied().collect();
            format!("passed over, {}, {text}: {}{more}", count_of(files.len(), "file"), first.join(", "))
        };
        files.into_iter().map(line).collect()
    }

    /// Files that nothing is known of: templates and the like, and what can be no manifest.
    fn not_examined(&self) -> usize {
        self.skipped + self.notes.len()
    }

    fn verdict(&self) -> String {
        let read = self.files.saturating_sub(self.notes.len());
        let not_examined = match self.not_examined() {
            0 => String::new(),
            files => format!(" ({} not examined)", count_of(files, "file")),
        };
        let problems = self.problems();
        let verdict = match self.exit_code() {
            0 if self.objects.is_empty() && self.uses.is_empty() => {
                return format!("nothing of Argo CD was found in {}{not_examined}", count_of(read, "file"));
            }
            0 if self.uses.iter().any(|each| matches!(each.feature.support, Support::Other(_))) => {
                "all features are supported, or stay with Argo CD's other programs".to_owned()
            }
            0 => "all features are supported".to_owned(),
            1 => "some features are not supported, or only in part".to_owned(),
            _ => what_is_wrong(&problems),
        };
        let objects: Vec<String> = self.objects.iter().map(|(kind, count)| count_of(*count, kind)).collect();
        let objects = if objects.is_empty() { String::new() } else { format!(", {}", objects.join(", ")) };
        format!("{}{not_examined}{objects}: {verdict}", count_of(read, "file"))
    }
}

/// `1 file`, `2 files`; the names of settings stay as they are.
fn count_of(count: usize, noun: &str) -> String {
    let ending = if count == 1 || noun.starts_with("argocd-") { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

fn problem_json(problem: &Problem) -> Value {
    let kind = match problem.kind {
        ProblemKind::Unreadable => "unreadable",
        ProblemKind::Invalid | ProblemKind::Incomplete => "invalid",
        ProblemKind::Unusable | ProblemKind::Unlabelled => "setting",
    };
    json!({"file": problem.file, "line": problem.line, "message": problem.message, "kind": kind})
}

/// One clause for each sort of problem.
fn what_is_wrong(problems: &[&Problem]) -> String {
    let count = |kinds: &[ProblemKind]| problems.iter().filter(|problem| kinds.contains(&problem.kind)).count();
    let unreadable = count(&[ProblemKind::Unreadable]);
    let refused = count(&[ProblemKind::Invalid, ProblemKind::Incomplete]);
    let settings = count(&[ProblemKind::Unusable, ProblemKind::Unlabelled]);
    let clauses = [
        (unreadable, format!("{} cannot be read", count_of(unreadable, "file"))),
        (refused, format!("the API server would refuse this ({} above)", count_of(refused, "error"))),
        (settings, format!("settings cannot be used ({} above)", count_of(settings, "error"))),
    ];
    clauses.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect::<Vec<_>>().join(", and ")
}

/// The uses of one feature; several on one line are at one place.
fn summed_up(mut uses: Vec<&Use>) -> Option<FeatureSummary<'_>> {
    let (feature, count) = (uses.first()?.feature, uses.len());
    let mut seen = BTreeSet::new();
    uses.retain(|each| seen.insert((each.file.as_str(), each.line)));
    let places = uses.len();
    uses.truncate(PLACES);
    Some(FeatureSummary { feature, count, places, first: uses })
}

fn urgency(support: Support) -> u8 {
    match support {
        Support::No(_) => 0,
        Support::Partial(_) => 1,
        Support::Other(_) => 2,
        Support::Yes => 3,
    }
}

fn support_words(support: Support) -> (&'static str, &'static str) {
    match support {
        Support::Yes => ("yes", ""),
        Support::Partial(why) => ("partial", why),
        Support::No(why) => ("no", why),
        Support::Other(why) => ("other", why),
    }
}

fn feature_json(entry: &FeatureSummary<'_>) -> Value {
    let (support, reason) = support_words(entry.feature.support);
    let first: Vec<Value> =
        entry.first.iter().map(|each| json!({"file": each.file, "line": each.line, "what": each.what})).collect();
    json!({
        "id": entry.feature.id,
        "name": entry.feature.name,
        "description": entry.feature.description,
        "phase": format!("{:?}", entry.feature.phase).to_lowercase(),
        "support": support,
        "reason": reason,
        "count": entry.count,
        "first": first,
    })
}

fn table_row(entry: &FeatureSummary<'_>) -> [String; 4] {
    let places: Vec<String> = entry.first.iter().map(|each| format!("{}:{}", each.file, each.line)).collect();
    let more = if entry.places > entry.first.len() { ", …" } else { "" };
    let name = match entry.first.first() {
        Some(each) if entry.feature.id == "unknown" => format!("unknown: {}", each.what),
        _ => entry.feature.name.to_owned(),
    };
    [support_words(entry.feature.support).0.to_owned(), name, entry.count.to_string(), places.join(", ") + more]
}

fn aligned(row: &[String; 4], widths: [usize; 3]) -> String {
    let [support, feature, uses, places] = row;
    let [first, second, third] = widths;
    format!("{support:first$}  {feature:second$}  {uses:>third$}  {places}").trim_end().to_owned()
}
