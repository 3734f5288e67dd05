//! Charts and artefacts as sources, and where the dependencies of charts may come from.
//!
//! In:  a source with a chart or an `oci://` address; repository Secrets; the application's project.
//! Out: a version or digest, files on disk; repositories and credentials for `helm dependency build`.
//! Invariant: a chart learns only repositories and credentials that its project permits.
//! Source: REND-067 to REND-082 (`controller/state.go` `GetRepoObjs`, `reposerver/repository/repository.go`).

use std::time::Duration;

use super::Desired;
use super::access;
use super::inputs::{Anew, Inputs};
use super::origin::Failure;
use crate::api::ApplicationSource;
use crate::charts::{ChartAccess, Folder, Wanted};
use crate::render::HelmRepositories;

/// How old versions may be when nobody asked for fresh ones: Argo CD's time for the index of a repository, which is many
/// times the size of a listing of references.
const VERSIONS_AGE: Duration = Duration::from_secs(180);

impl Desired {
    /// The version or digest that a revision text names now, or named at most `max_age` ago.
    pub(super) async fn resolve_chart(
        &self,
        inputs: &Inputs<'_>,
        source: &ApplicationSource,
        (text, max_age): (&str, Duration),
    ) -> Result<String, Failure> {
        let access = self.chart_access(inputs, source)?;
        let max_age = if inputs.anew == Anew::Nothing { max_age.max(VERSIONS_AGE) } else { max_age };
        if source.is_oci() {
            return Ok(self.charts.resolve_oci(&access, text, max_age).await?);
        }
        Ok(self.charts.resolve(&access, (&source.chart, text), max_age).await?)
    }

    /// The files of a resolved version or digest.
    pub(super) async fn chart(
        &self,
        inputs: &Inputs<'_>,
        source: &ApplicationSource,
        version: &str,
    ) -> Result<Folder, Failure> {
        let access = self.chart_access(inputs, source)?;
        let wanted = Wanted {
            chart: &source.chart,
            version,
            fresh: inputs.anew == Anew::Manifests,
            pass_credentials: source.helm.as_ref().is_some_and(|helm| helm.pass_credentials),
        };
        if source.is_oci() {
            return Ok(self.charts.fetch_oci(&access, wanted).await?);
        }
        Ok(self.charts.fetch(&access, wanted).await?)
    }

    fn chart_access(&self, inputs: &Inputs<'_>, source: &ApplicationSource) -> Result<ChartAccess, Failure> {
        let repository = access::repository(inputs, source)?;
        if repository.credentials.use_azure_workload_identity {
            let what = "logging in to registries with an Azure workload identity is not supported by this build";
            return Err(Failure::Reference(what.to_owned()));
        }
        let mut access = ChartAccess::of(&repository, inputs.repositories.trust());
        access.route.user_agent.clone_from(&self.options.helm_user_agent);
        Ok(access)
    }

    /// Where the dependencies of a source's chart may come from.
    pub(super) fn helm_repositories(&self, inputs: &Inputs<'_>, source: &ApplicationSource) -> HelmRepositories {
        let (known, project) = (inputs.repositories, inputs.project);
        let mut repositories: Vec<_> = known.helm_repositories().collect();
        let mut credentials: Vec<_> = known.credentials_of_type("helm").cloned().collect();
        if source.is_oci() {
            // The artefact may be a chart, and its dependencies other artefacts.
            repositories.extend(known.oci_repositories());
            credentials.extend(known.credentials_of_type("oci").cloned());
        }
        repositories.retain(|repository| project.source_permitted(&repository.url));
        credentials.retain(|entry| project.source_permitted(&entry.url));
        // A repository that cannot be read has failed the source before.
        let own = access::repository(inputs, source).unwrap_or_default();
        HelmRepositories {
            repositories,
            credentials,
            trust: known.trust().clone(),
            insecure: own.insecure,
            proxy: (own.credentials.proxy, own.credentials.no_proxy),
            private: self.store.private(),
        }
    }
}
