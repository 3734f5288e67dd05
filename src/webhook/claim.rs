//! Who sent a request, and whether the headers are good; then the body.
//!
//! In:  method, headers, secrets; then the body.
//! Out: a [`Claim`] that reads the body, or why the request is refused.
//! Source: HOOK-002, HOOK-003, HOOK-019 (`util/webhook/scm.go`, `util/webhook/ghcr.go`, go-playground/webhooks 6.4.0).

use base64::Engine;

use super::{Event, Refusal, Secrets, payload, signature};

/// Where a request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// As Argo CD's API server.
    Applications,
    /// As Argo CD's ApplicationSet controller.
    ApplicationSets,
    /// At one address for both: what either takes is taken.
    Both,
}

/// A body as far as it could be read.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// It is too large, or the connection broke.
    Unreadable,
}

/// Kinds of senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Azure,
    Gogs,
    GitHub,
    GitLab,
    Bitbucket,
    BitbucketServer,
    Registry,
}

/// A request whose headers are good.
#[derive(Debug)]
pub struct Claim {
    sender: Sender,
    endpoint: Endpoint,
    event: String,
    /// Secret and signature.
    signed: Option<(String, String)>,
}

/// A request's headers: the value of a name, empty when absent.
pub type Headers<'a> = &'a dyn Fn(&str) -> String;

const NOT_DEFINED: &str = "event not defined to be parsed";
const METHOD: &str = "invalid HTTP Method";
const HMAC: &str = "HMAC verification failed";

fn refuse<T>(reason: &str) -> Result<T, Refusal> {
    Err(Refusal::Other(reason.to_owned()))
}

/// Looks at method and headers.
///
/// # Errors
/// The request is refused whatever its body is.
pub fn claim(endpoint: Endpoint, secrets: &Secrets, method: &str, headers: Headers<'_>) -> Result<Claim, Refusal> {
    let sender = sender(endpoint, headers).ok_or(Refusal::UnknownSender)?;
    if sender == Sender::Azure && !azure_knows(secrets, &headers("Authorization")) {
        return refuse("basic auth verification failed");
    }
    if method != "POST" && sender != Sender::Registry {
        return refuse(METHOD);
    }
    if sender == Sender::GitLab && !signature::is_same(&secrets.gitlab, &headers("X-Gitlab-Token")) {
        return refuse("X-Gitlab-Token validation failed");
    }
    let event = match sender {
        Sender::Azure => String::new(),
        Sender::Gogs => headers("X-Gogs-Event"),
        Sender::GitHub | Sender::Registry => headers("X-GitHub-Event"),
        Sender::GitLab => headers("X-Gitlab-Event"),
        Sender::Bitbucket => bitbucket_event(secrets, headers)?,
        Sender::BitbucketServer => headers("X-Event-Key"),
    };
    if !is_taken(sender, endpoint, &event) && sender != Sender::GitLab {
        return refuse(NOT_DEFINED);
    }
    let signed = match sender {
        Sender::Gogs => Some((&secrets.gogs, headers("X-Gogs-Signature"))),
        Sender::GitHub | Sender::Registry => Some((&secrets.github, headers("X-Hub-Signature-256"))),
        Sender::BitbucketServer => Some((&secrets.bitbucket_server, headers("X-Hub-Signature"))),
        _ => None,
    };
    let signed = signed.filter(|(secret, _)| !secret.is_empty());
    Ok(Claim { sender, endpoint, event, signed: signed.map(|(secret, shown)| (secret.clone(), shown)) })
}

fn sender(endpoint: Endpoint, headers: Headers<'_>) -> Option<Sender> {
    let has = |name: &str| !headers(name).is_empty();
    let hub = headers("X-GitHub-Event");
    if endpoint == Endpoint::ApplicationSets {
        let senders = [
            (!hub.is_empty(), Sender::GitHub),
            (has("X-Gitlab-Event"), Sender::GitLab),
            (has("X-Vss-Activityid"), Sender::Azure),
        ];
        return senders.into_iter().find(|(is, _)| *is).map(|(_, sender)| sender);
    }
    let senders = [
        (has("X-Vss-Activityid"), Sender::Azure),
        (has("X-Gogs-Event"), Sender::Gogs),
        (!hub.is_empty() && hub != "package", Sender::GitHub),
        (has("X-Gitlab-Event"), Sender::GitLab),
        (has("X-Hook-UUID"), Sender::Bitbucket),
        (has("X-Event-Key"), Sender::BitbucketServer),
        (hub == "package", Sender::Registry),
    ];
    senders.into_iter().find(|(is, _)| *is).map(|(_, sender)| sender)
}

fn is_taken(sender: Sender, endpoint: Endpoint, event: &str) -> bool {
    let for_sets = endpoint != Endpoint::Applications;
    match sender {
        Sender::Azure | Sender::Registry => true,
        Sender::Gogs => event == "push",
        Sender::GitHub => matches!(event, "push" | "ping") || for_sets && event == "pull_request",
        Sender::GitLab => {
            matches!(event, "Push Hook" | "Tag Push Hook" | "System Hook") || for_sets && event == "Merge Request Hook"
        }
        Sender::Bitbucket => event == "repo:push",
        Sender::BitbucketServer => matches!(event, "repo:refs_changed" | "diagnostics:ping"),
    }
}

fn bitbucket_event(secrets: &Secrets, headers: Headers<'_>) -> Result<String, Refusal> {
    let (uuid, event) = (headers("X-Hook-UUID"), headers("X-Event-Key"));
    if event.is_empty() {
        return refuse("missing X-Event-Key Header");
    }
    if !secrets.bitbucket_uuid.is_empty() && !signature::is_same(&secrets.bitbucket_uuid, &uuid) {
        return refuse("UUID verification failed");
    }
    Ok(event)
}

fn azure_knows(secrets: &Secrets, authorization: &str) -> bool {
    if secrets.azure_user.is_empty() && secrets.azure_password.is_empty() {
        return true;
    }
    let encoded = authorization.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let decoded = encoded.and_then(|(_, text)| base64::engine::general_purpose::STANDARD.decode(text).ok());
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let Some((user, password)) = decoded.split_once(':') else { return false };
    // Both are compared, so that the time does not tell which one is wrong.
    signature::is_same(&secrets.azure_user, user) & signature::is_same(&secrets.azure_password, password)
}

impl Claim {
    /// Whether the body matters at all.
    pub fn wants_body(&self) -> bool {
        !(self.sender == Sender::BitbucketServer && self.event == "diagnostics:ping")
    }

    /// Checks the signature, and says what happened; `None` where there is nothing to do.
    ///
    /// # Errors
    /// The body is unreadable, not signed, or not what the sender sends.
    pub fn read(&self, body: Body<'_>) -> Result<Option<Event>, Refusal> {
        if !self.wants_body() {
            return Ok(None);
        }
        let body = match body {
            Body::Whole(body) if !body.is_empty() || self.sender == Sender::Registry => body,
            Body::Unreadable if self.sender == Sender::Registry => return refuse("http: request body too large"),
            _ => return Err(Refusal::Payload),
        };
        self.check(body)?;
        let for_sets = self.endpoint != Endpoint::Applications;
        match self.sender {
            Sender::Azure => payload::azure(body),
            Sender::Gogs => payload::hub(body),
            Sender::GitHub if self.event == "ping" => payload::nothing(body),
            Sender::GitHub if self.event == "pull_request" => payload::github_pull_request(body),
            Sender::GitHub => payload::hub(body),
            Sender::GitLab if !is_taken(self.sender, self.endpoint, &self.event) => refuse(NOT_DEFINED),
            Sender::GitLab => payload::gitlab(body, &self.event, for_sets),
            Sender::Bitbucket => payload::bitbucket(body),
            Sender::BitbucketServer => payload::bitbucket_server(body),
            Sender::Registry => payload::package(body),
        }
    }

    fn check(&self, body: &[u8]) -> Result<(), Refusal> {
        let Some((secret, shown)) = &self.signed else { return Ok(()) };
        let shown = match self.sender {
            Sender::GitHub => shown.strip_prefix("sha256=").unwrap_or(shown),
            // Seven letters are passed over, whatever they are.
            Sender::BitbucketServer => shown.get(7..).unwrap_or_default(),
            // Here the prefix is part of what is compared.
            Sender::Registry => shown.strip_prefix("sha256=").unwrap_or_default(),
            _ => shown,
        };
        match signature::is_signed(secret, body, shown) {
            true => Ok(()),
            false if self.sender == Sender::Registry => Err(Refusal::Registry),
            false if shown.is_empty() => refuse(match self.sender {
                Sender::Gogs => "missing X-Gogs-Signature Header",
                Sender::GitHub => "missing X-Hub-Signature-256 Header",
                _ => "missing X-Hub-Signature Header",
            }),
            false => refuse(HMAC),
        }
    }
}
