//! Clusters other than the one that holds the Applications.
//!
//! In:  cluster Secrets.
//! Out: a client and a live store per server, made when an application first needs them and made anew when the
//! Secret's credentials change.
//! Invariant: an unreachable cluster holds up only the applications that go there.
//! Source: APP-224 to APP-227 (`pkg/apis/application/v1alpha1/types.go` `RawRestConfig`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;

use super::destination::Destination;
use crate::cluster::Cluster;
use crate::settings;
use crate::watch::{Live, Orphans};

/// How long a connection attempt may take; an application of a dead cluster is told after that.
const CONNECT: Duration = Duration::from_secs(10);

/// Known clusters by server.
#[derive(Default)]
pub struct Remotes(RefCell<HashMap<String, Destination>>);

impl Remotes {
    /// The cluster of a Secret; `own` is the connection to the cluster of the control plane where that is meant.
    pub fn get(
        &self,
        wanted: &settings::Cluster,
        own: Option<&Cluster>,
        stores: impl FnOnce(kube::Client) -> (Live, Orphans),
    ) -> Result<Destination, String> {
        let mut known = self.0.borrow_mut();
        if let Some(found) = known.get(&wanted.server)
            && found.settings == *wanted
        {
            return Ok(found.clone());
        }
        if let Some(old) = known.remove(&wanted.server) {
            old.live.close();
            old.orphans.stop();
        }
        let cluster = own.map_or_else(|| connect(wanted), |own| Ok(own.clone()))?;
        let (live, orphans) = stores(cluster.client());
        let made = Destination {
            server: wanted.server.clone(),
            settings: wanted.clone(),
            live,
            orphans,
            cluster,
            swept: std::rc::Rc::default(),
        };
        known.insert(wanted.server.clone(), made.clone());
        Ok(made)
    }

    /// All clusters in use.
    pub fn all(&self) -> Vec<Destination> {
        self.0.borrow().values().cloned().collect()
    }

    /// Their live stores.
    pub fn lives(&self) -> Vec<Live> {
        self.0.borrow().values().map(|remote| remote.live.clone()).collect()
    }
}

fn connect(wanted: &settings::Cluster) -> Result<Cluster, String> {
    let config = kube_config(wanted).map_err(|text| format!("error getting cluster REST config: {text}"))?;
    Cluster::connect(config, wanted.server.clone())
        .map_err(|error| format!("unable to create K8s REST config: {error}"))
}

fn kube_config(wanted: &settings::Cluster) -> Result<kube::Config, String> {
    let url: http::Uri = wanted.server.parse().map_err(|error| format!("{:?}: {error}", wanted.server))?;
    let from = &wanted.config;
    if from.aws_auth_config.is_some() {
        return Err("AWS authentication is not supported by this build".to_owned());
    }
    // The client would start the program itself and stand still until it ends.
    if from.exec_provider_config.is_some() {
        return Err("execProviderConfig is not supported by this build".to_owned());
    }
    let mut config = kube::Config::new(url);
    config.connect_timeout = Some(CONNECT);
    let mut auth = json!({});
    if !from.bearer_token.is_empty() {
        auth["token"] = from.bearer_token.clone().into();
    } else if !from.username.is_empty() {
        auth["username"] = from.username.clone().into();
        auth["password"] = from.password.clone().into();
    }
    let tls = &from.tls_client_config;
    let encode = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    if !tls.cert_data.is_empty() {
        auth["client-certificate-data"] = encode(&tls.cert_data).into();
        auth["client-key-data"] = encode(&tls.key_data).into();
    }
    config.auth_info = serde_json::from_value(auth).map_err(|_| "the credentials cannot be read".to_owned())?;
    config.accept_invalid_certs = tls.insecure;
    config.tls_server_name = Some(tls.server_name.clone()).filter(|name| !name.is_empty());
    if !tls.ca_data.is_empty() {
        config.root_cert = Some(certificates(&tls.ca_data)?);
    }
    Ok(config)
}

/// PEM certificates as DER.
fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let text = String::from_utf8_lossy(pem);
    let body = |block: &str| block.split("-----END CERTIFICATE-----").next().unwrap_or_default().to_owned();
    text.split("-----BEGIN CERTIFICATE-----")
        .skip(1)
        .map(|block| {
            let packed: String = body(block).split_whitespace().collect();
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, packed)
                .map_err(|_| "the certificate authority cannot be read".to_owned())
        })
        .collect()
}
