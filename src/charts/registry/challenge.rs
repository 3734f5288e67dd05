//! What a registry wants before it answers.
//!
//! In:  a `WWW-Authenticate` header.
//! Out: the scheme, and for tokens the place that gives them.
//! Invariant: credentials never go to a place inside the network that the registry merely names.
//! Source: oras-go `registry/remote/auth/challenge.go`, `client.go` `validateRealm`.

use std::net::IpAddr;

use crate::http::Address;

/// What a registry wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    /// User and password with each request.
    Basic,
    /// A token, which user and password buy elsewhere.
    Bearer {
        /// Where.
        realm: String,
        /// For which service.
        service: String,
        /// For what, words separated by blanks.
        scope: String,
    },
    /// Something that is not understood.
    Unknown,
}

impl Challenge {
    /// Reads the header.
    pub fn parse(header: &str) -> Self {
        let (scheme, rest) = header.split_once([' ', '\t']).unwrap_or((header, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Self::Basic;
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Self::Unknown;
        }
        let (mut realm, mut service, mut scope) = (String::new(), String::new(), String::new());
        for (key, value) in parameters(rest) {
            match key {
                "realm" => realm = value,
                "service" => service = value,
                "scope" => scope = value,
                _ => {}
            }
        }
        Self::Bearer { realm, service, scope }
    }
}

/// `key="value"` pairs; reading ends where they do.
fn parameters(text: &str) -> Vec<(&str, String)> {
    let (mut found, mut rest) = (Vec::new(), text);
    loop {
        let Some((key, after)) = rest.trim_start().split_once('=') else { return found };
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => {
                let Some(read) = unquote(quoted) else { return found };
                read
            }
            None => {
                let (value, after) = after.split_at(after.find([',', ' ', '\t']).unwrap_or(after.len()));
                (value.to_owned(), after)
            }
        };
        found.push((key.trim(), value));
        let Some(next) = after.trim_start().strip_prefix(',') else { return found };
        rest = next;
    }
}

/// The text up to the closing quote, and what follows it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let (mut out, mut is_escaped) = (String::new(), false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => {
                out.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => return Some((out, text.get(at + 1..).unwrap_or_default())),
            c => out.push(c),
        }
    }
    None
}

/// The place that gives tokens, unless it is one that credentials must not go to.
pub fn realm(text: &str, registry: &Address) -> Result<Address, String> {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    if !matches!(scheme, "http" | "https") {
        return Err(format!("bearer realm {text:?} uses unsupported scheme {scheme:?}"));
    }
    if scheme == "http" && registry.is_tls() {
        return Err(format!("bearer realm {text:?} uses http but registry was contacted over https"));
    }
    let realm = Address::parse(text).ok_or_else(|| format!("failed to parse bearer realm {text:?}"))?;
    let is_inside = realm.host.parse::<IpAddr>().is_ok_and(is_private);
    if is_inside && realm.host != registry.host {
        return Err(format!(
            "bearer realm host {:?} is a loopback, link-local, private, or unspecified address",
            realm.host
        ));
    }
    Ok(realm)
}

fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_loopback()
                || ip.is_link_local()
                || ip.is_private()
                || ip.is_unspecified()
                || ip.octets().starts_with(&[224, 0, 0])
        }
        IpAddr::V6(ip) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_unicast_link_local()
                || ip.is_unique_local()
                || matches!(ip.segments(), [first, ..] if first & 0xff0f == 0xff02)
                || ip.to_ipv4_mapped().is_some_and(|ip| is_private(IpAddr::V4(ip)))
        }
    }
}
