//! A repository and its credentials.
//!
//! In:  a Secret of type `repository`, `repo-creds`, or their write counterparts.
//! Out: every key that Argo CD reads.
//! Invariant: `Debug` prints no credential.
//! Source: REND-048 to REND-054 (`util/db/repository_secrets.go`, `pkg/apis/application/v1alpha1/repository_types.go`).

use std::fmt;

use super::Secret;
use crate::gocompat::strconv;

/// What a repository is reached with; empty texts and zero numbers mean absent.
#[derive(Clone, PartialEq, Eq, Default)]
#[allow(missing_docs)] // The names are those of the keys.
pub struct Credentials {
    /// `git` (also when empty), `helm` or `oci`.
    pub r#type: String,
    pub username: String,
    pub password: String,
    pub bearer_token: String,
    pub ssh_private_key: String,
    pub tls_client_cert_data: String,
    pub tls_client_cert_key: String,
    pub github_app_private_key: String,
    pub github_app_id: i64,
    pub github_app_installation_id: i64,
    pub github_app_enterprise_base_url: String,
    pub gcp_service_account_key: String,
    pub azure_service_principal_client_id: String,
    pub azure_service_principal_client_secret: String,
    pub azure_service_principal_tenant_id: String,
    pub azure_active_directory_endpoint: String,
    pub use_azure_workload_identity: bool,
    pub proxy: String,
    pub no_proxy: String,
    pub enable_oci: bool,
    pub insecure_oci_force_http: bool,
    pub force_http_basic_auth: bool,
}

/// Credentials for all repositories below a URL.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct RepositoryCredentials {
    /// URL that the repositories' URLs start with.
    pub url: String,
    /// What they are reached with.
    pub credentials: Credentials,
}

/// A repository.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Repository {
    /// URL.
    pub url: String,
    /// Name; needed by Helm repositories that charts depend on.
    pub name: String,
    /// Project whose own repository this is; empty for everybody's.
    pub project: String,
    /// What it is reached with.
    pub credentials: Credentials,
    /// Whether the credentials come from a Secret for a URL prefix.
    pub inherited_credentials: bool,
    /// Accepts any server certificate and host key.
    pub insecure: bool,
    /// Older spelling of `insecure` for host keys.
    pub insecure_ignore_host_key: bool,
    /// Whether large files are fetched.
    pub enable_lfs: bool,
    /// How many commits are fetched; all when zero.
    pub depth: i64,
    /// Whether a webhook fills no caches for this repository.
    pub webhook_manifest_cache_warm_disabled: bool,
}

/// `repository` and `repo-creds` spell two keys differently.
struct AzureKeys {
    client_id: &'static str,
    tenant_id: &'static str,
}

impl Credentials {
    fn read(secret: &Secret, azure: &AzureKeys) -> Result<Self, strconv::Error> {
        Ok(Self {
            r#type: secret.text("type"),
            username: secret.text("username"),
            password: secret.text("password"),
            bearer_token: secret.text("bearerToken"),
            ssh_private_key: secret.text("sshPrivateKey"),
            tls_client_cert_data: secret.text("tlsClientCertData"),
            tls_client_cert_key: secret.text("tlsClientCertKey"),
            github_app_private_key: secret.text("githubAppPrivateKey"),
            github_app_enterprise_base_url: secret.text("githubAppEnterpriseBaseUrl"),
            gcp_service_account_key: secret.text("gcpServiceAccountKey"),
            azure_service_principal_client_id: secret.text(azure.client_id),
            azure_service_principal_client_secret: secret.text("azureServicePrincipalClientSecret"),
            azure_service_principal_tenant_id: secret.text(azure.tenant_id),
            azure_active_directory_endpoint: secret.text("azureActiveDirectoryEndpoint"),
            proxy: secret.text("proxy"),
            no_proxy: secret.text("noProxy"),
            enable_oci: secret.flag("enableOCI")?,
            insecure_oci_force_http: secret.flag("insecureOCIForceHttp")?,
            github_app_id: secret.number("githubAppID")?,
            github_app_installation_id: secret.number("githubAppInstallationID")?,
            force_http_basic_auth: secret.flag("forceHttpBasicAuth")?,
            use_azure_workload_identity: secret.flag("useAzureWorkloadIdentity")?,
        })
    }

    /// Whether there is anything to authenticate with; a GCP key does not count (REND-052).
    pub fn any(&self) -> bool {
        self.use_azure_workload_identity
            || [
                &self.username,
                &self.password,
                &self.bearer_token,
                &self.ssh_private_key,
                &self.tls_client_cert_data,
                &self.github_app_private_key,
                &self.azure_service_principal_client_secret,
            ]
            .iter()
            .any(|text| !text.is_empty())
    }

    /// Fills what is empty from others; four flags are taken over whatever they are (REND-054).
    fn fill_from(&mut self, other: &Self) {
        let texts: [(&mut String, &String); 16] = [
            (&mut self.r#type, &other.r#type),
            (&mut self.username, &other.username),
            (&mut self.password, &other.password),
            (&mut self.bearer_token, &other.bearer_token),
            (&mut self.ssh_private_key, &other.ssh_private_key),
            (&mut self.tls_client_cert_data, &other.tls_client_cert_data),
            (&mut self.tls_client_cert_key, &other.tls_client_cert_key),
            (&mut self.github_app_private_key, &other.github_app_private_key),
            (&mut self.github_app_enterprise_base_url, &other.github_app_enterprise_base_url),
            (&mut self.gcp_service_account_key, &other.gcp_service_account_key),
            (&mut self.azure_service_principal_client_id, &other.azure_service_principal_client_id),
            (&mut self.azure_service_principal_client_secret, &other.azure_service_principal_client_secret),
            (&mut self.azure_service_principal_tenant_id, &other.azure_service_principal_tenant_id),
            (&mut self.azure_active_directory_endpoint, &other.azure_active_directory_endpoint),
            (&mut self.proxy, &other.proxy),
            (&mut self.no_proxy, &other.no_proxy),
        ];
        for (own, other) in texts {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
        for (own, other) in [
            (&mut self.github_app_id, other.github_app_id),
            (&mut self.github_app_installation_id, other.github_app_installation_id),
        ] {
            if *own == 0 {
                *own = other;
            }
        }
        self.enable_oci = other.enable_oci;
        self.insecure_oci_force_http = other.insecure_oci_force_http;
        self.force_http_basic_auth = other.force_http_basic_auth;
        self.use_azure_workload_identity = other.use_azure_workload_identity;
    }
}

impl RepositoryCredentials {
    /// Reads a Secret of type `repo-creds`.
    ///
    /// # Errors
    /// A number or a boolean cannot be read.
    pub fn from_secret(secret: &Secret) -> Result<Self, strconv::Error> {
        const AZURE: AzureKeys =
            AzureKeys { client_id: "azureServicePrincipalClientID", tenant_id: "azureServicePrincipalTenantID" };
        Ok(Self { url: secret.text("url"), credentials: Credentials::read(secret, &AZURE)? })
    }
}

impl Repository {
    pub(super) fn from_secret(secret: &Secret) -> Result<Self, strconv::Error> {
        const AZURE: AzureKeys =
            AzureKeys { client_id: "azureServicePrincipalClientId", tenant_id: "azureServicePrincipalTenantId" };
        Ok(Self {
            url: secret.text("url"),
            name: secret.text("name"),
            project: secret.text("project"),
            insecure_ignore_host_key: secret.flag("insecureIgnoreHostKey")?,
            insecure: secret.flag("insecure")?,
            enable_lfs: secret.flag("enableLfs")?,
            credentials: Credentials::read(secret, &AZURE)?,
            inherited_credentials: false,
            depth: secret.number("depth")?,
            webhook_manifest_cache_warm_disabled: secret.flag("webhookManifestCacheWarmDisabled")?,
        })
    }

    /// A repository that no Secret describes.
    pub fn anonymous(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }

    /// Whether git accepts any server (REND-066); Helm and OCI look at `insecure` alone.
    pub fn is_insecure(&self) -> bool {
        self.insecure || self.insecure_ignore_host_key || self.credentials.insecure_oci_force_http
    }

    /// Whether the repository has credentials of its own.
    pub fn has_credentials(&self) -> bool {
        self.credentials.any()
    }

    pub(super) fn inherit(&mut self, other: &RepositoryCredentials) {
        self.credentials.fill_from(&other.credentials);
        self.inherited_credentials = true;
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("type", &self.r#type).field("any", &self.any()).finish_non_exhaustive()
    }
}

impl fmt::Debug for RepositoryCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL may hold a user and password.
        f.debug_struct("RepositoryCredentials").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("name", &self.name)
            .field("project", &self.project)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
