//! Tests of names, challenges and realms.

use super::challenge::{self, Challenge};
use super::reference::{Reference, check_reference};
use super::verify;
use crate::http::Address;

#[test]
fn names_are_checked_as_oras_checks_them() {
    let check = |text: &str, expect: Result<(), &str>| {
        assert_eq!(Reference::parse(text).map(drop), expect.map_err(str::to_owned), "{text}");
    };
    check("ghcr.io/org/app", Ok(()));
    check("127.0.0.1:5000/a__b/c-d--e.f", Ok(()));
    check("ghcr.io", Err("invalid reference: missing registry or repository"));
    check("ghcr.io/Org", Err("invalid reference: invalid repository \"Org\""));
    check("ghcr.io/a//b", Err("invalid reference: invalid repository \"a//b\""));
    check("ghcr.io/a_.b", Err("invalid reference: invalid repository \"a_.b\""));
    check("u@h/a", Err("invalid reference: invalid registry \"u@h\""));
    let hub = Reference::parse("docker.io/library/x").unwrap();
    assert_eq!(hub.address(false, "tags/list").unwrap().shown(), "https://registry-1.docker.io/v2/library/x/tags/list");
    assert_eq!(hub.with("1.0"), "docker.io/library/x:1.0");
    assert!(check_reference("1.0.0-rc_1").is_ok());
    assert_eq!(check_reference(">=1").unwrap_err(), "invalid reference: invalid tag \">=1\"");
    assert!(check_reference(&format!("sha256:{}", "a".repeat(64))).is_ok());
    assert!(check_reference("sha256:abc").is_err() && check_reference("").is_err());
}

#[test]
fn a_manifest_has_the_digest_that_it_is_said_to_have() {
    let own = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let other = format!("sha256:{}", "0".repeat(64));
    let mismatch = Err("mismatched digest".to_owned());
    for (reference, given, expect) in [
        ("1.0.0", None, Ok(())),
        ("1.0.0", Some(own), Ok(())),
        ("1.0.0", Some(other.as_str()), mismatch.clone()),
        (own, None, Ok(())),
        (own, Some(other.as_str()), mismatch.clone()),
        (other.as_str(), Some(own), mismatch.clone()),
        (other.as_str(), Some(other.as_str()), mismatch.clone()),
        ("1.0.0", Some("x"), Err("invalid response header value: `Docker-Content-Digest: x`".to_owned())),
    ] {
        assert_eq!(verify(b"{}", reference, given), expect, "{reference} {given:?}");
    }
}

#[test]
fn challenges_are_read() {
    let bearer = |realm: &str, service: &str, scope: &str| Challenge::Bearer {
        realm: realm.to_owned(),
        service: service.to_owned(),
        scope: scope.to_owned(),
    };
    for (header, expect) in [
        ("Basic realm=\"x\"", Challenge::Basic),
        ("BEARER realm=\"https://a/t\",service=\"s\"", bearer("https://a/t", "s", "")),
        (
            "Bearer realm=\"https://a/t\", service=s, scope=\"repository:a/b:pull,push\"",
            bearer("https://a/t", "s", "repository:a/b:pull,push"),
        ),
        ("Bearer realm=\"https://a/\\\"t\"", bearer("https://a/\"t", "", "")),
        ("Bearer realm=\"open", bearer("", "", "")),
        ("Negotiate", Challenge::Unknown),
        ("", Challenge::Unknown),
    ] {
        assert_eq!(Challenge::parse(header), expect, "{header}");
    }
}

#[test]
fn credentials_go_to_no_realm_inside_the_network() {
    let check = |realm: &str, registry: &str, expect: bool| {
        let registry = Address::parse(registry).unwrap();
        assert_eq!(challenge::realm(realm, &registry).is_ok(), expect, "{realm} for {}", registry.shown());
    };
    check("https://auth.docker.io/token", "https://registry-1.docker.io/", true);
    check("http://auth.example.com/token", "https://registry.example.com/", false);
    check("http://auth.example.com/token", "http://registry.example.com/", true);
    check("https://169.254.169.254/token", "https://registry.example.com/", false);
    check("https://10.0.0.1/token", "https://registry.example.com/", false);
    check("https://[::1]/token", "https://registry.example.com/", false);
    check("https://[::ffff:10.0.0.1]/token", "https://registry.example.com/", false);
    check("https://10.0.0.1/token", "https://10.0.0.1:5000/", true);
    check("file:///etc/passwd", "https://registry.example.com/", false);
    check("", "https://registry.example.com/", false);
}
