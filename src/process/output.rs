//! Reads what a child writes, within bounds.
//!
//! In:  a pipe, and the most bytes that are wanted.
//! Out: the bytes; for stdout an error when there are more, for stderr the first ones, and an error when it does not end.

use tokio::io::{AsyncRead, AsyncReadExt};

/// More of stderr than this never reaches a condition; the rest is read and dropped so that the child can go on.
const MAX_STDERR: usize = 64 << 10;

/// A child that writes more to stderr than this does not end: git lists every reference of a large repository there, which
/// are some megabytes.
pub const ENDLESS_STDERR: usize = 64 << 20;

/// The child wrote more than this, which is what was allowed.
#[derive(Debug)]
pub struct TooMuch(pub usize);

/// Reads everything, or fails as soon as it is more than `limit` bytes.
pub async fn read<R: AsyncRead + Unpin>(pipe: Option<R>, limit: usize) -> Result<Vec<u8>, TooMuch> {
    let mut out = Vec::new();
    let Some(pipe) = pipe else { return Ok(out) };
    let mut bounded = pipe.take(u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1));
    // A pipe that breaks ends the output; the exit status says whether that was a failure.
    let _ = bounded.read_to_end(&mut out).await;
    if out.len() > limit { Err(TooMuch(limit)) } else { Ok(out) }
}

/// Reads everything and keeps the first bytes, or fails as soon as it is more than `limit` bytes.
pub async fn read_start<R: AsyncRead + Unpin>(pipe: Option<R>, limit: usize) -> Result<String, TooMuch> {
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let (mut kept, mut chunk, mut total) = (Vec::new(), [0_u8; 8192], 0_usize);
    while let Ok(count) = pipe.read(&mut chunk).await {
        if count == 0 {
            break;
        }
        total = total.saturating_add(count);
        if total > limit {
            return Err(TooMuch(limit));
        }
        let room = MAX_STDERR.saturating_sub(kept.len()).min(count);
        kept.extend(chunk.iter().take(room));
    }
    Ok(String::from_utf8_lossy(&kept).into_owned())
}

/// Drops one final newline.
pub fn without_newline(mut out: Vec<u8>) -> Vec<u8> {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    out
}
