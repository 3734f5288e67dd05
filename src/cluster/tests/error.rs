//! Error texts and kinds.

use serde_json::json;

use crate::cluster::Error;
use crate::cluster::error::{Answer, Asked, from_answer, from_transport, timed_out};

fn answer(method: &str, code: u16, body: &str) -> Error {
    let asked = Asked { method, about: "deployments.apps web" };
    from_answer(&asked, &Answer { code, is_text: true, retry_after: None, body: body.as_bytes() })
}

#[test]
fn a_status_is_taken_at_its_word() {
    let body = json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": "pods \"x\" not found"});
    let error = answer("GET", 404, &body.to_string());
    assert_eq!(error.to_string(), "pods \"x\" not found");
    assert!(error.is_not_found());
}

#[test]
fn the_reason_outranks_the_code() {
    let body = |reason: &str| json!({"status": "Failure", "reason": reason, "code": 409, "message": "m"}).to_string();
    assert!(matches!(answer("POST", 409, &body("AlreadyExists")), Error::AlreadyExists(_)));
    assert!(matches!(answer("PUT", 409, &body("Conflict")), Error::Conflict(_)));
    assert!(matches!(answer("PUT", 409, &body("")), Error::Conflict(_)));
    assert!(matches!(answer("PUT", 422, &body("Invalid")), Error::Invalid(_)));
    assert!(matches!(answer("GET", 410, &body("Expired")), Error::Expired(_)));
    assert!(matches!(answer("GET", 403, &body("Forbidden")), Error::Forbidden(_)));
    assert!(matches!(answer("GET", 401, &body("Unauthorized")), Error::Unauthorized(_)));
}

#[test]
fn other_bodies_get_the_texts_of_gos_client() {
    let check = |code, body, expect: &str| {
        assert_eq!(answer("PATCH", code, body).to_string(), format!("{expect} (patch deployments.apps web)"));
    };
    check(404, "404 page not found\n", "the server could not find the requested resource");
    check(409, "", "the server reported a conflict");
    check(403, " no way \n", "no way");
    check(429, "slow down", "the server has received too many requests and has asked us to try again later");
    check(503, "", "the server is currently unable to handle the request");
    check(
        500,
        "boom \"now\"",
        "an error on the server (\"boom \\\"now\\\"\") has prevented the request from succeeding",
    );
    check(418, "", "the server responded with the status code 418 but did not return more information");
}

#[test]
fn what_does_not_fit_is_too_large_whatever_its_code() {
    let body = json!({"status": "Failure", "code": 500, "message": "etcdserver: request is too large"}).to_string();
    assert!(matches!(answer("PUT", 500, &body), Error::TooLarge(_)));
    assert!(matches!(answer("PUT", 413, ""), Error::TooLarge(_)));
}

#[test]
fn what_may_pass_is_told_from_what_lasts() {
    let kinds = |error: Error| (error.is_unreachable(), error.is_transient());
    for code in [429, 502, 503, 504] {
        assert_eq!(kinds(answer("PATCH", code, "")), (true, true), "{code}");
    }
    assert_eq!(kinds(answer("PATCH", 500, "")), (false, true));
    assert_eq!(kinds(timed_out("PATCH", "https://x/y")), (true, true));
    let body = json!({"status": "Failure", "code": 500, "message": "etcdserver: request is too large"}).to_string();
    assert_eq!(kinds(answer("PUT", 500, &body)), (false, false));
    for code in [400, 403, 404, 409, 422] {
        assert_eq!(kinds(answer("PATCH", code, "")), (false, false), "{code}");
    }
}

#[test]
fn lost_connections_read_as_in_go() {
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let error = from_transport("GET", "https://10.0.0.1:6443/version", &refused);
    assert_eq!(
        error.to_string(),
        "Get \"https://10.0.0.1:6443/version\": dial tcp 10.0.0.1:6443: connect: connection refused"
    );
    assert!(error.is_transient() && !matches!(error, Error::Transport { broken: true, .. }));
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    assert!(matches!(from_transport("GET", "https://x/y", &reset), Error::Transport { broken: true, .. }));
    assert_eq!(timed_out("PATCH", "https://x/y").to_string(), "Patch \"https://x/y\": context deadline exceeded");
}
