//! Globs of value files.
//!
//! In:  an absolute pattern: `*`, `?`, `[class]` and `{a,b}` inside one path component, `**` for any depth.
//! Out: the existing paths that match, lexically; with `**` the files of a directory before those of its sub-directories.
//! Source: REND-129 (doublestar 4 `FilepathGlob`).

use std::path::{Component, Path, PathBuf};

use crate::render::walk::sorted_entries;

/// The paths that match.
pub fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    let parts: Vec<Component<'_>> = pattern.components().collect();
    for (index, part) in parts.iter().enumerate() {
        let Component::Normal(name) = part else {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let name = name.to_string_lossy();
        let is_last = index + 1 == parts.len();
        found = found.into_iter().flat_map(|path| step(path, &name, is_last)).collect();
    }
    found
}

/// One component below one path.
fn step(path: PathBuf, name: &str, is_last: bool) -> Vec<PathBuf> {
    if name == "**" {
        let mut all = Vec::new();
        descend(path, is_last, &mut all);
        return all;
    }
    if !name.contains(['*', '?', '[', '{', '\\']) {
        let child = path.join(name);
        return if child.symlink_metadata().is_ok() { vec![child] } else { Vec::new() };
    }
    let entries = sorted_entries(&path).unwrap_or_default();
    let fits = |entry: &PathBuf| entry.file_name().is_some_and(|own| component_matches(name, &own.to_string_lossy()));
    entries.into_iter().filter(fits).collect()
}

/// The path and everything below it; files only where the pattern ends here. Linked directories are not entered.
fn descend(path: PathBuf, with_files: bool, all: &mut Vec<PathBuf>) {
    let entries = sorted_entries(&path).unwrap_or_default();
    all.push(path);
    for entry in entries {
        let is_folder = entry.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            descend(entry, with_files, all);
        } else if with_files {
            all.push(entry);
        }
    }
}

/// Whether every class of the pattern is closed; others are an error rather than a glob that matches nothing.
pub fn is_valid(pattern: &Path) -> bool {
    pattern.components().all(|part| {
        let part: Vec<char> = part.as_os_str().to_string_lossy().chars().collect();
        let mut rest = part.as_slice();
        loop {
            rest = match rest {
                [] => return true,
                ['\\', _, after @ ..] => after,
                ['[', after @ ..] => match class(after, None) {
                    Some((_, after)) => after,
                    None => return false,
                },
                [_, after @ ..] => after,
            };
        }
    })
}

/// Whether a name matches a pattern of one component.
pub fn component_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches(&pattern, &name)
}

fn matches(pattern: &[char], name: &[char]) -> bool {
    match pattern {
        [] => name.is_empty(),
        ['*', rest @ ..] => (0..=name.len()).any(|skip| name.get(skip..).is_some_and(|tail| matches(rest, tail))),
        ['?', rest @ ..] => !name.is_empty() && matches(rest, name.get(1..).unwrap_or_default()),
        ['\\', literal, rest @ ..] => name.first() == Some(literal) && matches(rest, name.get(1..).unwrap_or_default()),
        ['[', rest @ ..] => {
            let Some((fits, after)) = class(rest, name.first().copied()) else { return false };
            fits && matches(after, name.get(1..).unwrap_or_default())
        }
        ['{', rest @ ..] => {
            let Some(end) = rest.iter().position(|c| *c == '}') else { return false };
            let (inner, after) = rest.split_at(end);
            inner.split(|c| *c == ',').any(|choice| {
                let whole: Vec<char> = choice.iter().chain(after.iter().skip(1)).copied().collect();
                matches(&whole, name)
            })
        }
        [literal, rest @ ..] => name.first() == Some(literal) && matches(rest, name.get(1..).unwrap_or_default()),
    }
}

/// Whether a character is in the class that the pattern goes on with, and the pattern after it; `None` for a broken class.
fn class(pattern: &[char], c: Option<char>) -> Option<(bool, &[char])> {
    let is_negated = matches!(pattern.first(), Some('!' | '^'));
    let body = pattern.get(usize::from(is_negated)..)?;
    let end = body.iter().skip(1).position(|c| *c == ']')? + 1;
    let (mut members, mut is_in) = (body.get(..end)?, false);
    loop {
        match members {
            [] => break,
            [low, '-', high, rest @ ..] => {
                is_in |= c.is_some_and(|c| *low <= c && c <= *high);
                members = rest;
            }
            [one, rest @ ..] => {
                is_in |= c == Some(*one);
                members = rest;
            }
        }
    }
    Some((c.is_some() && is_in != is_negated, body.get(end + 1..)?))
}
