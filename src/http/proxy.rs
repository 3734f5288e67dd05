//! Which requests go through a proxy.
//!
//! In:  `proxy` and `noProxy` of a repository, else the usual environment of the process.
//! Out: the proxy for an address, if any.
//! Source: REND-062 (`util/proxy/proxy.go`, `golang.org/x/net/http/httpproxy`).

use std::net::IpAddr;

use super::address::Address;
use super::fault::Fault;

/// The proxy for an address.
pub fn of(address: &Address, proxy: &str, exceptions: &str) -> Result<Option<Address>, Fault> {
    let from_environment = |names: [&str; 2]| {
        names.iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty())).unwrap_or_default()
    };
    let (proxy, exceptions) = if proxy.is_empty() {
        let names = if address.is_tls() { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
        (from_environment(names), from_environment(["NO_PROXY", "no_proxy"]))
    } else {
        (proxy.to_owned(), exceptions.to_owned())
    };
    if proxy.is_empty() || is_exempt(address, &exceptions) {
        return Ok(None);
    }
    let with_scheme = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
    match Address::parse(&with_scheme) {
        Some(proxy) => Ok(Some(proxy)),
        // The text is not shown: it may hold a password.
        None => Err(Fault::Proxy("the proxy is neither an http nor an https address".to_owned())),
    }
}

/// Whether an address is reached without the proxy.
fn is_exempt(address: &Address, exceptions: &str) -> bool {
    let ip: Option<IpAddr> = address.host.parse().ok();
    if address.host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return true;
    }
    let mut entries = exceptions.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.any(|entry| {
        let entry = entry.to_ascii_lowercase();
        if entry == "*" {
            return true;
        }
        if let (Some((network, bits)), Some(ip)) = (entry.split_once('/'), ip) {
            return is_in_network(ip, network, bits);
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() && !name.contains(':') => (name, port.parse().ok()),
            _ => (entry.as_str(), None),
        };
        if port.is_some_and(|port: u16| port != address.port()) {
            return false;
        }
        let domain = name.trim_start_matches("*.").trim_start_matches('.');
        let is_below = address.host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        // With a dot in front, only what lies below the domain is meant.
        is_below || (!name.starts_with('.') && !name.starts_with('*') && address.host == domain)
    })
}

fn is_in_network(ip: IpAddr, network: &str, bits: &str) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let is_equal_above = |left: u128, right: u128, width: u32| {
        bits == 0 || (bits <= width && (left >> (width - bits)) == (right >> (width - bits)))
    };
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => is_equal_above(ip.to_bits().into(), network.to_bits().into(), 32),
        (IpAddr::V6(ip), IpAddr::V6(network)) => is_equal_above(ip.to_bits(), network.to_bits(), 128),
        _ => false,
    }
}
