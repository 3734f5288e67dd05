//! The name of a repository in a registry.
//!
//! In:  `host[:port]/path`, as users write it.
//! Out: its parts; the addresses of its tags, manifests and blobs.
//! Source: oras-go `registry/reference.go`, `registry/remote/url.go`.

use crate::http::Address;

/// A repository in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Host and port as written.
    pub registry: String,
    /// Path.
    pub repository: String,
}

impl Reference {
    /// Takes a name apart; the error is oras's.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((registry, repository)) = text.split_once('/') else {
            return Err("invalid reference: missing registry or repository".to_owned());
        };
        if Address::parse(&format!("https://{registry}/")).is_none_or(|address| address.user.is_some()) {
            return Err(format!("invalid reference: invalid registry {registry:?}"));
        }
        if !repository.split('/').all(is_component) {
            return Err(format!("invalid reference: invalid repository {repository:?}"));
        }
        Ok(Self { registry: registry.to_owned(), repository: repository.to_owned() })
    }

    /// A registry as a whole.
    pub fn registry(host: &str) -> Self {
        Self { registry: host.to_owned(), repository: String::new() }
    }

    /// The host that is asked: Docker Hub has another one than its name says.
    fn host(&self) -> &str {
        if self.registry == "docker.io" { "registry-1.docker.io" } else { &self.registry }
    }

    /// The root of the registry's interface.
    pub fn base(&self, plain: bool) -> Result<Address, String> {
        let scheme = if plain { "http" } else { "https" };
        let address = Address::parse(&format!("{scheme}://{}/v2/", self.host()));
        address.ok_or_else(|| format!("invalid reference: invalid registry {:?}", self.registry))
    }

    /// The address of something in the repository.
    pub fn address(&self, plain: bool, below: &str) -> Result<Address, String> {
        let mut address = self.base(plain)?;
        address.path = format!("/v2/{}/{below}", self.repository);
        Ok(address)
    }

    /// The name with a tag or digest, as errors show it.
    pub fn with(&self, reference: &str) -> String {
        let sign = if is_digest(reference) { '@' } else { ':' };
        format!("{}/{}{sign}{reference}", self.registry, self.repository)
    }
}

/// One part of a path: lower-case words with single signs between them.
fn is_component(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut separator = String::new();
    for c in part.chars() {
        if is_word(c) {
            let is_separator =
                matches!(separator.as_str(), "" | "." | "_" | "__") || separator.chars().all(|c| c == '-');
            if !is_separator {
                return false;
            }
            separator.clear();
        } else {
            separator.push(c);
        }
    }
    part.starts_with(is_word) && part.ends_with(is_word)
}

/// Whether a text has the form of a SHA-256 digest.
pub fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Why a text is neither tag nor digest; the words are oras's.
pub fn check_reference(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("invalid reference".to_owned());
    }
    if text.contains(':') {
        let problem = match text.split_once(':') {
            Some(("sha256", _)) => "invalid checksum digest length",
            _ => "invalid checksum digest format",
        };
        let is_valid = is_digest(text);
        return if is_valid { Ok(()) } else { Err(format!("invalid reference: invalid digest {text:?}: {problem}")) };
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_tag =
        text.len() <= 128 && text.starts_with(is_word) && text.chars().all(|c| is_word(c) || c == '.' || c == '-');
    if is_tag { Ok(()) } else { Err(format!("invalid reference: invalid tag {text:?}")) }
}
