//! Which Applications an event concerns.
//!
//! In:  an event and an Application.
//! Out: whether the Application is refreshed.
//! Invariant: when the sender does not say enough, the Application is refreshed.
//! Source: HOOK-012, HOOK-013, HOOK-018 (`util/webhook/webhook.go` `HandleEvent`, `sourceRevisionHasChanged`,
//! `util/webhook/registry.go` `HandleRegistryEvent`).

use super::pattern::Pattern;
use super::payload::short_revision;
use super::{Event, Published, Push};
use crate::api::{Application, ApplicationSource};
use crate::compare::paths;
use crate::gocompat::semver::{Constraint, Version};

/// Whether an event concerns one of the Application's sources.
pub fn concerns_app(event: &Event, app: &Application) -> bool {
    match event {
        Event::Push(push) => {
            let patterns: Vec<Pattern> = push.urls.iter().filter_map(|url| Pattern::new(url)).collect();
            sources(app).any(|(source, paths)| {
                is_revision(push, &source.target_revision)
                    && patterns.iter().any(|pattern| pattern.is_repository(&source.repo_url))
                    && paths::concern(&paths, &push.files)
            })
        }
        Event::Published(published) => sources(app).any(|(source, _)| is_published(published, &source)),
        Event::PullRequest(_) => false,
    }
}

/// Each source with the paths that concern it; with a hydrator also its dry source.
fn sources(app: &Application) -> impl Iterator<Item = (ApplicationSource, Vec<String>)> {
    let rendered = app.spec.effective_sources().into_iter().map(|source| {
        let paths = paths::refresh_paths(app, &source);
        (source, paths)
    });
    let dry = app.spec.source_hydrator.as_ref().map(|hydrator| {
        let dry = &hydrator.dry_source;
        let source = ApplicationSource {
            repo_url: dry.repo_url.clone(),
            path: dry.path.clone(),
            target_revision: dry.target_revision.clone(),
            ..ApplicationSource::default()
        };
        let paths = paths::annotated_paths(app, &source);
        (source, paths)
    });
    rendered.chain(dry)
}

fn is_revision(push: &Push, target: &str) -> bool {
    let short = short_revision(target);
    if short == "HEAD" || short.is_empty() {
        return push.touched_head;
    }
    let is_full = ["refs/heads/", "refs/tags/"].iter().any(|prefix| target.starts_with(prefix));
    is_or_admits(if is_full { short } else { target }, &push.revision)
}

/// Whether a target is this revision, or a range of versions with it inside.
fn is_or_admits(target: &str, revision: &str) -> bool {
    let admits = || Some(Constraint::parse(target).ok()?.admits(&Version::parse(revision).ok()?));
    target == revision || admits() == Some(true)
}

fn is_published(published: &Published, source: &ApplicationSource) -> bool {
    let normal = |url: &str| {
        let url = url.strip_prefix("oci://").unwrap_or(url);
        url.strip_suffix('/').unwrap_or(url).to_lowercase()
    };
    normal(&source.repo_url) == normal(&published.repository) && is_or_admits(&source.target_revision, &published.tag)
}
