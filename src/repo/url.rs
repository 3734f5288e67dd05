//! Repository URLs in the one form that comparisons and cache folders use.
//!
//! In:  a URL as a user wrote it.
//! Out: Argo CD's normal form, empty where the text is no URL.
//! Source: REND-046 (`util/git/git.go` `NormalizeGitURL`).

/// Normalises a Git URL; two URLs are the same repository when their forms are equal and not empty.
pub fn normalize(url: &str) -> String {
    let mut url = url.trim().to_lowercase();
    if is_ssh(&url) && !url.starts_with("ssh://") {
        url = format!("ssh://{}", url.replacen(':', "/", 1));
    }
    let url = url.strip_suffix(".git").unwrap_or(&url);
    if !is_url(url) {
        return String::new();
    }
    let url = url.replace(' ', "%20");
    url.strip_prefix("ssh://").unwrap_or(&url).to_owned()
}

/// Whether both URLs name one repository.
pub fn same(left: &str, right: &str) -> bool {
    let left = normalize(left);
    !left.is_empty() && left == normalize(right)
}

/// `user@host:path` and `ssh://user@host/path`.
pub fn is_ssh(url: &str) -> bool {
    let rest = url.strip_prefix("ssh://").unwrap_or(url);
    match rest.split_once('@') {
        Some((user, host)) => !user.contains(['/', ':']) && !host.is_empty() && !host.contains('@'),
        None => false,
    }
}

/// Whether Go's URL parser would accept the text, as far as repository URLs go.
fn is_url(text: &str) -> bool {
    if text.chars().any(char::is_control) {
        return false;
    }
    let escapes_are_valid = text.split('%').skip(1).all(|rest| {
        let mut digits = rest.chars().take(2);
        matches!((digits.next(), digits.next()), (Some(a), Some(b)) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
    });
    if !escapes_are_valid {
        return false;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return true };
    let scheme_is_valid = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !scheme_is_valid {
        return scheme.contains('/');
    }
    let Some(authority) = rest.strip_prefix("//") else { return true };
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = match host.rsplit_once(']') {
        Some((_, after)) => after.strip_prefix(':').unwrap_or(after),
        None => host.split_once(':').map_or("", |(_, port)| port),
    };
    !host.contains(' ') && port.chars().all(|c| c.is_ascii_digit())
}
