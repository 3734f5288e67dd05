//! Whether a new revision concerns a source at all.
//!
//! In:  the revision that was compared last, the one wanted now, the paths that concern the source.
//! Out: the revision to report, and whether the source may render to something else.
//! Invariant: when no path changed, the earlier rendering goes on under the new revision, so that a chart with random
//! output does not change; when there is no earlier rendering, the source counts as changed.
//! Source: REND-188 to REND-195 (`controller/state.go` `evaluateRevisionChanges`, `reposerver/repository/repository.go`
//! `UpdateRevisionForPaths`).

use std::collections::BTreeMap;

use super::commits::Commits;
use super::error::Place;
use super::{Desired, Error, key, request};
use crate::api::{ApplicationSource, names};
use crate::compare::paths;
use crate::render::{RefSource, refs};

/// What is known of a source before it is rendered.
pub struct Evaluated {
    /// Revision to render: resolved where that was needed for the answer, else as it was wanted.
    pub revision: String,
    /// Whether the source may render to something else than at the last comparison.
    pub may_have_changed: bool,
}

/// One revision of a source or of a source that it refers to, then and now.
struct Moved {
    then: String,
    now: String,
    changed: bool,
}

/// A source and where it stands.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The source.
    pub source: &'a ApplicationSource,
    /// Its place in the list, counted from zero.
    pub index: usize,
    /// Revision wanted.
    pub requested: &'a str,
    /// Its place for error texts.
    pub place: Place,
}

impl Desired {
    /// Compares what changed between the last compared revision and the wanted one with the source's paths.
    pub(super) async fn evaluate(&self, commits: &mut Commits<'_>, at: At<'_>) -> Result<Evaluated, Error> {
        let inputs = commits.inputs();
        let as_wanted = |may_have_changed| Evaluated { revision: at.requested.to_owned(), may_have_changed };
        if at.source.is_ref() {
            return Ok(as_wanted(false));
        }
        let synced = commits.synced(at.index);
        if synced == at.requested && !synced.is_empty() && !commits.has_references() {
            return Ok(as_wanted(false));
        }
        let access = self.access(inputs, at.source).map_err(|error| at.place.evaluate(&error.to_string()))?;
        let annotation = inputs.app.metadata.annotations.get(names::MANIFEST_GENERATE_PATHS);
        if synced.is_empty() || access.is_shallow() || annotation.is_none_or(String::is_empty) {
            return Ok(as_wanted(true));
        }
        let concerned = paths::refresh_paths(inputs.app, at.source);
        if concerned.is_empty() {
            return Ok(as_wanted(true));
        }
        let is_git = !at.source.is_helm() && !at.source.is_oci();
        if !is_git && !commits.has_references() {
            return Ok(as_wanted(false));
        }
        let outcome = self.by_paths(commits, at, (synced, &concerned)).await;
        outcome.map_err(|text| at.place.evaluate(&format!("failed to update revision for paths: {text}")))
    }

    /// The error is the text with the envelope of Argo CD's repo server.
    async fn by_paths(
        &self,
        commits: &mut Commits<'_>,
        at: At<'_>,
        (synced, concerned): (&str, &[String]),
    ) -> Result<Evaluated, String> {
        let is_git = !at.source.is_helm() && !at.source.is_oci();
        let mut own = Moved { then: synced.to_owned(), now: at.requested.to_owned(), changed: false };
        if is_git && synced != at.requested {
            own = moved(commits, (at.source, synced, at.requested), concerned).await?;
        }
        let (mut then, mut now) = (commits.no_refs(), commits.no_refs());
        let mut is_elsewhere = is_git && own.then != own.now;
        let changed = |revision: &str| Evaluated { revision: revision.to_owned(), may_have_changed: true };
        if own.changed {
            return Ok(changed(&own.now));
        }
        let names: Vec<&str> = if commits.inputs().multi { refs::used(at.source) } else { Vec::new() };
        for name in names {
            let Some((index, referred)) = commits.referred(name) else {
                return Err(format!(
                    "rpc error: code = Unknown desc = source referenced {name:?}, but no source has a 'ref' field defined"
                ));
            };
            let (synced, wanted) = (commits.synced(index), commits.inputs().requested(index));
            let other = moved(commits, (referred, synced, wanted), concerned).await?;
            if other.changed {
                return Ok(changed(&own.now));
            }
            is_elsewhere |= other.then != other.now;
            set(&mut then, name, other.then);
            set(&mut now, name, other.now);
        }
        let is_known = !is_elsewhere || self.move_rendering(commits, at, [(&own.then, then), (&own.now, now)]);
        Ok(Evaluated { revision: own.now, may_have_changed: !is_known })
    }

    /// Lets the rendering of one set of revisions go on under another; false when there is none.
    fn move_rendering(
        &self,
        commits: &Commits<'_>,
        at: At<'_>,
        revisions: [(&str, BTreeMap<String, RefSource>); 2],
    ) -> bool {
        let [then, now] = revisions.map(|(revision, refs)| {
            let request = request::of(self, commits.inputs(), (at.source, at.requested, revision));
            key::of(&crate::render::Request { refs, ..request }, &self.tools)
        });
        self.failures.borrow_mut().rename(&then, &now);
        let is_known = self.rendered.rename(&then, &now);
        tracing::info!(is_known, "No path of the application changed; its manifests go on under the new revision");
        is_known
    }
}

fn set(refs: &mut BTreeMap<String, RefSource>, name: &str, commit: String) {
    if let Some(known) = refs.get_mut(name) {
        known.revision = commit;
    }
}

/// How far a source moved, and whether one of the paths changed on the way.
async fn moved(
    commits: &mut Commits<'_>,
    (source, synced, wanted): (&ApplicationSource, &str, &str),
    concerned: &[String],
) -> Result<Moved, String> {
    let unresolved = |error: super::origin::Failure| {
        // Argo CD has lost the name of the revision by the time it writes this.
        format!("rpc error: code = Internal desc = unable to resolve git revision : {error}")
    };
    let now = commits.resolve(source, wanted).await.map_err(unresolved)?;
    let then =
        if synced == wanted { now.clone() } else { commits.resolve(source, synced).await.map_err(unresolved)? };
    if then == now {
        return Ok(Moved { then, now, changed: false });
    }
    let files = commits.changed_files(source, (&then, &now)).await.map_err(|error| {
        let url = crate::repo::redacted(&source.repo_url);
        format!(
            "rpc error: code = Internal desc = unable to get changed files for repo {url} with revision {now}: {error}"
        )
    })?;
    let changed = !files.is_empty() && paths::concern(concerned, &files);
    Ok(Moved { then, now, changed })
}
