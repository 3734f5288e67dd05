//! Parameters of Argo CD's repo server, which litecd fetches and renders by.
//!
//! In:  keys `reposerver.*`; the repo server's flags and variables.
//! Out: typed parameters with Argo CD's defaults.
//! Source: REND-259 to REND-263 (`cmd/argocd-repo-server/commands/argocd_repo_server.go`, `common/common.go`).

use jiff::SignedDuration;

/// Limits of fetching and rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoServer {
    /// Renderings at once; zero leaves the choice to litecd.
    pub parallelism_limit: usize,
    /// Listings of references at once; zero is no limit.
    pub listings_limit: usize,
    /// Longest listing of references.
    pub git_request_timeout: SignedDuration,
    /// Longest run of git, helm or kustomize.
    pub exec_timeout: SignedDuration,
    /// How long git may take to end when it is asked to.
    pub exec_fatal_timeout: SignedDuration,
    /// Whether submodules are fetched.
    pub git_submodules: bool,
    /// Whether links may lead out of a repository.
    pub allow_links_out: bool,
    /// Largest sum of a directory's manifest files in bytes; zero is no limit.
    pub max_directory_bytes: u64,
    /// How long rendered manifests are good for.
    pub cache_expiration: SignedDuration,
    /// Failures after which a rendering is not tried again; zero tries always.
    pub pause_after_failures: u32,
    /// For how long; zero is for ever.
    pub pause_time: SignedDuration,
    /// How often the failure is repeated without trying; zero is no limit.
    pub pause_answers: u32,
    /// Bytes that an unpacked chart may have.
    pub helm_max_bytes: u64,
    /// Whether charts may have any size.
    pub helm_unlimited: bool,
    /// Bytes that an unpacked OCI artefact may have.
    pub oci_max_bytes: u64,
    /// Whether OCI artefacts may have any size.
    pub oci_unlimited: bool,
    /// Media types of OCI layers that may be unpacked; empty for Argo CD's.
    pub oci_media_types: Vec<String>,
    /// What chart repositories are told that asks them; empty for litecd's own name.
    pub helm_user_agent: String,
}

impl Default for RepoServer {
    fn default() -> Self {
        Self {
            parallelism_limit: 0,
            listings_limit: 0,
            git_request_timeout: SignedDuration::from_secs(15),
            exec_timeout: SignedDuration::from_secs(90),
            exec_fatal_timeout: SignedDuration::from_secs(10),
            git_submodules: true,
            allow_links_out: false,
            max_directory_bytes: 10_000_000,
            cache_expiration: SignedDuration::from_hours(24),
            pause_after_failures: 3,
            pause_time: SignedDuration::from_mins(60),
            pause_answers: 0,
            helm_max_bytes: 1_000_000_000,
            helm_unlimited: false,
            oci_max_bytes: 1_000_000_000,
            oci_unlimited: false,
            oci_media_types: Vec::new(),
            helm_user_agent: String::new(),
        }
    }
}

/// Bytes of a Kubernetes quantity such as `10M`, `1.5Gi` or `500000`; fractions of a byte count as a whole one.
pub fn bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let factor: u64 = match suffix {
        "" => 1,
        "k" => 1000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let places = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let number: u128 = format!("{whole}{fraction}").parse().ok()?;
    u64::try_from((number.checked_mul(u128::from(factor))?).div_ceil(places)).ok()
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read_as_kubernetes_quantities() {
        for (text, expect) in [
            ("10M", Some(10_000_000)),
            ("0", Some(0)),
            ("1.5Ki", Some(1536)),
            (".5k", Some(500)),
            ("0.1", Some(1)),
            ("1G", Some(1_000_000_000)),
            ("", None),
            ("M", None),
            ("-1M", None),
            ("10MB", None),
            ("99999999999999T", None),
        ] {
            assert_eq!(bytes(text), expect, "{text:?}");
        }
    }
}
