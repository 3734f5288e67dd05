//! HTTP addresses, taken apart far enough to connect, to compare origins and to follow references.
//!
//! In:  text of repositories, indexes, redirects and registries.
//! Out: the parts; texts for requests and for errors.
//! Invariant: a password in an address never shows.
//! Source: RFC 3986 section 5, Go `net/url`.

use std::fmt::Write as _;

use crate::gocompat::url::decode;

/// An absolute `http` or `https` address.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// `http` or `https`.
    pub scheme: String,
    /// User and password that the address carries.
    pub user: Option<(String, String)>,
    /// Host in lower case, without the brackets of an IPv6 address.
    pub host: String,
    /// Port as written.
    pub port: Option<u16>,
    /// Path, at least `/`.
    pub path: String,
    /// Query without its question mark.
    pub query: Option<String>,
}

impl Address {
    /// Takes an absolute address apart; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return None;
        }
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                (Some((decode(name), decode(password))), host)
            }
            None => (None, authority),
        };
        let (host, port) = host_and_port(host)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query.to_owned())));
        let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        Some(Self { scheme, user, host, port, path, query })
    }

    /// The address that a reference found at this one points to.
    pub fn join(&self, reference: &str) -> Option<Self> {
        let reference = reference.split('#').next().unwrap_or_default();
        if reference.contains("://") {
            return Self::parse(reference);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{}://{rest}", self.scheme));
        }
        let (path, query) =
            reference.split_once('?').map_or((reference, None), |(path, query)| (path, Some(query.to_owned())));
        let mut joined = Self { query, ..self.clone() };
        if path.is_empty() {
            joined.query = joined.query.or_else(|| self.query.clone());
        } else if path.starts_with('/') {
            joined.path = without_dots(path);
        } else {
            let folder = self.path.rfind('/').and_then(|at| self.path.get(..=at)).unwrap_or("/");
            joined.path = without_dots(&format!("{folder}{path}"));
        }
        Some(joined)
    }

    /// A file directly below this address, which stands for a folder.
    pub fn below(&self, name: &str) -> Self {
        let path = format!("{}/{name}", self.path.trim_end_matches('/'));
        Self { path: without_dots(&path), ..self.clone() }
    }

    /// Port to connect to.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.is_tls() { 443 } else { 80 })
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.scheme == "https"
    }

    /// Host and port as written, for the `Host` header.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        self.port.map_or(host.clone(), |port| format!("{host}:{port}"))
    }

    /// Whether two addresses have one scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port() == other.port()
    }

    /// Path and query, escaped where HTTP needs it.
    pub fn target(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        escape(&format!("{}{query}", self.path))
    }

    /// As errors show it.
    pub fn shown(&self) -> String {
        let user = match &self.user {
            Some((name, password)) if password.is_empty() => format!("{name}@"),
            Some((name, _)) => format!("{name}:***@"),
            None => String::new(),
        };
        format!("{}://{user}{}{}", self.scheme, self.authority(), self.target())
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) => Some(port.parse().ok()?),
        None => None,
    };
    let is_valid = !host.is_empty() && host.chars().all(|c| !c.is_whitespace() && !c.is_control());
    is_valid.then(|| (host.to_ascii_lowercase(), port))
}

/// Takes `.` and `..` out of a path.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let is_folder = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let end = if is_folder && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}", parts.join("/"))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
