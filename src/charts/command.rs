//! Helm's command lines as Argo CD shows them when they fail.
//!
//! In:  what litecd did instead of running helm.
//! Out: the line with user and password hidden, and without names of random files, so that it reads the same each time.
//! Source: REND-074 to REND-076, REND-140, REND-146 (`util/helm/cmd.go`).

use super::access::ChartAccess;

/// A command line that grows.
struct Line(String);

impl Line {
    fn new(start: impl Into<String>) -> Self {
        Self(start.into())
    }

    fn add(mut self, is_on: bool, words: &str) -> Self {
        if is_on {
            self.0.push(' ');
            self.0.push_str(words);
        }
        self
    }

    fn credentials(self, access: &ChartAccess) -> Self {
        self.add(!access.username.is_empty(), "--username ******").add(!access.password.is_empty(), "--password ******")
    }

    fn authorities(self, access: &ChartAccess) -> Self {
        self.add(!access.route.trust.authorities.is_empty(), "--ca-file <file>")
    }

    fn client_certificate(self, access: &ChartAccess) -> Self {
        let trust = &access.route.trust;
        self.add(!trust.certificate.is_empty(), "--cert-file <file>").add(!trust.key.is_empty(), "--key-file <file>")
    }

    /// The failure of the command with helm's reason.
    fn failed(self, reason: &str) -> String {
        format!("`{}` failed exit status 1: Error: {reason}", self.0)
    }
}

/// `helm pull` from a chart repository.
pub fn pull(access: &ChartAccess, (chart, version): (&str, &str), pass_credentials: bool, reason: &str) -> String {
    Line::new(format!("helm pull --destination <dir> --version {version}"))
        .credentials(access)
        .add(access.route.trust.insecure, "--insecure-skip-tls-verify")
        .add(true, &format!("--repo {} {chart}", access.shown_url()))
        .authorities(access)
        .client_certificate(access)
        .add(pass_credentials, "--pass-credentials")
        .failed(reason)
}

/// `helm pull` from a registry.
pub fn pull_oci(access: &ChartAccess, (name, version): (&str, &str), reason: &str) -> String {
    Line::new(format!("helm pull oci://{name} --version {version} --destination <dir>"))
        .authorities(access)
        .client_certificate(access)
        .add(access.route.trust.insecure, "--insecure-skip-tls-verify")
        .add(access.plain_http, "--plain-http")
        .failed(reason)
}

/// `helm registry login`.
pub fn login(access: &ChartAccess, host: &str, reason: &str) -> String {
    Line::new(format!("helm registry login {host}"))
        .add(access.plain_http, "--plain-http")
        .add(true, "--username ****** --password-stdin")
        .authorities(access)
        .client_certificate(access)
        .add(access.route.trust.insecure, "--insecure")
        .failed(&format!("authenticating to {host:?}: {reason}"))
}

/// `helm repo add`.
pub fn repo_add(access: &ChartAccess, name: &str, pass_credentials: bool, reason: &str) -> String {
    Line::new("helm repo add")
        .credentials(access)
        .authorities(access)
        .add(access.route.trust.insecure, "--insecure-skip-tls-verify")
        .client_certificate(access)
        .add(pass_credentials, "--pass-credentials")
        .add(true, &format!("{name} {}", access.shown_url()))
        .failed(reason)
}
