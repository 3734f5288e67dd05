//! Artefacts that hold manifests or a chart, as sources with an `oci://` address.
//!
//! In:  a registry's repository, and a tag, digest or constraint.
//! Out: a digest; the one layer that is unpacked, in a file.
//! Invariant: exactly one layer counts, and only of a media type that the settings allow.
//! Source: REND-079 to REND-081 (`util/oci/client.go`).

use std::path::Path;

use super::cache::Kind;
use super::pull::{CHART_CONFIG, CHART_LAYER};
use super::registry::{Descriptor, Manifest, Reference, Session};
use crate::gocompat::semver::{is_constraint, max_version};

/// More layers than this nobody packs.
const MAX_LAYERS: usize = 10;

/// Media types of layers that may be unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaTypes(pub Vec<String>);

impl Default for MediaTypes {
    /// Argo CD's (REND-262).
    fn default() -> Self {
        let plain =
            ["application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+gzip", CHART_LAYER];
        Self(plain.map(str::to_owned).to_vec())
    }
}

/// The repository that a source's address names.
pub fn reference(url: &str) -> Result<Reference, String> {
    let name = url.strip_prefix("oci://").unwrap_or(url);
    Reference::parse(name).map_err(|reason| format!("failed to initialize repository: {reason}"))
}

/// The digest that a revision names: as it is, else the highest tag that it admits.
pub async fn resolve(session: &mut Session, of: &Reference, revision: &str) -> Result<String, String> {
    let failure = match session.resolve(of, revision).await {
        Ok(digest) => return Ok(digest),
        Err(reason) => format!("cannot get digest for revision {revision}: {reason}"),
    };
    if !is_constraint(revision) {
        return Err(failure);
    }
    let tags =
        tags(session, of).await.map_err(|reason| format!("error fetching tags: failed to get tags: {reason}"))?;
    let known: Vec<&str> = tags.iter().map(String::as_str).collect();
    let version =
        max_version(revision, &known, "").map_err(|reason| format!("no version for constraints: {reason}"))?;
    // Argo CD asks for the version itself here, which no registry has when it holds a plus sign.
    let tag = version.replace('+', "_");
    session.resolve(of, &tag).await.map_err(|reason| format!("cannot get digest for revision {version}: {reason}"))
}

/// Tags as versions: a plus sign is written as an underscore in registries.
pub async fn tags(session: &mut Session, of: &Reference) -> Result<Vec<String>, String> {
    Ok(session.tags(of).await?.into_iter().map(|tag| tag.replace('_', "+")).collect())
}

/// Downloads the layer that counts.
pub async fn fetch(
    session: &mut Session,
    (of, digest): (&Reference, &str),
    allowed: &MediaTypes,
    (to, limit): (&Path, u64),
) -> Result<Kind, String> {
    let manifest = session.manifest(of, digest).await;
    let manifest = manifest.map_err(|reason| format!("error resolving oci manifest for digest {digest}: {reason}"))?;
    let layer = content(&manifest, allowed)?;
    let fetched = session.blob(of, layer, (to, limit)).await;
    fetched.map_err(|reason| {
        format!("could not save oci digest {digest}: failed to perform \"Fetch\" on source: {reason}")
    })?;
    Ok(kind(&layer.media_type))
}

/// The only content layer of a manifest.
pub(super) fn content<'a>(manifest: &'a Manifest, allowed: &MediaTypes) -> Result<&'a Descriptor, String> {
    let count = manifest.layers.len();
    if count > MAX_LAYERS {
        return Err(format!("expected no more than {MAX_LAYERS} oci layers, got {count}"));
    }
    let is_chart = manifest.config.media_type == CHART_CONFIG;
    let is_content = |layer: &&Descriptor| {
        let kind = layer.media_type.as_str();
        if is_chart {
            kind == CHART_LAYER
        } else {
            ["tar+gzip", "tar.gzip", "tar"].iter().any(|end| kind.ends_with(end))
        }
    };
    let layers: Vec<&Descriptor> = manifest.layers.iter().filter(is_content).collect();
    if let Some(layer) = layers.iter().find(|layer| !allowed.0.contains(&layer.media_type)) {
        return Err(format!("oci layer media type {} is not in the list of allowed media types", layer.media_type));
    }
    match layers.as_slice() {
        [one] => Ok(one),
        several => Err(format!("expected only a single oci content layer, got {}", several.len())),
    }
}

fn kind(media_type: &str) -> Kind {
    match media_type {
        CHART_LAYER => Kind::Chart,
        other if other.ends_with("tar+gzip") || other.ends_with("tar.gzip") => Kind::TarGz,
        _ => Kind::Tar,
    }
}
