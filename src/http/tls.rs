//! Whom a connection trusts, and which certificate it shows.
//!
//! In:  certificates as PEM text.
//! Out: a configuration of the TLS library that the rest of litecd uses too.
//! Invariant: a bundle replaces the system's roots; only `insecure` turns verification off.
//! Source: REND-065, REND-066 (`util/helm/client.go` `newTLSConfig`).

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// What a repository says about trust.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Trust {
    /// Bundle of authorities; empty for the system's.
    pub authorities: String,
    /// Certificate that the client shows; empty for none.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// Accepts any server.
    pub insecure: bool,
}

/// The configuration; the error never quotes a key.
pub fn config(trust: &Trust) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| error.to_string())?;
    let builder = if trust.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
    } else {
        builder.with_root_certificates(roots(&trust.authorities))
    };
    if trust.certificate.is_empty() || trust.key.is_empty() {
        return Ok(Arc::new(builder.with_no_client_auth()));
    }
    let pair = "error creating X509 key pair: tls:";
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(trust.certificate.as_bytes()).filter_map(Result::ok).collect();
    if chain.is_empty() {
        return Err(format!("{pair} failed to find any PEM data in certificate input"));
    }
    let key = PrivateKeyDer::from_pem_slice(trust.key.as_bytes())
        .map_err(|_| format!("{pair} failed to find any PEM data in key input"))?;
    let config = builder.with_client_auth_cert(chain, key);
    config.map(Arc::new).map_err(|_| format!("{pair} private key does not match public key"))
}

fn roots(bundle: &str) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(bundle.as_bytes()).filter_map(Result::ok));
    if store.is_empty() {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    store
}

/// For repositories with `insecure`: checks that the server has its key, not who it is.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
