//! The Kubernetes version as tools take it.
//!
//! In:  a version as clusters report it or users write it.
//! Out: its numbers only.
//! Source: REND-119 (`parseKubeVersion`, `k8s.io/apimachinery/pkg/util/version` `ParseGeneric`).

use super::{Error, Request};

/// The source's own version, else the cluster's; empty when neither is known.
pub fn of(request: &Request) -> Result<String, Error> {
    let source = &request.source;
    let own = match (&source.helm, &source.kustomize) {
        (Some(helm), _) if !helm.kube_version.is_empty() => &helm.kube_version,
        (_, Some(kustomize)) if !kustomize.kube_version.is_empty() => &kustomize.kube_version,
        _ => &request.kube_version,
    };
    numbers(own).map_err(|cause| Error::Failed(format!("could not parse kubernetes version {own}: {cause}")))
}

/// The source's own API versions, else the cluster's.
pub fn api_versions(request: &Request) -> &[String] {
    let source = &request.source;
    match (&source.helm, &source.kustomize) {
        (Some(helm), _) if !helm.api_versions.is_empty() => &helm.api_versions,
        (_, Some(kustomize)) if !kustomize.api_versions.is_empty() => &kustomize.api_versions,
        _ => &request.api_versions,
    }
}

/// `v1.30.2+k3s1` to `1.30.2`.
fn numbers(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let start = text.trim_start();
    let start = start.strip_prefix('v').unwrap_or(start);
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = start;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        if digits.is_empty() {
            break;
        }
        parts.push(digits);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None => break,
        }
    }
    match parts.as_slice() {
        [] => return Err(format!("could not parse {text:?} as version")),
        [_] => return Err(format!("illegal version string {text:?}")),
        [first, ..] if first.len() > 1 && first.starts_with('0') => {
            return Err(format!("illegal zero-prefixed version component {first:?} in {text:?}"));
        }
        _ => {}
    }
    if let Some(large) = parts.iter().find(|part| part.parse::<u64>().is_err()) {
        return Err(format!(
            "illegal non-numeric version component {large:?} in {text:?}: strconv.ParseUint: parsing {large:?}: value out of range"
        ));
    }
    let plain = |part: &&str| {
        let trimmed = part.trim_start_matches('0');
        if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
    };
    Ok(parts.iter().map(plain).collect::<Vec<_>>().join("."))
}
