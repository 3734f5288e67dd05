//! Which ApplicationSets an event concerns.
//!
//! In:  an event and the generators of an ApplicationSet.
//! Out: whether it is to look at its generators again.
//! Invariant: what the first generator of a matrix fills in is not known here, and a field with `{{` may mean anything:
//! a set that looks in vain harms nobody, one that does not look waits.
//! Source: HOOK-020 to HOOK-022 (`applicationset/webhook/webhook.go` `HandleEvent`).

use serde_json::Value;

use super::pattern::Pattern;
use super::payload::short_revision;
use super::{Event, MergeRequest, Push};
use crate::api::appset::{
    ApplicationSetSpec, GitGenerator, MatrixGenerator, MergeGenerator, NestedGenerator, PullRequestGenerator,
};
use crate::gocompat::url;

/// Whether an event concerns one of the set's generators.
pub fn concerns_set(event: &Event, spec: &ApplicationSetSpec) -> bool {
    let scene = match event {
        Event::Push(push) if push.not_for_sets => return false,
        Event::Push(push) => {
            let patterns: Vec<Pattern> = push.urls.iter().filter_map(|url| Pattern::new(url)).collect();
            if patterns.is_empty() {
                return false;
            }
            Scene::Push(push, patterns)
        }
        Event::PullRequest(request) => Scene::Request(request),
        Event::Published(_) => return false,
    };
    spec.generators.iter().any(|generator| {
        scene.git(generator.git.as_ref())
            || scene.pull_request(generator.pull_request.as_ref())
            || generator.plugin.is_some()
            || generator.matrix.as_ref().is_some_and(|matrix| scene.matrix(matrix))
            || generator.merge.as_ref().is_some_and(|merge| scene.merge(merge))
    })
}

enum Scene<'a> {
    Push(&'a Push, Vec<Pattern>),
    Request(&'a MergeRequest),
}

/// Whether a field equals what it should, or is filled in later.
fn fits(field: &str, same: impl Fn(&str) -> bool) -> bool {
    field.contains("{{") || same(field)
}

impl Scene<'_> {
    fn git(&self, generator: Option<&GitGenerator>) -> bool {
        let (Self::Push(push, patterns), Some(git)) = (self, generator) else { return false };
        let revision = |revision: &str| match short_revision(revision) {
            "HEAD" | "" => push.touched_head,
            short => short == push.revision || revision == push.revision,
        };
        fits(&git.repo_url, |url| patterns.iter().any(|pattern| pattern.is_repository(url)))
            && fits(&git.revision, revision)
    }

    fn pull_request(&self, generator: Option<&PullRequestGenerator>) -> bool {
        let (Self::Request(request), Some(generator)) = (self, generator) else { return false };
        match request {
            MergeRequest::GitHub { owner, repo, api } => generator.github.as_ref().is_some_and(|at| {
                let root = if at.api.is_empty() { "https://api.github.com/" } else { &at.api };
                fits(&at.owner, |text| text.to_lowercase() == owner.to_lowercase())
                    && fits(&at.repo, |text| text.to_lowercase() == repo.to_lowercase())
                    && fits(root, |root| Pattern::new(api).is_some_and(|pattern| pattern.is_api(root)))
            }),
            MergeRequest::GitLab { project, url } => generator.gitlab.as_ref().is_some_and(|at| {
                let root = if at.api.is_empty() { "https://gitlab.com/" } else { &at.api };
                let host = |text: &str| url::host_and_path(text).map(|(host, _)| host);
                fits(&at.project, |text| text == project)
                    && fits(root, |root| host(root).is_some() && host(root) == host(url))
            }),
            MergeRequest::Azure { project, repo } => generator
                .azure_devops
                .as_ref()
                .is_some_and(|at| fits(&at.project, |text| text == project) && fits(&at.repo, |text| text == repo)),
        }
    }

    /// A matrix: Git and pull requests in both places, a plugin only in the second.
    fn matrix(&self, matrix: &MatrixGenerator) -> bool {
        let [first, second] = matrix.generators.as_slice() else { return false };
        self.nested(first) || self.nested(second) || second.plugin.is_some()
    }

    fn merge(&self, merge: &MergeGenerator) -> bool {
        merge.generators.iter().any(|generator| self.nested(generator))
    }

    fn nested(&self, generator: &NestedGenerator) -> bool {
        self.git(generator.git.as_ref())
            || self.pull_request(generator.pull_request.as_ref())
            || read(generator.matrix.as_ref()).is_some_and(|matrix| self.matrix(&matrix))
            || read(generator.merge.as_ref()).is_some_and(|merge| self.merge(&merge))
    }
}

fn read<T: serde::de::DeserializeOwned>(nested: Option<&Value>) -> Option<T> {
    serde_json::from_value(nested?.clone()).ok()
}
