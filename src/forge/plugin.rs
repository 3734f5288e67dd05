//! Plugins: an HTTP service that makes parameters.
//!
//! In:  where it is, its token, the set's name and the parameters of the generator.
//! Out: parameters.
//! Source: SET-055 (`applicationset/services/plugin`, `applicationset/services/internal/http`).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Error;
use super::session::{Reply, Session, not_json};
use crate::http::Trust;

/// How long a plugin may take when the generator does not say.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is asked of a plugin.
#[derive(Clone, Copy)]
pub struct Plugin<'a> {
    /// Name of the set.
    pub set: &'a str,
    /// URL of the service.
    pub base_url: &'a str,
    /// Bearer token; empty for none.
    pub token: &'a str,
    /// Time that the call may take; none for the usual one.
    pub timeout: Option<Duration>,
    /// `input.parameters`.
    pub parameters: &'a BTreeMap<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response {
    output: Output,
}

#[derive(Deserialize, Default)]
struct Output {
    #[serde(default)]
    parameters: Option<Vec<Map<String, Value>>>,
}

/// Asks a plugin for parameters.
///
/// # Errors
/// The plugin refuses, or cannot be reached.
pub async fn plugin(wanted: &Plugin<'_>) -> Result<Vec<Map<String, Value>>, Error> {
    let work = ask(wanted).await;
    let failed = |text| Error::Asked(format!("error get api '{}': {text}", wanted.set)).without(wanted.token);
    work.map_err(failed)
}

async fn ask(wanted: &Plugin<'_>) -> Result<Vec<Map<String, Value>>, String> {
    let slash = if wanted.base_url.ends_with('/') { "" } else { "/" };
    let url = format!("{}{slash}api/v1/getparams.execute", wanted.base_url);
    let session = Session::new(&url, Trust::default(), wanted.timeout.unwrap_or(PATIENCE))?;
    let session = match wanted.token {
        "" => session,
        token => session.with("authorization", format!("Bearer {token}")),
    };
    let reply = session.post(&url, &[("content-type", "application/json")], &body(wanted)).await?;
    if !reply.status.is_success() {
        return Err(refusal(&reply));
    }
    if reply.body.is_empty() {
        return Ok(Vec::new());
    }
    let response: Response = serde_json::from_slice(&reply.body)
        .map_err(|error| format!("{}: {}", not_json(&reply.body, &error), reply.text()))?;
    Ok(response.output.parameters.unwrap_or_default())
}

/// The request as Go writes it: parameters come from the API server with these letters escaped, and stay so.
fn body(wanted: &Plugin<'_>) -> String {
    let input = if wanted.parameters.is_empty() { json!({}) } else { json!({"parameters": wanted.parameters}) };
    let text = json!({"applicationSetName": wanted.set, "input": input}).to_string();
    let escaped = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    format!("{escaped}\n")
}

fn refusal(reply: &Reply) -> String {
    let start = format!("API error with status code {}", reply.status.as_u16());
    match reply.json::<Map<String, Value>>() {
        Err(_) => format!("{start}: {}", reply.text()),
        Ok(map) => {
            let word = |name: &str| map.get(name).and_then(Value::as_str);
            format!("{start}: {}", word("message").or_else(|| word("error")).unwrap_or_default())
        }
    }
}
