//! A plain HTTP client for what listens on the loopback interface: webhooks, readiness, Argo CD's own API.
//!
//! In:  an `http://` address.  Out: the answer's code and text.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP code.
    pub code: u16,
    /// The body.
    pub text: String,
}

/// Reads an address.
pub async fn get(address: &str) -> Result<Answer> {
    send(Method::GET, address, &[], Vec::new()).await
}

/// Sends a body to an address.
pub async fn post(address: &str, headers: &[(String, String)], body: Vec<u8>) -> Result<Answer> {
    send(Method::POST, address, headers, body).await
}

async fn send(method: Method, address: &str, headers: &[(String, String)], body: Vec<u8>) -> Result<Answer> {
    let exchange = exchange(method, address, headers, body);
    timeout(Duration::from_secs(30), exchange).await.with_context(|| format!("{address} did not answer"))?
}

async fn exchange(method: Method, address: &str, headers: &[(String, String)], body: Vec<u8>) -> Result<Answer> {
    let uri: Uri = address.parse()?;
    let authority = uri.authority().context("an address without a host")?;
    let port = authority.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((authority.host(), port)).await.with_context(|| address.to_owned())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The connection ends with the sender.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(method).uri(path).header("host", authority.as_str());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = sender.send_request(request.body(Full::new(Bytes::from(body)))?).await?;
    let code = answer.status().as_u16();
    let text = String::from_utf8_lossy(&answer.into_body().collect().await?.to_bytes()).into_owned();
    Ok(Answer { code, text })
}
