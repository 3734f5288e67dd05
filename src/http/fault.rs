//! Why a request got no answer, in the words of Go's `net/http`.
//!
//! In:  failures of names, sockets, TLS and HTTP.
//! Out: texts without clock times and ephemeral ports, so that the same failure reads the same each time.
//! Source: REND-071 (Go `net`, `crypto/tls`, `net/http`).

use std::io;

/// Why a request got no answer. Try again later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The address cannot be used.
    #[error("{0}")]
    Address(String),
    /// No connection.
    #[error("{0}")]
    Connect(String),
    /// The proxy refused.
    #[error("proxyconnect tcp: {0}")]
    Proxy(String),
    /// No trust between the two sides.
    #[error("{0}")]
    Tls(String),
    /// The exchange broke off.
    #[error("{0}")]
    Exchange(String),
    /// The exchange took longer than it may.
    #[error("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")]
    Timeout,
    /// Redirects without end.
    #[error("stopped after 10 redirects")]
    Redirects,
    /// The answer could not be written down.
    #[error("{0}")]
    Disk(String),
}

impl Fault {
    /// The fault in front of which Go writes what was asked for.
    pub fn shown(&self, method: &str, address: &str) -> String {
        let mut method = method.to_ascii_lowercase();
        if let Some(first) = method.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("{method} {address:?}: {self}")
    }

    pub(super) fn connect(to: &str, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
            io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
            io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
            _ => format!("connect: {error}"),
        };
        Self::Connect(format!("dial tcp {to}: {reason}"))
    }

    pub(super) fn no_host(host: &str) -> Self {
        Self::Connect(format!("dial tcp: lookup {host}: no such host"))
    }

    /// A failed handshake; the TLS library hides its own error in an I/O error.
    pub(super) fn tls(error: &io::Error) -> Self {
        use rustls::CertificateError as Bad;
        let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
            return Self::exchange_io(error);
        };
        let failed = "tls: failed to verify certificate: x509:";
        Self::Tls(match inner {
            rustls::Error::InvalidCertificate(bad) => match bad {
                Bad::UnknownIssuer => format!("{failed} certificate signed by unknown authority"),
                Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
                    format!("{failed} certificate has expired or is not yet valid")
                }
                Bad::NotValidForNameContext { expected, presented } => {
                    let names: Vec<&str> = presented.iter().map(|name| plain_name(name)).collect();
                    let expected = expected.to_str();
                    format!("{failed} certificate is valid for {}, not {expected}", names.join(", "))
                }
                Bad::NotValidForName => format!("{failed} certificate is not valid for this name"),
                other => format!("{failed} {other:?}"),
            },
            rustls::Error::AlertReceived(alert) => format!("remote error: tls: {}", alert_words(*alert)),
            rustls::Error::InvalidMessage(_) => "http: server gave HTTP response to HTTPS client".to_owned(),
            other => format!("tls: {other}"),
        })
    }

    pub(super) fn exchange(error: &hyper::Error) -> Self {
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            if let Some(io) = inner.downcast_ref::<io::Error>() {
                return Self::tls(io);
            }
            source = inner.source();
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return Self::Exchange("EOF".to_owned());
        }
        Self::Exchange(format!("net/http: HTTP/1.x transport connection broken: {error}"))
    }

    fn exchange_io(error: &io::Error) -> Self {
        Self::Exchange(match error.kind() {
            io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
            io::ErrorKind::BrokenPipe => "write: broken pipe".to_owned(),
            _ => error.to_string(),
        })
    }
}

/// The library prints `DnsName("a.example")`.
fn plain_name(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

fn alert_words(alert: rustls::AlertDescription) -> String {
    match alert {
        rustls::AlertDescription::CertificateRequired => "certificate required".to_owned(),
        rustls::AlertDescription::BadCertificate => "bad certificate".to_owned(),
        rustls::AlertDescription::UnknownCA => "unknown certificate authority".to_owned(),
        rustls::AlertDescription::HandshakeFailure => "handshake failure".to_owned(),
        other => format!("{other:?}"),
    }
}
