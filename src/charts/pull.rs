//! Downloads packaged charts as `helm pull` does, without the process and its command line.
//!
//! In:  a repository or registry, a chart and a version.
//! Out: the archive in a file; or helm's failure in the words that Argo CD shows, with random folders left out.
//! Invariant: a user and password go to the repository's own origin; elsewhere only where the source passes them on.
//! Source: REND-074 to REND-076, REND-146 (`util/helm/cmd.go` `Fetch`, `PullOCI`; Helm `pkg/action/pull.go`, `pkg/registry`).

use std::path::Path;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header;

use super::access::ChartAccess;
use super::chart;
use super::command;
use super::error::Error;
use super::index::Entry;
use super::registry::{Descriptor, Reference, Session};
use crate::http::{Address, Client, Request};

/// Configuration of an artefact that is a chart.
pub const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
/// Its packaged chart.
pub const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/// The same before OCI support was settled.
const OLD_CHART_LAYER: &str = "application/tar+gzip";

/// One pull.
pub struct Pull<'a> {
    /// The repository.
    pub access: &'a ChartAccess,
    /// The chart.
    pub chart: &'a str,
    /// The version as it was resolved.
    pub version: &'a str,
    /// Whether credentials go to every host.
    pub pass_credentials: bool,
    /// Longest time that it may take.
    pub timeout: Duration,
    /// Bytes that an archive may have.
    pub limit: u64,
}

impl Pull<'_> {
    /// The chart from a registry, below the repository's URL.
    pub async fn registry_archive(&self, to: &Path) -> Result<(), Error> {
        let name = registry_name(&self.access.url, self.chart);
        let reference = Reference::parse(&name).map_err(|reason| self.pull_failed(&reason))?;
        let mut session =
            Session::new(self.access, self.timeout).map_err(|reason| self.pull_failed(&tls_words(&reason)))?;
        if !self.access.username.is_empty() && !self.access.password.is_empty() {
            login(&mut session, self.access, &reference).await.map_err(Error::Login)?;
        }
        self.artefact(&mut session, &reference, (self.version, to)).await.map_err(|reason| self.pull_failed(&reason))
    }

    /// The chart from where the index says it is.
    pub async fn listed_archive(&self, entries: &[Entry], to: &Path) -> Result<(), Error> {
        let what = format!("chart {:?} version {:?}", self.chart, self.version);
        let Some(entry) = chart::pick(entries, self.version) else { return Err(self.not_found()) };
        let Some(url) = &entry.url else {
            return Err(self.fetch_failed(&format!("{what} has no downloadable URLs")));
        };
        if let Some(name) = url.strip_prefix("oci://") {
            return self.archive_elsewhere(name, to).await.map_err(|reason| self.fetch_failed(&reason));
        }
        let folder = Address::parse(&format!("{}/", self.access.url.trim_end_matches('/')));
        let Some(address) = folder.as_ref().and_then(|folder| folder.join(url)) else {
            let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
            return Err(self.fetch_failed(&format!("scheme {scheme:?} not supported")));
        };
        self.archive(address, folder.as_ref(), to).await.map_err(|reason| self.fetch_failed(&reason))
    }

    async fn archive(&self, address: Address, repository: Option<&Address>, to: &Path) -> Result<(), String> {
        let client = Client::new(&self.access.route, self.timeout).map_err(|reason| tls_words(&reason))?;
        let shown = address.shown();
        let is_own = repository.is_some_and(|own| own.is_same_origin(&address));
        let mut request = Request::get(address).header(header::ACCEPT, "application/gzip,application/octet-stream");
        // The index is written by the repository's owner, and may name any host; the password is not theirs to give away.
        if is_own || self.pass_credentials {
            if !self.access.username.is_empty() && !self.access.password.is_empty() {
                request = request.basic_auth(&self.access.username, &self.access.password);
            } else if let Some((user, password)) = repository.and_then(|own| own.user.clone()) {
                request = request.basic_auth(&user, &password);
            }
        }
        let answer = client.send(request).await.map_err(|fault| fault.shown("Get", &shown))?;
        if answer.status != StatusCode::OK {
            return Err(format!("failed to fetch {shown} : {}", answer.status_text()));
        }
        let saved = answer.save(to, self.limit).await.map_err(|fault| fault.shown("Get", &shown))?;
        if saved.is_cut { Err(format!("{shown} is larger than the limit of {} bytes", self.limit)) } else { Ok(()) }
    }

    /// A chart that the index of a chart repository places in a registry.
    async fn archive_elsewhere(&self, name: &str, to: &Path) -> Result<(), String> {
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, tag),
            _ => (name, self.version),
        };
        let reference = Reference::parse(name)?;
        let own = Address::parse(&self.access.url);
        let is_own = own.is_some_and(|own| own.authority() == reference.registry);
        let mut access = self.access.clone();
        if !is_own && !self.pass_credentials {
            (access.username, access.password) = (String::new(), String::new());
        }
        let mut session = Session::new(&access, self.timeout).map_err(|reason| tls_words(&reason))?;
        self.artefact(&mut session, &reference, (tag, to)).await
    }

    /// The packaged chart of an artefact.
    async fn artefact(
        &self,
        session: &mut Session,
        reference: &Reference,
        (version, to): (&str, &Path),
    ) -> Result<(), String> {
        // Tags have no plus sign.
        let tag = version.replace('+', "_");
        let manifest = session.manifest(reference, &tag).await;
        let manifest =
            manifest.map_err(|reason| format!("failed to perform \"FetchReference\" on source: {reason}"))?;
        let is_chart = |layer: &&Descriptor| [CHART_LAYER, OLD_CHART_LAYER].contains(&layer.media_type.as_str());
        let layer = manifest.layers.iter().rev().find(is_chart);
        let has_config = manifest.config.media_type == CHART_CONFIG;
        let found = 1 + usize::from(has_config) + manifest.layers.iter().filter(is_chart).count();
        if found < 2 {
            return Err(format!(
                "manifest does not contain minimum number of descriptors (2), descriptors found: {found}"
            ));
        }
        if !has_config {
            return Err(format!("could not load config with mediatype {CHART_CONFIG}"));
        }
        let Some(layer) = layer else {
            return Err(format!("manifest does not contain a layer with mediatype {CHART_LAYER}"));
        };
        let fetched = session.blob(reference, layer, (to, self.limit)).await;
        fetched.map_err(|reason| format!("failed to perform \"Fetch\" on source: {reason}"))
    }

    /// The index has no such version.
    pub fn not_found(&self) -> Error {
        self.fetch_failed(&format!(
            "chart {:?} version {:?} not found in {} repository",
            self.chart,
            self.version,
            self.access.shown_url()
        ))
    }

    /// There is no index.
    pub fn no_index(&self, reason: &str) -> Error {
        let url = self.access.shown_url();
        self.fetch_failed(&format!("looks like {url:?} is not a valid chart repository or cannot be reached: {reason}"))
    }

    fn fetch_failed(&self, reason: &str) -> Error {
        Error::Fetch(command::pull(self.access, (self.chart, self.version), self.pass_credentials, reason))
    }

    fn pull_failed(&self, reason: &str) -> Error {
        let name = registry_name(&self.access.url, self.chart);
        Error::Pull(command::pull_oci(self.access, (&name, self.version), reason))
    }
}

/// Finds out whether a registry accepts the credentials, as `helm registry login` does.
pub async fn login(session: &mut Session, access: &ChartAccess, at: &Reference) -> Result<(), String> {
    session.ping(at).await.map_err(|reason| command::login(access, &at.registry, &reason))
}

fn tls_words(reason: &str) -> String {
    format!("can't create TLS config for client: {reason}")
}

/// What helm says where there is no index.
pub fn no_repository(access: &ChartAccess, reason: &str) -> String {
    format!("looks like {:?} is not a valid chart repository or cannot be reached: {reason}", access.shown_url())
}

/// Host and path of a chart in a registry.
pub fn registry_name(url: &str, chart: &str) -> String {
    format!("{url}/{chart}").replacen("https://", "", 1)
}
