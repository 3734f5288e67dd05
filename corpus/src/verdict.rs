//! Whether a case passed, and why not.
//!
//! In:  a case and the snapshots of its run.  Out: a verdict.
//! Invariant: goldens are written only when Argo CD itself was asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Case;
use crate::compare::{canon, compare};
use crate::{want, yaml};

/// How one case ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Verdict {
    /// `area/name`.
    pub case: String,
    /// True when nothing differs.
    pub ok: bool,
    /// What differs, or what went wrong.
    pub lines: Vec<String>,
    /// How much differs, part by part.
    pub differences: BTreeMap<String, usize>,
    /// What did not come about while it ran.
    pub notes: Vec<String>,
    /// How many writes each sync took, of an undisturbed round of `corpus crash`.
    pub writes: Vec<usize>,
    /// How long it took.
    pub seconds: f64,
    /// The file with all that was seen, of a case that failed.
    pub seen: Option<PathBuf>,
}

impl Verdict {
    /// A verdict that nothing speaks against yet.
    pub fn new(case: String) -> Self {
        Self {
            case,
            ok: true,
            lines: Vec::new(),
            differences: BTreeMap::new(),
            notes: Vec::new(),
            writes: Vec::new(),
            seconds: 0.0,
            seen: None,
        }
    }

    /// Adds a reason why it failed, ahead of the others.
    pub fn fail(&mut self, reason: String) {
        self.ok = false;
        self.lines.insert(0, format!("! {reason}"));
    }

    /// The case's name without a slash.
    pub fn file_name(&self) -> String {
        self.case.replace('/', "-")
    }
}

/// How cases are judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Judge {
    /// The text of events counts too.
    pub events: bool,
    /// Argo CD is recorded, not litecd checked.
    pub record: bool,
}

impl Judge {
    /// Compares the snapshots with the goldens of the case, or with its `want.yaml` where Argo CD is wrong.
    pub fn judge(&self, case: &Case, snapshots: &Value, verdict: &mut Verdict) -> Result<()> {
        let got = canon(snapshots.clone());
        let goldens = case.goldens()?;
        if self.record {
            return record(case, (&goldens, &got), self.events, verdict);
        }
        if case.argocd_is_wrong() {
            verdict.lines = want::unmet(&case.wants()?, &goldens.into_iter().map(canon).collect::<Vec<_>>(), &got);
        } else {
            if goldens.is_empty() {
                bail!("the case has no golden.yaml");
            }
            let found = compare(&goldens, &got, self.events);
            verdict.lines = found.lines;
            verdict.differences = found.tiers.into_iter().map(|(tier, n)| (tier.to_owned(), n)).collect();
        }
        verdict.ok = verdict.lines.is_empty();
        Ok(())
    }
}

/// Writes what Argo CD did as a golden, unless one of the variants shows the same.
fn record(case: &Case, (goldens, got): (&[Value], &Value), events: bool, verdict: &mut Verdict) -> Result<()> {
    let is_known = goldens.iter().any(|golden| compare(std::slice::from_ref(golden), got, events).lines.is_empty());
    if is_known {
        verdict.notes.push("same as before".to_owned());
        return Ok(());
    }
    let name = match goldens.len() {
        0 => "golden.yaml".to_owned(),
        n => format!("golden.{}.yaml", n + 1),
    };
    fs::write(case.dir.join(&name), yaml::dump(got))?;
    verdict.notes.push(format!("wrote {name}"));
    Ok(())
}
