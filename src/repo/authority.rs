//! The part of a URL that says whom to talk to.
//!
//! In:  a URL as users write it, `user@host:path` included.
//! Out: scheme, user, password, host and port; the URL without its password.
//! Invariant: a text that is no URL has no authority and is returned as it is.

use crate::gocompat::url::decode;
use crate::settings::git_url;

/// Whom a URL says to talk to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    /// In lower case; `ssh` for the form `user@host:path`.
    pub scheme: String,
    /// User, decoded.
    pub user: String,
    /// Password, decoded; `None` where the URL has none.
    pub password: Option<String>,
    /// Host in lower case, without brackets.
    pub host: String,
    /// Port, empty where the URL has none.
    pub port: String,
}

impl Authority {
    /// Reads a URL.
    pub fn of(url: &str) -> Option<Self> {
        let Some((scheme, rest)) = url.split_once("://") else {
            let (user, rest) = url.split_once('@').filter(|_| git_url::is_ssh(url))?;
            let host = rest.split([':', '/']).next().unwrap_or_default();
            let (user, host) = (user.to_owned(), host.to_lowercase());
            return Some(Self { scheme: "ssh".to_owned(), user, host, ..Self::default() });
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':').unwrap_or_default()),
            None => place.split_once(':').unwrap_or((place, "")),
        };
        Some(Self {
            scheme: scheme.to_lowercase(),
            user: decode(user),
            password: password.map(decode),
            host: host.to_lowercase(),
            port: port.to_owned(),
        })
    }

    /// Scheme, host and port, as git's settings name them.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.place())
    }

    /// Host and port.
    pub fn place(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port.is_empty() { host } else { format!("{host}:{}", self.port) }
    }

    /// Whether git speaks HTTP there.
    pub fn is_http(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https")
    }

    /// Whether git starts ssh.
    pub fn is_ssh(&self) -> bool {
        self.scheme == "ssh"
    }
}

/// A URL with something else in place of the password it may carry.
fn with_password(url: &str, instead: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((login, place)) if login.contains(':') => {
            format!("{scheme}://{}{instead}@{place}{path}", login.split(':').next().unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}

/// A URL without the password it may carry, for people.
pub fn redacted(url: &str) -> String {
    with_password(url, ":******")
}

/// A URL without the password it may carry, for git, which would hand it on to its children as an argument.
pub fn without_password(url: &str) -> String {
    with_password(url, "")
}

#[cfg(test)]
mod tests {
    use super::{Authority, redacted, without_password};

    #[test]
    fn urls_say_whom_to_talk_to() {
        let check = |url: &str, origin: &str, user: &str, password: Option<&str>| {
            let found = Authority::of(url).unwrap();
            assert_eq!((found.origin().as_str(), found.user.as_str()), (origin, user), "{url}");
            assert_eq!(found.password.as_deref(), password, "{url}");
        };
        check("https://Git.example.com/a@b", "https://git.example.com", "", None);
        check("https://u:p%40w@h:8443/x", "https://h:8443", "u", Some("p@w"));
        check("https://u@h", "https://h", "u", None);
        check("git@Host:org/app.git", "ssh://host", "git", None);
        check("ssh://git@h:2222/x", "ssh://h:2222", "git", None);
        check("http://[::1]:80/x", "http://[::1]:80", "", None);
        check("https://a:b@c@h/x", "https://h", "a", Some("b@c"));
        assert_eq!(Authority::of("/local/path"), None);
    }

    #[test]
    fn passwords_leave_urls() {
        for (url, shown, given) in [
            ("https://u:p@h/r", "https://u:******@h/r", "https://u@h/r"),
            ("https://:p@h/r", "https://:******@h/r", "https://@h/r"),
            ("https://u@h/r", "https://u@h/r", "https://u@h/r"),
            ("git@h:r", "git@h:r", "git@h:r"),
        ] {
            assert_eq!((redacted(url).as_str(), without_password(url).as_str()), (shown, given));
        }
    }
}
