//! The answer to one request.
//!
//! In:  a connection and a request on its way.
//! Out: status and headers; the body into memory or into a file, never more of it than the caller allows.
//! Invariant: nobody but the reader of the answer drives its connection, so dropping the answer ends the connection.

use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::Pin;
use std::task::Poll;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::Request;
use super::address::Address;
use super::fault::Fault;

type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An answer whose body has not been read.
pub struct Answer {
    /// Status code.
    pub status: StatusCode,
    /// Where it came from, redirects followed.
    pub address: Address,
    /// What was asked with.
    pub method: Method,
    headers: HeaderMap,
    body: Incoming,
    driver: Option<Driver>,
    deadline: Instant,
}

/// A body that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Bytes written.
    pub bytes: u64,
    /// SHA-256 of them, hexadecimal.
    pub sha256: String,
    /// Whether there was more than was allowed.
    pub is_cut: bool,
}

impl Answer {
    /// Waits for the head of the answer.
    pub(super) async fn receive<C>(
        request: &Request,
        connection: C,
        response: impl Future<Output = Result<hyper::Response<Incoming>, hyper::Error>>,
    ) -> Result<Self, Fault>
    where
        C: Future<Output = Result<(), hyper::Error>> + Send + 'static,
    {
        let mut driver: Option<Driver> = Some(Box::pin(async move {
            // What goes wrong here shows in the answer or in its body.
            let _ = connection.await;
        }));
        let mut response = std::pin::pin!(response);
        let head = poll_fn(|context| {
            drive(&mut driver, context);
            response.as_mut().poll(context)
        });
        let (parts, body) = head.await.map_err(|error| Fault::exchange(&error))?.into_parts();
        Ok(Self {
            status: parts.status,
            address: request.address.clone(),
            method: request.method.clone(),
            headers: parts.headers,
            body,
            driver,
            deadline: Instant::now(),
        })
    }

    pub(super) fn until(mut self, deadline: Instant) -> Self {
        self.deadline = deadline;
        self
    }

    /// A header's text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// `404 Not Found`, as Go shows it.
    pub fn status_text(&self) -> String {
        let reason = self.status.canonical_reason().unwrap_or_default();
        format!("{} {reason}", self.status.as_u16())
    }

    /// The next piece of the body.
    async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        let (driver, body) = (&mut self.driver, &mut self.body);
        let frame = poll_fn(|context| {
            loop {
                drive(driver, context);
                match Pin::new(&mut *body).poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                        Ok(data) => return Poll::Ready(Ok(Some(data))),
                        // Trailers say nothing here.
                        Err(_) => continue,
                    },
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(Fault::exchange(&error))),
                    Poll::Ready(None) => return Poll::Ready(Ok(None)),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        tokio::time::timeout_at(self.deadline, frame).await.map_err(|_| Fault::Timeout)?
    }

    /// The body, cut where it is longer than `limit` bytes.
    ///
    /// # Errors
    /// The body breaks off.
    pub async fn bytes(mut self, limit: usize) -> Result<Vec<u8>, Fault> {
        let mut all = Vec::new();
        while let Some(data) = self.next().await? {
            let room = limit.saturating_sub(all.len());
            all.extend_from_slice(data.get(..room).unwrap_or(&data));
            if data.len() >= room {
                break;
            }
        }
        Ok(all)
    }

    /// The body into a new file that only litecd reads, cut where it is longer than `limit` bytes.
    ///
    /// # Errors
    /// The body breaks off, or the file cannot be written.
    pub async fn save(mut self, path: &Path, limit: u64) -> Result<Saved, Fault> {
        let disk = |error: std::io::Error| Fault::Disk(format!("writing the answer: {error}"));
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(path).await.map_err(disk)?;
        let mut file = tokio::io::BufWriter::with_capacity(64 << 10, file);
        let (mut bytes, mut digest, mut is_cut) = (0_u64, Sha256::new(), false);
        while let Some(data) = self.next().await? {
            let room = usize::try_from(limit - bytes).unwrap_or(usize::MAX);
            let kept = data.get(..room).unwrap_or(&data);
            file.write_all(kept).await.map_err(disk)?;
            digest.update(kept);
            bytes += u64::try_from(kept.len()).unwrap_or(u64::MAX);
            if kept.len() < data.len() {
                is_cut = true;
                break;
            }
        }
        file.flush().await.map_err(disk)?;
        let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Saved { bytes, sha256, is_cut })
    }
}

/// Lets the connection work until it has nothing to do.
fn drive(driver: &mut Option<Driver>, context: &mut std::task::Context<'_>) {
    if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready()) {
        *driver = None;
    }
}
