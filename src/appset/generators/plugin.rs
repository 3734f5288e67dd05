//! The plugin generator: an HTTP service that answers with parameters.
//!
//! In:  a ConfigMap with URL, token reference and timeout, the service's reply.
//! Out: one set per object of the reply, with the generator's input beside.
//! Invariant: the token itself is never seen here.
//! Source: SET-048, SET-049 (`applicationset/generators/plugin.go`, `applicationset/services/plugin`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::params::{Params, flattened, with_floats};
use super::super::query::{Answer, PluginQuery, Query};
use super::{Context, Stop, add_values, is_setup, misfit};
use crate::api::appset::PluginGenerator;
use crate::gocompat::strconv;

/// Secret that a token without a Secret's name is in.
const ARGOCD_SECRET: &str = "argocd-secret";
/// Seconds until a call is given up when the ConfigMap says nothing.
const TIMEOUT: u64 = 30;

/// The sets of parameters.
pub fn params(plugin: &PluginGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    const SETUP: &str = "error getting plugin from generator: ";
    let settings = match context.ask(Query::ConfigMap { name: plugin.config_map_ref.name.clone() })? {
        Ok(Answer::ConfigMap(data)) => data,
        Ok(_) => return Err(misfit()),
        Err(error) => return Err(Stop::Error(format!("{SETUP}error fetching ConfigMap: {error}"))),
    };
    let query = query(plugin, settings, context).map_err(|error| format!("{SETUP}{error}"))?;
    let objects = match context.ask(Query::Plugin(Box::new(query)))? {
        Ok(Answer::Parameters(objects)) => objects,
        Ok(_) => return Err(misfit()),
        Err(error) if is_setup(error) => return Err(Stop::Error(format!("{SETUP}{error}"))),
        Err(error) => return Err(Stop::Error(format!("error listing params: {error}"))),
    };
    objects
        .iter()
        .map(|object| {
            let floats = object.iter().map(|(key, value)| (key.clone(), with_floats(value.clone()))).collect();
            let mut params = if context.engine.go { floats } else { flattened(&floats) };
            params.insert("generator".to_owned(), json!({"input": {"parameters": plugin.input.parameters}}));
            add_values(&mut params, &plugin.values, &context.engine)
                .map_err(|error| format!("error generating params: {error}"))?;
            Ok(params)
        })
        .collect()
}

fn query(
    plugin: &PluginGenerator,
    settings: &BTreeMap<String, String>,
    context: &Context,
) -> Result<PluginQuery, String> {
    let entry = |key: &str| {
        let found = settings.get(key).filter(|text| !text.is_empty());
        found.ok_or_else(|| format!("error fetching ConfigMap: {key} not found in ConfigMap"))
    };
    let (base_url, token) = (entry("baseUrl")?, entry("token")?);
    let Some(reference) = token.strip_prefix('$') else {
        // What stands there is most likely the token itself, so it is not repeated.
        let problem = "token is empty, or does not reference a secret key starting with '$'";
        return Err(format!("error fetching Secret token: {problem}"));
    };
    let (secret, token) = match reference.split_once(':') {
        Some((secret, key)) if !key.contains(':') => (secret.to_owned(), format!("${key}")),
        _ => (ARGOCD_SECRET.to_owned(), token.clone()),
    };
    let timeout = match settings.get("requestTimeout") {
        Some(text) => {
            strconv::parse_int(text, "Atoi").map_err(|error| format!("error set requestTimeout : {error}"))?
        }
        None => 0,
    };
    Ok(PluginQuery {
        set: context.set.metadata.name.clone(),
        base_url: base_url.clone(),
        secret,
        token,
        timeout: u64::try_from(timeout).ok().filter(|seconds| *seconds > 0).unwrap_or(TIMEOUT),
        parameters: plugin.input.parameters.iter().map(|(key, value)| (key.clone(), Value::clone(value))).collect(),
    })
}
