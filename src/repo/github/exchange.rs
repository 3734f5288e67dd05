//! Requests to GitHub's API in the name of an app.
//!
//! In:  where the API is, and how it is reached.
//! Out: the answer of one request, or why there was none.
//! Invariant: a redirect is not followed, because the statement would go along.
//! Source: `util/git/client.go` `GetRepoHTTPClient`.

use std::time::Duration;

use hyper::header::{ACCEPT, AUTHORIZATION};

use crate::http::{Address, Client, Request, Route};

/// A page of installations is a tenth of this.
const MAX_BODY: usize = 4 << 20;

/// GitHub's API as one repository or generator reaches it.
#[derive(Clone, Copy)]
pub struct Api<'a> {
    /// Certificates and proxy.
    pub route: &'a Route,
    /// URL without slashes at its end.
    pub url: &'a str,
    /// Time that one request may take.
    pub limit: Duration,
}

/// An answer.
pub struct Answer {
    /// Whether the status is one of success.
    pub is_success: bool,
    /// `404 Not Found`.
    pub status: String,
    /// Body.
    pub body: Vec<u8>,
}

impl Api<'_> {
    /// Reads something; a statement of the app signs the request.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn get(&self, place: &str, signed: &str) -> Result<Answer, String> {
        self.send(Request::get(self.address(place)?), signed).await
    }

    /// Asks for something to be made; a statement of the app signs the request.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn post(&self, place: &str, signed: &str) -> Result<Answer, String> {
        self.send(Request::posting(self.address(place)?, ""), signed).await
    }

    fn address(&self, place: &str) -> Result<Address, String> {
        let url = format!("{}{place}", self.url);
        Address::parse(&url).ok_or_else(|| format!("parse {url:?}: no http or https address"))
    }

    async fn send(&self, request: Request, signed: &str) -> Result<Answer, String> {
        let (method, shown) = (request.method.clone(), request.address.shown());
        let request =
            request.header(AUTHORIZATION, format!("Bearer {signed}")).header(ACCEPT, "application/vnd.github.v3+json");
        let client = Client::new(self.route, self.limit)?;
        let answer = client.send_once(request).await.map_err(|fault| fault.shown(method.as_str(), &shown))?;
        let (is_success, status) = (answer.status.is_success(), answer.status_text());
        let body = answer.bytes(MAX_BODY).await.map_err(|fault| format!("reading the answer: {fault}"))?;
        Ok(Answer { is_success, status, body })
    }
}
