//! URLs under which a live object can be reached.
//!
//! In:  a live object.
//! Out: its link annotations, and the URLs that follow from an Ingress or a Gateway.
//! Invariant: only http and https URLs come out; a link keeps its `title|` part.
//! Source: APP-248 to APP-250 (`controller/cache/info.go`).

use serde_json::Value;

use crate::api::{ObjectExt, names};

/// URLs of a live object, in no particular order.
pub fn urls(object: &Value) -> Vec<String> {
    let mut found = link_annotations(object);
    if !ignores_default_links(object) {
        found.extend(match (object.group(), object.kind()) {
            ("extensions" | "networking.k8s.io", "Ingress") => ingress_urls(object),
            ("gateway.networking.k8s.io", "Gateway") => gateway_urls(object),
            _ => Vec::new(),
        });
    }
    found
}

fn link_annotations(object: &Value) -> Vec<String> {
    let annotations = object.metadata().and_then(|meta| meta.get("annotations")).and_then(Value::as_object);
    annotations
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.starts_with(names::LINK_PREFIX))
        .filter_map(|(_, link)| link.as_str())
        .filter(|link| is_web_url(link.split_once('|').map_or(*link, |(_, url)| url)))
        .map(str::to_owned)
        .collect()
}

/// Whether the annotation holds one of Go's words for true.
fn ignores_default_links(object: &Value) -> bool {
    matches!(object.annotation(names::IGNORE_DEFAULT_LINKS), Some("1" | "t" | "T" | "TRUE" | "true" | "True"))
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// One URL per rule and path (APP-249).
fn ingress_urls(object: &Value) -> Vec<String> {
    let balancer = list(object, "/status/loadBalancer/ingress")
        .iter()
        .map(|address| match address.get("hostname") {
            None | Some(Value::Null) => text(address, "ip"),
            Some(_) => text(address, "hostname"),
        })
        .find(|address| !address.is_empty())
        .unwrap_or_default();
    let mut urls = Vec::new();
    for rule in list(object, "/spec/rules") {
        let host = match text(rule, "host") {
            "" => balancer,
            host => host,
        };
        if host.is_empty() {
            continue;
        }
        let scheme = if is_secured(object, host) { "https" } else { "http" };
        urls.extend(list(rule, "/http/paths").iter().map(|path| {
            let path = text(path, "path");
            format!("{scheme}://{host}{}", path.strip_suffix('*').unwrap_or(path))
        }));
    }
    urls
}

/// Whether any TLS entry names a secret, or names this host in the singular `host` that Argo CD looks at.
fn is_secured(object: &Value, host: &str) -> bool {
    list(object, "/spec/tls")
        .iter()
        .any(|tls| tls.get("secretName").is_some_and(|name| !name.is_null()) || text(tls, "host") == host)
}

/// One URL per listener and host (APP-250).
fn gateway_urls(object: &Value) -> Vec<String> {
    let addresses: Vec<&str> = list(object, "/status/addresses")
        .iter()
        .filter(|address| matches!(text(address, "type"), "" | "Hostname" | "IPAddress"))
        .map(|address| text(address, "value"))
        .filter(|address| !address.is_empty())
        .collect();
    let mut urls = Vec::new();
    for listener in list(object, "/spec/listeners") {
        let (scheme, default_port) = match text(listener, "protocol") {
            "HTTPS" | "TLS" => ("https", 443),
            _ => ("http", 80),
        };
        let port = match listener.get("port").and_then(Value::as_i64).unwrap_or_default() {
            port if port == default_port => String::new(),
            port => format!(":{port}"),
        };
        let hosts = match text(listener, "hostname") {
            "" | "*" => addresses.clone(),
            hostname => vec![hostname],
        };
        urls.extend(hosts.iter().map(|host| format!("{scheme}://{host}{port}")).filter(|url| is_web_url(url)));
    }
    urls
}

/// Whether Go would parse the text as an http or https URL; an empty text passes, as it does in Argo CD.
fn is_web_url(url: &str) -> bool {
    if url.is_empty() {
        return true;
    }
    let Some((scheme, rest)) = url.split_once(':') else {
        return false;
    };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let has_control = url.bytes().any(|byte| byte < b' ' || byte == 0x7f);
    let rest = rest.split('#').next().unwrap_or_default();
    let (before_query, _) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match before_query.strip_prefix("//") {
        Some(after) => after.find('/').map_or((after, ""), |slash| after.split_at(slash)),
        None => ("", before_query),
    };
    is_web && !has_control && is_host(authority) && has_whole_escapes(path)
}

/// Whether an authority, user part included, has a host and port that Go accepts.
fn is_host(authority: &str) -> bool {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let after_bracket = host.rsplit_once(']').map_or(host, |(_, port)| port);
    let port = after_bracket.rsplit_once(':').map_or("", |(_, port)| port);
    let has_bad_letter = host.chars().any(|letter| matches!(letter, ' ' | '\\' | '^' | '`' | '{' | '|' | '}'));
    !has_bad_letter && port.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether every `%` starts a two-digit escape.
fn has_whole_escapes(path: &str) -> bool {
    path.split('%').skip(1).all(|part| {
        let mut digits = part.bytes().take(2);
        digits.len() == 2 && digits.all(|digit| digit.is_ascii_hexdigit())
    })
}
