//! Reads from an OCI registry.
//!
//! In:  a repository's name and access.
//! Out: tags, digests, manifests, blobs; errors in oras's words.
//! Invariant: what is named by a digest is checked against it; metadata and pages are bounded.
//! Source: oras-go `registry/remote/repository.go`, `registry/remote/auth/client.go`.

mod challenge;
mod manifest;
mod reference;
mod session;

#[cfg(test)]
mod tests;

use std::path::Path;

use hyper::Method;
use hyper::StatusCode;
use hyper::header::{self, HeaderName};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::http::{Answer, Request};
pub use manifest::{Descriptor, Manifest};
pub use reference::{Reference, check_reference, is_digest};
pub use session::Session;

/// Manifests and lists of tags are cut at this size.
const MAX_METADATA: usize = 4 << 20;

/// All pages of a list of tags together have at most so many bytes: half a million tags.
const MAX_TAGS: usize = 16 << 20;

/// A list of tags with more pages than this does not end.
const MAX_PAGES: usize = 1_000;

/// Media types of manifests, as oras asks for them.
const MANIFESTS: &str = "application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, application/vnd.oci.artifact.manifest.v1+json";

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

impl Session {
    /// All tags, in the registry's order.
    pub async fn tags(&mut self, of: &Reference) -> Result<Vec<String>, String> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        let (mut tags, mut room) = (Vec::new(), MAX_TAGS);
        let mut address = of.address(self.is_plain(), "tags/list")?;
        for _ in 0..MAX_PAGES {
            let answer = self.send(Request::get(address.clone()), Some(of)).await?;
            if answer.status != StatusCode::OK {
                return Err(refusal(answer).await);
            }
            let next = next_page(&answer)?;
            let shown = format!("GET {:?}", answer.address.shown());
            let base = answer.address.clone();
            let text = answer.bytes(MAX_METADATA).await.map_err(|fault| fault.to_string())?;
            let too_many = || format!("more than {MAX_TAGS} bytes of tags");
            room = room.checked_sub(text.len()).ok_or_else(too_many)?;
            let page: Page = serde_json::from_slice(&text)
                .map_err(|error| format!("{shown}: failed to decode response: {}", go_json(&error)))?;
            tags.extend(page.tags.unwrap_or_default());
            let Some(next) = next else { return Ok(tags) };
            address = base.join(&next).ok_or_else(|| format!("invalid next link {next:?}"))?;
        }
        Err(format!("more than {MAX_PAGES} pages of tags"))
    }

    /// The digest of a tag, or of a digest that is there.
    pub async fn resolve(&mut self, of: &Reference, reference: &str) -> Result<String, String> {
        let answer = self.about_manifest(Method::HEAD, of, reference).await?;
        let given = answer.header(&CONTENT_DIGEST).map(str::to_owned);
        let shown = format!("HEAD {:?}", answer.address.shown());
        match given {
            Some(given) if !is_digest(&given) => {
                Err(format!("{shown}: invalid response header value: `Docker-Content-Digest: {given}`"))
            }
            Some(given) if is_digest(reference) && given != reference => Err(format!(
                "{shown}: invalid response; digest mismatch in Docker-Content-Digest: received {given:?} when expecting {reference:?}"
            )),
            Some(given) => Ok(given),
            None if is_digest(reference) => Ok(reference.to_owned()),
            None => Err("HTTP HEAD request missing required header \"Docker-Content-Digest\"".to_owned()),
        }
    }

    async fn about_manifest(&mut self, method: Method, of: &Reference, reference: &str) -> Result<Answer, String> {
        check_reference(reference)?;
        let mut request = Request::get(of.address(self.is_plain(), &format!("manifests/{reference}"))?);
        request.method = method;
        let answer = self.send(request.header(header::ACCEPT, MANIFESTS), Some(of)).await?;
        match answer.status {
            StatusCode::OK => Ok(answer),
            StatusCode::NOT_FOUND => Err(format!("{}: not found", of.with(reference))),
            _ => Err(refusal(answer).await),
        }
    }

    /// The manifest of a tag or digest.
    pub async fn manifest(&mut self, of: &Reference, reference: &str) -> Result<Manifest, String> {
        let answer = self.about_manifest(Method::GET, of, reference).await?;
        let given = answer.header(&CONTENT_DIGEST).map(str::to_owned);
        let shown = format!("GET {:?}", answer.address.shown());
        let text = answer.bytes(MAX_METADATA).await.map_err(|fault| fault.to_string())?;
        verify(&text, reference, given.as_deref()).map_err(|reason| match given.filter(|given| !is_digest(given)) {
            Some(_) => format!("{shown}: {reason}"),
            None => reason,
        })?;
        serde_json::from_slice(&text).map_err(|error| go_json(&error))
    }

    /// A blob into a file, checked against its digest; at most `limit` bytes.
    pub async fn blob(
        &mut self,
        of: &Reference,
        wanted: &Descriptor,
        (path, limit): (&Path, u64),
    ) -> Result<(), String> {
        let digest = &wanted.digest;
        if !is_digest(digest) {
            return Err(format!("invalid reference: invalid digest {digest:?}: unsupported digest algorithm"));
        }
        if wanted.size > limit {
            return Err(format!("blob {digest} of {} bytes is larger than the limit of {limit} bytes", wanted.size));
        }
        let address = of.address(self.is_plain(), &format!("blobs/{digest}"))?;
        let answer = self.send(Request::get(address), Some(of)).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(format!("{digest}: not found")),
            _ => return Err(refusal(answer).await),
        }
        let saved = answer.save(path, wanted.size).await.map_err(|fault| fault.to_string())?;
        if saved.bytes != wanted.size || saved.is_cut {
            return Err("mismatch Content-Length".to_owned());
        }
        if format!("sha256:{}", saved.sha256) != *digest {
            return Err("mismatched digest".to_owned());
        }
        Ok(())
    }
}

/// Checks a manifest against the digest that it was asked for by, and against the one that the registry says it has: of a
/// tag nothing else is known.
fn verify(text: &[u8], reference: &str, given: Option<&str>) -> Result<(), String> {
    if let Some(given) = given.filter(|given| !is_digest(given)) {
        return Err(format!("invalid response header value: `Docker-Content-Digest: {given}`"));
    }
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let digest = format!("sha256:{digest}");
    let expected = given.into_iter().chain(Some(reference).filter(|reference| is_digest(reference)));
    if expected.into_iter().any(|expected| expected != digest) {
        return Err("mismatched digest".to_owned());
    }
    Ok(())
}

/// The link to the next page, if there is one.
fn next_page(answer: &Answer) -> Result<Option<String>, String> {
    let Some(link) = answer.header(&header::LINK).filter(|link| !link.is_empty()) else { return Ok(None) };
    let Some(rest) = link.strip_prefix('<') else { return Err(format!("invalid next link {link:?}: missing '<'")) };
    let Some((target, _)) = rest.split_once('>') else {
        return Err(format!("invalid next link {link:?}: missing '>'"));
    };
    Ok(Some(target.to_owned()))
}

/// A refusal, with the registry's own words where it has some.
pub async fn refusal(answer: Answer) -> String {
    #[derive(Deserialize)]
    struct Reason {
        #[serde(default)]
        code: String,
        #[serde(default)]
        message: String,
        detail: Option<serde_json::Value>,
    }
    #[derive(Deserialize)]
    struct Body {
        errors: Vec<Reason>,
    }
    const MAX_ERROR: usize = 8 << 10;
    let start =
        format!("{} {:?}: response status code {}", answer.method, answer.address.shown(), answer.status.as_u16());
    let reason = answer.status.canonical_reason().unwrap_or_default().to_owned();
    let text = answer.bytes(MAX_ERROR).await.unwrap_or_default();
    let said = serde_json::from_slice::<Body>(&text).map(|body| body.errors).unwrap_or_default();
    let one = |reason: &Reason| {
        let code = reason.code.replace('_', " ").to_lowercase();
        match (&reason.message, &reason.detail) {
            (message, _) if message.is_empty() => code,
            (message, None) => format!("{code}: {message}"),
            (message, Some(detail)) => format!("{code}: {message}: {}", go_value(detail)),
        }
    };
    let words: Vec<String> = said.iter().map(one).collect();
    format!("{start}: {}", if words.is_empty() { reason } else { words.join("; ") })
}

/// A value as Go's `%v` prints what its JSON reader made of it.
fn go_value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "<nil>".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" "))
        }
        serde_json::Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{key}:{}", go_value(value)));
            format!("map[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}

fn go_json(error: &serde_json::Error) -> String {
    if error.is_eof() { "unexpected EOF".to_owned() } else { format!("invalid answer: {error}") }
}
