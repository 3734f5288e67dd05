//! The signed statement with which a GitHub App says who it is.
//!
//! In:  the app's number and private key, and the time.
//! Out: a JSON Web Token, good for two minutes.
//! Source: REND-063 (`ghinstallation` `appsTransport.go`).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

use super::super::login::App;

/// Clocks differ: the statement counts from a little earlier.
const BACKDATED: i64 = 30;
const GOOD_FOR: i64 = 120;

/// The statement of an app.
///
/// # Errors
/// The key cannot be used; the text does not hold it.
pub fn sign(app: &App, now: Timestamp) -> Result<String, String> {
    let key = key(&app.private_key).ok_or_else(|| {
        "could not parse private key: invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key".to_owned()
    })?;
    let issued = now.as_second() - BACKDATED;
    let claims = json!({"iat": issued, "exp": issued + GOOD_FOR, "iss": app.id.to_string()});
    let encode = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encode(json!({"alg": "RS256", "typ": "JWT"})), encode(claims));
    let mut signature = vec![0; key.public().modulus_len()];
    let signed = key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature);
    signed.map_err(|_| "could not sign jwt: the key was refused".to_owned())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The key in a PEM text.
fn key(pem: &str) -> Option<RsaKeyPair> {
    let (_, rest) = pem.split_once("-----BEGIN ")?;
    let (kind, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    let packed: String = body.split_whitespace().collect();
    let der = STANDARD.decode(packed).ok()?;
    match kind {
        "RSA PRIVATE KEY" => RsaKeyPair::from_der(&der).ok(),
        "PRIVATE KEY" => RsaKeyPair::from_pkcs8(&der).ok(),
        _ => None,
    }
}
