//! Whether an address of a repository in a spec means the repository of an event.
//!
//! In:  the address in the event; addresses in specs.
//! Out: whether they fit.
//! Source: HOOK-011 (`util/webhook/webhook.go` `GetWebURLRegex`, `GetAPIURLRegex`).

use crate::gocompat::url;

/// Host and path that an address must have.
pub struct Pattern {
    host: String,
    path: String,
}

impl Pattern {
    /// `None` where the address cannot be read.
    pub fn new(address: &str) -> Option<Self> {
        let (host, path) = url::host_and_path(address)?;
        let path = path.strip_prefix('/').unwrap_or(&path).to_lowercase();
        Some(Self { host: host.to_lowercase(), path })
    }

    /// Whether an address means the same repository: any of HTTP, SSH and the scp form, with or without user, port and
    /// `.git`, in any case of letters.
    pub fn is_repository(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        let schemes = ["", "http://", "https://", "ssh://"];
        hosts(&address, &schemes).any(|rest| {
            let rests = ["", "ssh.", "altssh."].into_iter().filter_map(|prefix| rest.strip_prefix(prefix));
            rests.filter_map(|rest| rest.strip_prefix(self.host.as_str())).any(|rest| {
                ports(rest)
                    .filter_map(|rest| rest.strip_prefix([':', '/']))
                    .any(|path| path == self.path || path.strip_suffix(".git").is_some_and(|path| path == self.path))
            })
        })
    }

    /// Whether an address is the root of the API that the event's address lies in.
    pub fn is_api(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        hosts(&address, &["", "http://", "https://"]).any(|rest| {
            let rest = rest.strip_prefix(self.host.as_str());
            rest.is_some_and(|rest| ports(rest).any(|rest| matches!(rest, "" | "/")))
        })
    }
}

/// What may begin with the host: with or without each scheme, with or without a user.
fn hosts<'a>(address: &'a str, schemes: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let rests = schemes.iter().filter_map(move |scheme| address.strip_prefix(scheme));
    rests.flat_map(|rest| {
        let without_user = rest.split_once('@').filter(|(user, _)| is_user(user)).map(|(_, rest)| rest);
        std::iter::once(rest).chain(without_user)
    })
}

/// What may follow the host: with or without a port.
fn ports(rest: &str) -> impl Iterator<Item = &str> {
    let digits = rest.strip_prefix(':').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let after = digits.filter(|after| after.len() + 1 < rest.len());
    std::iter::once(rest).chain(after)
}

fn is_user(user: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let Some(last) = user.chars().last() else { return false };
    let (middle, end) = (user.get(1..user.len() - last.len_utf8()), user.len());
    user.starts_with(is_word)
        && (end == 1 || (is_word(last) || matches!(last, '-' | '$')))
        && middle.unwrap_or_default().chars().all(|c| is_word(c) || c == '-')
        && end <= 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_one_repository_fit() {
        let pattern = Pattern::new("https://Git.Example.com:8443/Org/repo").expect("an address");
        for address in [
            "https://git.example.com/org/repo",
            "http://user@git.example.com:1/ORG/repo.git",
            "git@git.example.com:org/repo.git",
            "ssh://git@ssh.git.example.com:22/org/repo",
            "git.example.com/org/repo",
            "altssh.git.example.com:443/org/repo",
            "a_b.c-d$@git.example.com/org/repo",
        ] {
            assert!(pattern.is_repository(address), "{address}");
        }
        for address in [
            "https://git.example.com/org/repo/",
            "https://git.example.com/org/repo2",
            "https://git.example.com/org/repo.git.git",
            "https://user:pw@git.example.com/org/repo",
            "https://evil.com/git.example.com/org/repo",
            "https://xgit.example.com/org/repo",
            "ftp://git.example.com/org/repo",
            "https://@git.example.com/org/repo",
            "https://-a@git.example.com/org/repo",
            "https://gitXexample.com/org/repo",
            "",
        ] {
            assert!(!pattern.is_repository(address), "{address}");
        }
        assert!(Pattern::new("git@host:path").is_none());
        let api = Pattern::new("https://api.github.com/repos/o/r").expect("an address");
        assert!(api.is_api("https://api.github.com/") && api.is_api("API.github.com:443"));
        assert!(!api.is_api("https://api.github.com/v3") && !api.is_api("ssh://api.github.com"));
    }
}
