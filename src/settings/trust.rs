//! Which servers are trusted: certificates by host, host keys of SSH servers, keys that sign commits.
//!
//! In:  the data of `argocd-tls-certs-cm`, `argocd-ssh-known-hosts-cm` and `argocd-gpg-keys-cm`.
//! Out: what a connection to one host is checked against.
//! Invariant: certificates of a host replace the system's for that host; they never extend them.
//! Source: REND-064, REND-065, REND-226 (`util/cert/cert.go`).

use std::collections::BTreeMap;

/// ConfigMap with certificates, one key per host name.
pub const TLS_CERTIFICATES: &str = "argocd-tls-certs-cm";
/// ConfigMap with the host keys of SSH servers.
pub const SSH_KNOWN_HOSTS: &str = "argocd-ssh-known-hosts-cm";
/// ConfigMap with public keys that may sign commits, one per key ID.
pub const GPG_KEYS: &str = "argocd-gpg-keys-cm";

/// Longest certificate, and most of them, that one host may have.
const MAX_LINES: usize = 128;
const MAX_CERTIFICATES: usize = 256;

/// What servers are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Trust {
    /// PEM by host name without port; only hosts that have a certificate.
    certificates: BTreeMap<String, String>,
    /// Lines of a `known_hosts` file.
    known_hosts: String,
    /// Armoured public keys by key ID.
    signing_keys: BTreeMap<String, String>,
}

impl Trust {
    /// Takes the data of one of the three ConfigMaps; an absent one is an empty one.
    pub fn set(&mut self, config_map: &str, data: BTreeMap<String, String>) {
        match config_map {
            TLS_CERTIFICATES => {
                self.certificates = data.into_iter().filter(|(_, pem)| holds_certificates(pem)).collect();
            }
            SSH_KNOWN_HOSTS => self.known_hosts = data.get("ssh_known_hosts").cloned().unwrap_or_default(),
            GPG_KEYS => self.signing_keys = data,
            _ => {}
        }
    }

    /// PEM certificates that the server of a host must be signed by; `None` leaves it to the system's.
    pub fn certificates_of(&self, host: &str) -> Option<&str> {
        let found = self.certificates.get(host).or_else(|| self.certificates.get(&host.to_lowercase()));
        found.map(String::as_str)
    }

    /// Lines of a `known_hosts` file.
    pub fn known_hosts(&self) -> &str {
        &self.known_hosts
    }

    /// Armoured public keys by key ID.
    pub fn signing_keys(&self) -> &BTreeMap<String, String> {
        &self.signing_keys
    }
}

/// Whether a text holds a certificate; text around certificates is allowed, overlong ones make the whole text void.
fn holds_certificates(text: &str) -> bool {
    let (mut count, mut lines) = (0, 0);
    for line in text.lines() {
        match lines {
            0 if line.starts_with("-----BEGIN CERTIFICATE-----") => lines = 1,
            0 => {}
            _ if line.starts_with("-----END CERTIFICATE-----") => (count, lines) = (count + 1, 0),
            _ => lines += 1,
        }
        if lines > MAX_LINES || count > MAX_CERTIFICATES {
            return false;
        }
    }
    count > 0
}

#[cfg(test)]
mod tests {
    use super::{SSH_KNOWN_HOSTS, TLS_CERTIFICATES, Trust};

    fn trust(config_map: &str, key: &str, text: &str) -> Trust {
        let mut trust = Trust::default();
        trust.set(config_map, [(key.to_owned(), text.to_owned())].into());
        trust
    }

    #[test]
    fn a_host_without_a_whole_certificate_is_left_to_the_system() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        let check = |text: &str, expect: bool| {
            let trust = trust(TLS_CERTIFICATES, "git.example.com", text);
            assert_eq!(trust.certificates_of("git.example.com").is_some(), expect, "{text:?}");
            assert_eq!(trust.certificates_of("GIT.example.com").is_some(), expect);
            assert_eq!(trust.certificates_of("example.com"), None);
        };
        check(certificate, true);
        check(&format!("subject=/CN=x\n{certificate}{certificate}"), true);
        check("", false);
        check("-----BEGIN CERTIFICATE-----\nMIIB\n", false);
        check(&certificate.replace("MIIB", &"MIIB\n".repeat(130)), false);
        check(&certificate.repeat(257), false);
    }

    #[test]
    fn known_hosts_are_one_key() {
        assert_eq!(trust(SSH_KNOWN_HOSTS, "ssh_known_hosts", "a ssh-rsa AAAA\n").known_hosts(), "a ssh-rsa AAAA\n");
        assert_eq!(trust(SSH_KNOWN_HOSTS, "other", "a ssh-rsa AAAA\n").known_hosts(), "");
    }
}
