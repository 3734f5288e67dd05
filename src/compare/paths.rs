//! Which files of a repository concern an application (`argocd.argoproj.io/manifest-generate-paths`).
//!
//! In:  an Application, one of its sources, names of changed files.
//! Out: whether the source may render to something else than before.
//! Source: REND-185 to REND-187, REND-194 (`util/app/path/path.go` `GetSourceRefreshPaths`, `AppFilesHaveChanged`).

use crate::api::application::ApplicationSource;
use crate::api::{Application, names};
use crate::gocompat::filepath;

/// The paths that concern a source, from the root of its repository; empty when every file does.
pub fn refresh_paths(app: &Application, source: &ApplicationSource) -> Vec<String> {
    // What a hydrator wrote for the application lies in its own folder, and the annotation is about the dry source.
    if app.spec.source_hydrator.is_some() {
        return vec![source.path.clone()];
    }
    annotated_paths(app, source)
}

/// The paths of the annotation, which is about what is rendered, or with a hydrator about its dry source.
pub fn annotated_paths(app: &Application, source: &ApplicationSource) -> Vec<String> {
    let annotation = app.metadata.annotations.get(names::MANIFEST_GENERATE_PATHS).map_or("", String::as_str);
    let items = annotation.split(';').map(str::trim).filter(|item| !item.is_empty());
    let path = |item: &str| match item.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None => clean(&format!("{}/{item}", source.path)),
    };
    items.map(path).collect()
}

/// Whether one of the changed files lies at, below or under the pattern of one of the paths. Without paths or without
/// files nothing is known, and everything may have changed.
pub fn concern(paths: &[String], files: &[String]) -> bool {
    if paths.is_empty() || files.is_empty() {
        return true;
    }
    let absolute = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let paths: Vec<String> = paths.iter().map(|path| absolute(path)).collect();
    files.iter().map(|file| absolute(file)).any(|file| paths.iter().any(|path| concerns(path, &file)))
}

fn concerns(path: &str, file: &str) -> bool {
    if file == path {
        return true;
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let root = format!("/{}", clean(path));
    let root = root.trim_end_matches('/');
    let is_below =
        root.is_empty() || folder == root || folder.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    is_below || filepath::matches(path, file) == Ok(true)
}

/// A path without `.`, `..` and doubled slashes, from the root; `..` at the root stays there as Go leaves it.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let is_absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_absolute => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(annotation: &str, source_path: &str) -> Vec<String> {
        let mut app = Application::default();
        app.metadata.annotations.insert(names::MANIFEST_GENERATE_PATHS.to_owned(), annotation.to_owned());
        let source = ApplicationSource { path: source_path.to_owned(), ..ApplicationSource::default() };
        refresh_paths(&app, &source)
    }

    fn check(annotation: &str, source_path: &str, file: &str, expect: bool) {
        let paths = paths(annotation, source_path);
        assert_eq!(concern(&paths, &[file.to_owned()]), expect, "{annotation:?} at {source_path:?}: {file}");
    }

    #[test]
    fn relative_items_start_at_the_source_and_absolute_ones_at_the_root() {
        assert_eq!(paths(" . ;/shared;; ../b/./c", "apps/a"), ["apps/a", "shared", "apps/b/c"]);
        assert_eq!(paths(";", "apps/a"), Vec::<String>::new());
        assert_eq!(paths(".", ""), [""]);
        assert_eq!(paths("../../none", "apps/c"), ["none"]);
    }

    #[test]
    fn a_file_counts_at_below_or_by_pattern() {
        check(".", "apps/a", "apps/a/values.yaml", true);
        check(".", "apps/a", "apps/a/deep/er/x.yaml", true);
        check(".", "apps/a", "apps/ab/values.yaml", false);
        check(".", "", "anything", true);
        check("/shared/one.yaml", "apps/a", "shared/one.yaml", true);
        check("/*/cm.yaml", "apps/a", "shared/cm.yaml", true);
        check("/*/cm.yaml", "apps/a", "apps/b/cm.yaml", false);
        check("/apps/*/values.yaml", "apps/a", "apps/b/values.yaml", true);
        check("/apps/[", "apps/a", "apps/b", false);
    }

    #[test]
    fn without_paths_or_files_everything_may_have_changed() {
        assert!(concern(&[], &["a".to_owned()]));
        assert!(concern(&["a".to_owned()], &[]));
    }
}
