//! Requests to a registry, with whatever the registry wants to see first.
//!
//! In:  requests without authentication.
//! Out: answers; one request may cost three: the challenge, the token, the answer.
//! Invariant: credentials go to the registry's own host, and to the place that gives tokens for it; never before the registry
//! asked, and not when the question came from elsewhere.
//! Source: REND-072, REND-075 (oras-go `registry/remote/auth/client.go` `Do`).

use hyper::StatusCode;
use hyper::header;
use serde::Deserialize;

use super::challenge::{self, Challenge};
use super::reference::Reference;
use super::refusal;
use crate::charts::access::ChartAccess;
use crate::http::{self, Address, Answer, Client, Request};

/// A token's answer is not larger.
const MAX_TOKEN: usize = 128 << 10;

/// Speaks to one registry for one piece of work.
pub struct Session {
    client: Client,
    username: String,
    password: String,
    is_plain: bool,
    /// What the registry accepted last.
    authorization: Option<String>,
}

impl Session {
    /// A session that ends after `limit`.
    pub fn new(access: &ChartAccess, limit: std::time::Duration) -> Result<Self, String> {
        Ok(Self {
            client: Client::new(&access.route, limit)?,
            username: access.username.clone(),
            password: access.password.clone(),
            is_plain: access.plain_http,
            authorization: None,
        })
    }

    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether the registry accepts the credentials.
    pub async fn ping(&mut self, of: &Reference) -> Result<(), String> {
        let answer = self.send(Request::get(of.base(self.is_plain)?), None).await?;
        self.authorization = None;
        match answer.status {
            StatusCode::OK => Ok(()),
            StatusCode::NOT_FOUND => Err("not found".to_owned()),
            _ => Err(refusal(answer).await),
        }
    }

    /// Sends a request, for reading a repository where one is given.
    pub(super) async fn send(&mut self, request: Request, of: Option<&Reference>) -> Result<Answer, String> {
        let shown = format!("{} {:?}", request.method, request.address.shown());
        let first = match &self.authorization {
            Some(known) => request.clone().header(header::AUTHORIZATION, known.clone()),
            None => request.clone(),
        };
        let answer = self.exchange(first).await?;
        if answer.status != StatusCode::UNAUTHORIZED || !answer.address.is_same_origin(&request.address) {
            return Ok(answer);
        }
        let wanted = answer.header(&header::WWW_AUTHENTICATE).map_or(Challenge::Unknown, Challenge::parse);
        let authorization = match wanted {
            Challenge::Unknown => return Ok(answer),
            Challenge::Basic => self.basic(),
            Challenge::Bearer { realm, service, scope } => {
                let scopes = scopes(of, &scope);
                self.token((&realm, &service), &scopes, &request.address).await.map(|token| format!("Bearer {token}"))
            }
        };
        let authorization = authorization.map_err(|reason| format!("{shown}: {reason}"))?;
        self.authorization = Some(authorization.clone());
        self.exchange(request.header(header::AUTHORIZATION, authorization)).await
    }

    async fn exchange(&self, request: Request) -> Result<Answer, String> {
        let (method, shown) = (request.method.to_string(), request.address.shown());
        self.client.send(request).await.map_err(|fault| fault.shown(&method, &shown))
    }

    fn basic(&self) -> Result<String, String> {
        match (self.username.is_empty(), self.password.is_empty()) {
            (true, true) => Err("basic credential not found".to_owned()),
            (false, false) => Ok(http::basic(&self.username, &self.password)),
            _ => Err("missing username or password for basic auth".to_owned()),
        }
    }

    /// Buys a token.
    async fn token(
        &self,
        (realm, service): (&str, &str),
        scopes: &[String],
        registry: &Address,
    ) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Token {
            #[serde(default)]
            token: String,
            #[serde(default)]
            access_token: String,
        }
        let mut address = challenge::realm(realm, registry)?;
        let mut query: Vec<String> = scopes.iter().map(|scope| format!("scope={}", encode(scope))).collect();
        if !service.is_empty() {
            query.push(format!("service={}", encode(service)));
        }
        if let Some(own) = address.query.as_ref().filter(|own| !own.is_empty()) {
            query.insert(0, own.clone());
        }
        address.query = Some(query.join("&")).filter(|query| !query.is_empty());
        let mut request = Request::get(address);
        if !self.username.is_empty() || !self.password.is_empty() {
            request = request.basic_auth(&self.username, &self.password);
        }
        let shown = format!("GET {:?}", request.address.shown());
        let answer = self.exchange(request).await?;
        if answer.status != StatusCode::OK {
            return Err(refusal(answer).await);
        }
        let text = answer.bytes(MAX_TOKEN).await.map_err(|fault| fault.to_string())?;
        let token: Token =
            serde_json::from_slice(&text).map_err(|_| format!("{shown}: failed to decode response: no token in it"))?;
        match [token.access_token, token.token].into_iter().find(|text| !text.is_empty()) {
            Some(token) => Ok(token),
            None => Err(format!("{shown}: empty token returned")),
        }
    }
}

/// What a token is for: reading the repository, and what else the registry names.
fn scopes(of: Option<&Reference>, named: &str) -> Vec<String> {
    let own = of.map(|of| format!("repository:{}:pull", of.repository));
    let mut scopes: Vec<String> = own.into_iter().chain(named.split_whitespace().map(str::to_owned)).collect();
    scopes.sort();
    scopes.dedup();
    scopes
}

/// A value in a query, as Go escapes it.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
