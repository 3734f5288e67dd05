//! Compares repository URLs as Argo CD does.
//!
//! In:  URLs as written in specs, projects and Secrets; patterns pass too.
//! Out: normalised texts that are equal when the repositories are.
//! Source: APP-213, REND-051, REND-053 (`util/git/git.go`).

use crate::gocompat::url;

/// The URL in lower case, without `.git` and `ssh://`, scp form turned into slash form; empty where it cannot be read.
pub fn normalize(repo: &str) -> String {
    let mut repo = repo.trim().to_lowercase();
    if is_ssh(&repo) && !repo.starts_with("ssh://") {
        // The first colon of `git@host:path` would read as a port.
        repo = format!("ssh://{}", repo.replacen(':', "/", 1));
    }
    let repo = repo.strip_suffix(".git").unwrap_or(&repo);
    let printed = url::reprint(repo).unwrap_or_default();
    printed.strip_prefix("ssh://").unwrap_or(&printed).to_owned()
}

/// Whether two URLs name the same repository; URLs that cannot be read are compared as they are written.
pub fn same(left: &str, right: &str) -> bool {
    let normal = |url: &str| {
        let normal = normalize(url);
        if normal.is_empty() { url.to_owned() } else { normal }
    };
    let left = normal(left);
    !left.is_empty() && left == normal(right)
}

/// `user@host…` with exactly one `@`, the user without `/` and `:`, `ssh://` optional.
pub fn is_ssh(url: &str) -> bool {
    let rest = url.strip_prefix("ssh://").unwrap_or(url);
    rest.split_once('@')
        .is_some_and(|(user, host)| !user.contains(['/', ':']) && !host.is_empty() && !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::{normalize, same};

    #[test]
    fn spellings_of_one_repository_are_equal() {
        for (url, expect) in [
            ("https://GitHub.com/Argoproj/Argo-CD.git", "https://github.com/argoproj/argo-cd"),
            (" git@github.com:argoproj/argo-cd.git\n", "git@github.com/argoproj/argo-cd"),
            ("ssh://git@github.com/argoproj/argo-cd", "git@github.com/argoproj/argo-cd"),
            ("git@github.com:22/argoproj/argo-cd", "git@github.com/22/argoproj/argo-cd"),
            ("https://a.com/{x,y}", "https://a.com/%7bx,y%7d"),
            ("ghcr.io/a/b", "ghcr.io/a/b"),
            ("https://a.com:x/y", ""),
            ("*", "*"),
            ("ssh://git@host:2222/org/repo.git", "git@host:2222/org/repo"),
            ("https://host/%zz", ""),
            ("/local/path.git", "/local/path"),
        ] {
            assert_eq!(normalize(url).to_lowercase(), expect, "{url}");
        }
        assert!(same("git@github.com:a/b", "ssh://git@github.com/a/b.git"));
        assert!(same("https://a.com:x/y", "https://a.com:x/y"));
        assert!(!same("", ""));
        assert!(!same("https://a.com/b", "https://a.com/b/"));
    }
}
