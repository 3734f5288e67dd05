//! What can go wrong between litecd and an API server, in the words of Go's client.
//!
//! In:  an HTTP status, headers and body; or a failure to get one.
//! Out: an [`Error`] whose `Display` is the text Argo CD would show.
//! Invariant: request bodies never enter an error.
//! Source: client-go v0.36.1 `rest/request.go`, apimachinery v0.36.1 `pkg/api/errors/errors.go`.

use std::time::Duration;

use serde::Deserialize;

/// Longest piece of an unstructured answer that is quoted, in bytes, as client-go cuts it.
const QUOTED_BYTES: usize = 2048;

/// A failure the API server described.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// HTTP status code.
    pub code: u16,
    /// Kubernetes' reason, such as `NotFound`; empty when the server gave none.
    pub reason: String,
    /// The text to show.
    pub message: String,
    /// How long the server asks to wait before trying again.
    pub retry_after: Option<Duration>,
}

/// Why a request did not succeed. Variants up to [`Error::Api`] were answered by the server. The text is whole, with its
/// cause, because it is shown as it is; that is why nothing is handed out as a source.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object or its kind does not exist.
    #[error("{}", .0.message)]
    NotFound(Box<Status>),
    /// An object of that name exists.
    #[error("{}", .0.message)]
    AlreadyExists(Box<Status>),
    /// The object changed in between, or a precondition did not hold.
    #[error("{}", .0.message)]
    Conflict(Box<Status>),
    /// RBAC or an admission rule says no.
    #[error("{}", .0.message)]
    Forbidden(Box<Status>),
    /// Credentials are missing or expired.
    #[error("{}", .0.message)]
    Unauthorized(Box<Status>),
    /// The object does not fit into a request or into etcd.
    #[error("{}", .0.message)]
    TooLarge(Box<Status>),
    /// The object is malformed or breaks a rule of its kind.
    #[error("{}", .0.message)]
    Invalid(Box<Status>),
    /// A list's continuation or a watch's start is too old; list again.
    #[error("{}", .0.message)]
    Expired(Box<Status>),
    /// Any other answer.
    #[error("{}", .0.message)]
    Api(Box<Status>),
    /// No answer: refused, reset, timed out. A write may or may not have happened.
    #[error("{text}")]
    Transport {
        /// As Go prints it: `Get "https://…": dial tcp …: connect: connection refused`.
        text: String,
        /// Whether the connection broke, so that a read can be repeated at once.
        broken: bool,
    },
    /// An answer that is not JSON of the expected shape.
    #[error("{text}: {cause}")]
    Decode {
        /// What was being read.
        text: String,
        /// Where it went wrong.
        cause: serde_json::Error,
    },
    /// The request makes no sense and was not sent.
    #[error("{text}")]
    Refused {
        /// Why.
        text: String,
    },
    /// The connection settings cannot be used.
    #[error("cannot set up the connection: {cause}")]
    Connect {
        /// What kube says.
        cause: Box<kube::Error>,
    },
}

impl Error {
    /// What the server said, where it answered.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::NotFound(status)
            | Self::AlreadyExists(status)
            | Self::Conflict(status)
            | Self::Forbidden(status)
            | Self::Unauthorized(status)
            | Self::TooLarge(status)
            | Self::Invalid(status)
            | Self::Expired(status)
            | Self::Api(status) => Some(status),
            Self::Transport { .. } | Self::Decode { .. } | Self::Refused { .. } | Self::Connect { .. } => None,
        }
    }

    /// Whether the object or its kind does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }

    /// Whether the object changed in between.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }

    /// Whether nobody answered, or the one who answered could not ask the API server or was asked too much.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Transport { .. } => true,
            _ => self.status().is_some_and(|status| matches!(status.code, 429 | 502..=504)),
        }
    }

    /// Whether the same request may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Transport { .. } => true,
            // etcd refuses too much data with a plain 500, and for ever.
            Self::TooLarge(_) => false,
            _ => self.status().is_some_and(|status| status.code == 429 || status.code >= 500),
        }
    }
}

/// How the request is named in texts the client has to make up itself.
pub(super) struct Asked<'a> {
    /// HTTP method in upper case.
    pub method: &'a str,
    /// `<plural>[.<group>][ <name>]`, empty for requests about no resource.
    pub about: &'a str,
}

/// The answer as it came.
pub(super) struct Answer<'a> {
    /// HTTP status code.
    pub code: u16,
    /// Whether the body is plain text, the only kind that is quoted.
    pub is_text: bool,
    /// `Retry-After`.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: &'a [u8],
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    code: Option<u16>,
}

/// Turns an unsuccessful answer into an error; a `Status` body is taken at its word, anything else gets Go's text.
pub(super) fn from_answer(asked: &Asked<'_>, answer: &Answer<'_>) -> Error {
    let status = match serde_json::from_slice::<Wire>(answer.body) {
        Ok(wire) if wire.status == "Failure" => Status {
            code: wire.code.unwrap_or(answer.code),
            reason: wire.reason,
            message: wire.message,
            retry_after: answer.retry_after,
        },
        _ => made_up(asked, answer),
    };
    classify(status)
}

/// Turns an unsuccessful answer into an error by its status code alone.
pub(super) fn unread(asked: &Asked<'_>, answer: &Answer<'_>) -> Error {
    classify(made_up(asked, answer))
}

fn made_up(asked: &Asked<'_>, answer: &Answer<'_>) -> Status {
    let quoted = answer.body.get(..QUOTED_BYTES).unwrap_or(answer.body);
    let said = if answer.is_text { String::from_utf8_lossy(quoted).trim().to_owned() } else { "unknown".to_owned() };
    let (reason, text) = match answer.code {
        400 => ("BadRequest", "the server rejected our request for an unknown reason".to_owned()),
        401 => ("Unauthorized", "the server has asked for the client to provide credentials".to_owned()),
        403 => ("Forbidden", said),
        404 => ("NotFound", "the server could not find the requested resource".to_owned()),
        405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource".to_owned()),
        406 if said.is_empty() || said == "unknown" => (
            "NotAcceptable",
            "the server was unable to respond with a content type that the client supports".to_owned(),
        ),
        406 => ("NotAcceptable", said),
        409 if asked.method == "POST" => ("AlreadyExists", "the server reported a conflict".to_owned()),
        409 => ("Conflict", "the server reported a conflict".to_owned()),
        415 => ("UnsupportedMediaType", said),
        422 => ("Invalid", "the server rejected our request due to an error in our request".to_owned()),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later".to_owned(),
        ),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request".to_owned()),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned(),
        ),
        code if code >= 500 => {
            ("InternalError", format!("an error on the server ({said:?}) has prevented the request from succeeding"))
        }
        code => ("", format!("the server responded with the status code {code} but did not return more information")),
    };
    let message =
        if asked.about.is_empty() { text } else { format!("{text} ({} {})", asked.method.to_lowercase(), asked.about) };
    Status { code: answer.code, reason: reason.to_owned(), message, retry_after: answer.retry_after }
}

/// The reason decides where there is one, because admission plugins may pair a reason with another code.
fn classify(status: Status) -> Error {
    // etcd's own limit comes back as a plain 500, or as a gRPC complaint.
    let too_large = status.code == 413
        || status.message.contains("etcdserver: request is too large")
        || status.message.contains("trying to send message larger than max");
    let status = Box::new(status);
    if too_large {
        return Error::TooLarge(status);
    }
    match (status.reason.as_str(), status.code) {
        ("NotFound", _) | ("", 404) => Error::NotFound(status),
        ("AlreadyExists", _) => Error::AlreadyExists(status),
        ("Conflict", _) | ("", 409) => Error::Conflict(status),
        ("Forbidden", _) | ("", 403) => Error::Forbidden(status),
        ("Unauthorized", _) | ("", 401) => Error::Unauthorized(status),
        ("Invalid", _) | ("", 422) => Error::Invalid(status),
        ("Expired" | "Gone", _) | ("", 410) => Error::Expired(status),
        _ => Error::Api(status),
    }
}

/// Puts a failed connection into Go's words, as far as they can be known.
pub(super) fn from_transport(method: &str, url: &str, error: &(dyn std::error::Error + 'static)) -> Error {
    let mut innermost = error;
    let mut io = None;
    loop {
        if let Some(found) = innermost.downcast_ref::<std::io::Error>() {
            io = Some(found.kind());
        }
        match innermost.source() {
            Some(next) => innermost = next,
            None => break,
        }
    }
    let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let (cause, broken) = match io {
        Some(std::io::ErrorKind::ConnectionRefused) => (format!("dial tcp {host}: connect: connection refused"), false),
        Some(std::io::ErrorKind::ConnectionReset) => ("read: connection reset by peer".to_owned(), true),
        Some(std::io::ErrorKind::UnexpectedEof) => ("EOF".to_owned(), true),
        // hyper's own end-of-connection errors carry no IO error; they count as broken, as Go's EOF does.
        other => (innermost.to_string(), other.is_none()),
    };
    Error::Transport { text: format!("{} {url:?}: {cause}", title(method)), broken }
}

/// The text of a request that got no answer in time.
pub(super) fn timed_out(method: &str, url: &str) -> Error {
    Error::Transport { text: format!("{} {url:?}: context deadline exceeded", title(method)), broken: false }
}

fn title(method: &str) -> String {
    let (first, rest) = method.split_at_checked(1).unwrap_or((method, ""));
    format!("{first}{}", rest.to_lowercase())
}
