//! From the text in `targetRevision` to a commit.
//!
//! In:  the output of `git ls-remote --symref`, and the wanted revision.
//! Out: a commit SHA, or a short one for the fetch to expand.
//! Invariant: where a branch and a tag share a name the branch wins (Argo CD picks one at random).
//! Source: REND-014 to REND-026 (`util/git/client.go` `lsRemote`).

use super::error::Error;
use crate::gocompat::semver::max_version;

/// The references of a repository at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Name and commit, in the server's order (`HEAD`, branches, others, tags), annotated tags peeled.
    refs: Vec<(String, String)>,
    /// What `HEAD` points to.
    head: Option<String>,
}

impl Listing {
    /// Reads what `git ls-remote --symref` printed.
    pub fn parse(output: &[u8]) -> Self {
        let mut listing = Self::default();
        for line in String::from_utf8_lossy(output).lines() {
            let Some((left, name)) = line.split_once('\t') else { continue };
            if let Some(target) = left.strip_prefix("ref: ") {
                if name == "HEAD" {
                    listing.head = Some(target.to_owned());
                }
            } else if let Some(tag) = name.strip_suffix("^{}") {
                // The peeled commit follows its tag and replaces it.
                if let Some(entry) = listing.refs.last_mut().filter(|(last, _)| last == tag) {
                    left.clone_into(&mut entry.1);
                }
            } else {
                listing.refs.push((name.to_owned(), left.to_owned()));
            }
        }
        listing
    }

    /// Whether the repository has no reference at all.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
    }

    /// Short names of the tags.
    pub fn tags(&self) -> Vec<&str> {
        self.refs.iter().filter_map(|(name, _)| name.strip_prefix("refs/tags/")).collect()
    }

    /// The commit that the revision names.
    ///
    /// # Errors
    /// Nothing has that name and it is no SHA.
    pub fn resolve(&self, revision: &str, tag_prefix: &str) -> Result<String, Error> {
        let revision = if revision.is_empty() { "HEAD" } else { revision };
        let chosen = max_version(revision, &self.tags(), tag_prefix);
        let revision = chosen.as_deref().unwrap_or(revision);
        let is_short = short_name(revision) == revision;
        let hit = self.refs.iter().find(|(name, _)| name == revision || (is_short && short_name(name) == revision));
        if let Some((name, sha)) = hit {
            let target = self.head.as_ref().filter(|_| name == "HEAD");
            let of_target = target.and_then(|target| self.refs.iter().find(|(name, _)| name == target));
            return Ok(of_target.map_or(sha, |(_, sha)| sha).clone());
        }
        if is_short_sha(revision) {
            return Ok(revision.to_owned());
        }
        Err(Error::Unresolved(revision.to_owned()))
    }
}

/// A full SHA in either case; it is taken as it is, without asking the server.
pub fn is_sha(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_short_sha(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A reference's name without its well-known folder.
fn short_name(name: &str) -> &str {
    let rest = name.strip_prefix("refs/").unwrap_or(name);
    if rest.len() == name.len() {
        return name;
    }
    ["tags/", "heads/", "remotes/"].iter().find_map(|folder| rest.strip_prefix(folder)).unwrap_or(rest)
}
