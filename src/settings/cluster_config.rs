//! How to reach a cluster: the `config` key of a cluster Secret.
//!
//! In:  JSON.
//! Out: credentials and connection options.
//! Invariant: `Debug` prints no credential.
//! Source: APP-224, APP-225 (`pkg/apis/application/v1alpha1/types.go` `ClusterConfig`).

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::api::wire::null_is_zero;

/// How to reach a cluster. AWS comes before exec, and exec before the rest.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterConfig {
    /// User of basic authentication.
    #[serde(deserialize_with = "null_is_zero")]
    pub username: String,
    /// Password of basic authentication.
    #[serde(deserialize_with = "null_is_zero")]
    pub password: String,
    /// Bearer token.
    #[serde(deserialize_with = "null_is_zero")]
    pub bearer_token: String,
    /// TLS options.
    #[serde(deserialize_with = "null_is_zero")]
    pub tls_client_config: TlsClientConfig,
    /// Token from AWS.
    pub aws_auth_config: Option<AwsAuthConfig>,
    /// Credentials from a command.
    pub exec_provider_config: Option<ExecProviderConfig>,
    /// Asks the server for plain answers.
    #[serde(deserialize_with = "null_is_zero")]
    pub disable_compression: bool,
    /// Proxy for all requests.
    #[serde(deserialize_with = "null_is_zero")]
    pub proxy_url: String,
}

/// TLS options; certificates are PEM.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TlsClientConfig {
    /// Accepts any server certificate.
    #[serde(deserialize_with = "null_is_zero")]
    pub insecure: bool,
    /// Name that the server's certificate must have.
    #[serde(deserialize_with = "null_is_zero")]
    pub server_name: String,
    /// Client certificate.
    #[serde(deserialize_with = "bytes")]
    pub cert_data: Vec<u8>,
    /// Key of the client certificate.
    #[serde(deserialize_with = "bytes")]
    pub key_data: Vec<u8>,
    /// Authorities that may sign the server's certificate.
    #[serde(deserialize_with = "bytes")]
    pub ca_data: Vec<u8>,
}

/// Token from AWS.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AwsAuthConfig {
    /// Cluster name.
    #[serde(deserialize_with = "null_is_zero")]
    pub cluster_name: String,
    /// Role to assume; none when empty.
    #[serde(rename = "roleARN", deserialize_with = "null_is_zero")]
    pub role_arn: String,
    /// Profile to use; the default one when empty.
    #[serde(deserialize_with = "null_is_zero")]
    pub profile: String,
}

/// Credentials from a command.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecProviderConfig {
    /// Command.
    #[serde(deserialize_with = "null_is_zero")]
    pub command: String,
    /// Its arguments.
    #[serde(deserialize_with = "null_is_zero")]
    pub args: Vec<String>,
    /// Its environment.
    #[serde(deserialize_with = "null_is_zero")]
    pub env: BTreeMap<String, String>,
    /// Version of the exchange.
    #[serde(deserialize_with = "null_is_zero")]
    pub api_version: String,
    /// Text for when the command is missing.
    #[serde(deserialize_with = "null_is_zero")]
    pub install_hint: String,
    /// Whether the command is told about the cluster.
    #[serde(deserialize_with = "null_is_zero")]
    pub provide_cluster_info: bool,
    /// What else the command is told.
    pub config: Option<Value>,
}

/// Bytes in base64, as Go writes `[]byte`.
fn bytes<'de, D: Deserializer<'de>>(de: D) -> Result<Vec<u8>, D::Error> {
    let text: String = null_is_zero(de)?;
    let packed: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    // The decoder's own error would quote a byte of the key.
    base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| de::Error::custom("illegal base64 data"))
}

impl fmt::Debug for ClusterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterConfig")
            .field("basic", &!self.username.is_empty())
            .field("token", &!self.bearer_token.is_empty())
            .field("tls", &self.tls_client_config)
            .field("aws", &self.aws_auth_config)
            .field("exec", &self.exec_provider_config)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TlsClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsClientConfig")
            .field("insecure", &self.insecure)
            .field("server_name", &self.server_name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ExecProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and environment may hold credentials.
        f.debug_struct("ExecProviderConfig").field("command", &self.command).finish_non_exhaustive()
    }
}
