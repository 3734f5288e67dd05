//! Opens a connection: straight or through a proxy, encrypted or not.
//!
//! In:  an address and the proxy it goes through.
//! Out: a stream on which HTTP/1.1 can be spoken.
//! Invariant: every wait has an end.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::address::Address;
use super::fault::Fault;

/// How long one connection attempt may take.
const CONNECT: Duration = Duration::from_secs(10);

/// The head of a proxy's answer fits into this many bytes.
const MAX_PROXY_HEAD: usize = 16 << 10;

/// Anything that HTTP can be spoken on.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection, and whether requests on it name the whole address because a proxy reads them.
pub struct Connection {
    pub stream: Box<dyn Stream>,
    pub is_to_proxy: bool,
}

/// Opens a connection for requests to an address.
pub async fn open(
    address: &Address,
    proxy: Option<&Address>,
    tls: &Option<Arc<ClientConfig>>,
) -> Result<Connection, Fault> {
    let Some(proxy) = proxy else {
        let stream = dial(&address.host, address.port()).await?;
        return Ok(Connection { stream: encrypted(stream, address, tls).await?, is_to_proxy: false });
    };
    let as_proxy = |fault: Fault| Fault::Proxy(fault.to_string());
    let stream = dial(&proxy.host, proxy.port()).await.map_err(as_proxy)?;
    let stream = encrypted(stream, proxy, tls).await.map_err(as_proxy)?;
    if !address.is_tls() {
        return Ok(Connection { stream, is_to_proxy: true });
    }
    let stream = tunnel(stream, address, proxy).await?;
    Ok(Connection { stream: encrypted(stream, address, tls).await?, is_to_proxy: false })
}

async fn dial(host: &str, port: u16) -> Result<Box<dyn Stream>, Fault> {
    let found = tokio::net::lookup_host((host, port)).await.map_err(|_| Fault::no_host(host))?;
    let mut first = None;
    for address in found {
        match tokio::time::timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(Box::new(stream)),
            Ok(Err(error)) => first = first.or(Some(Fault::connect(&address.to_string(), &error))),
            Err(_) => {
                let late = std::io::ErrorKind::TimedOut.into();
                first = first.or(Some(Fault::connect(&address.to_string(), &late)));
            }
        }
    }
    Err(first.unwrap_or_else(|| Fault::no_host(host)))
}

/// The stream as it is for `http`, inside TLS for `https`.
async fn encrypted(
    stream: Box<dyn Stream>,
    address: &Address,
    tls: &Option<Arc<ClientConfig>>,
) -> Result<Box<dyn Stream>, Fault> {
    let Some(config) = tls.as_ref().filter(|_| address.is_tls()) else { return Ok(stream) };
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| Fault::Address(format!("invalid host {:?}", address.host)))?;
    let handshake = TlsConnector::from(config.clone()).connect(name, stream);
    match tokio::time::timeout(CONNECT, handshake).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error)) => Err(Fault::tls(&error)),
        Err(_) => Err(Fault::Tls("net/http: TLS handshake timeout".to_owned())),
    }
}

/// Asks the proxy for a tunnel to the address.
async fn tunnel(mut stream: Box<dyn Stream>, address: &Address, proxy: &Address) -> Result<Box<dyn Stream>, Fault> {
    let target = if address.host.contains(':') {
        format!("[{}]:{}", address.host, address.port())
    } else {
        format!("{}:{}", address.host, address.port())
    };
    let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
    if let Some((name, value)) = authorization(proxy) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let ask = async {
        stream.write_all(head.as_bytes()).await?;
        let mut answer = Vec::new();
        // One byte at a time: what follows the head belongs to the tunnel.
        while !answer.ends_with(b"\r\n\r\n") && answer.len() < MAX_PROXY_HEAD {
            answer.push(stream.read_u8().await?);
        }
        Ok::<_, std::io::Error>(answer)
    };
    let answer = match tokio::time::timeout(CONNECT, ask).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(Fault::Proxy(error.to_string())),
        Err(_) => return Err(Fault::Proxy("i/o timeout".to_owned())),
    };
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.lines().next().unwrap_or_default().split_once(' ').map_or("", |(_, status)| status).trim();
    // Go shows the reason alone, such as `Proxy Authentication Required`.
    match status.split_once(' ') {
        Some(("200", _)) => Ok(stream),
        _ if status == "200" => Ok(stream),
        Some((_, reason)) => Err(Fault::Exchange(reason.to_owned())),
        None => Err(Fault::Exchange(format!("malformed answer of the proxy: {status}"))),
    }
}

/// The header that authenticates to a proxy.
pub fn authorization(proxy: &Address) -> Option<(&'static str, String)> {
    let (user, password) = proxy.user.as_ref()?;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    Some(("Proxy-Authorization", format!("Basic {pair}")))
}
