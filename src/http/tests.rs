//! Tests of addresses and proxies.

use hyper::{Method, StatusCode};

use super::address::Address;
use super::{Request, proxy};

#[test]
fn addresses_come_apart_and_join() {
    let check = |base: &str, reference: &str, expect: &str| {
        let joined = Address::parse(base).unwrap().join(reference).map(|address| address.shown());
        assert_eq!(joined.as_deref(), Some(expect), "{base} {reference}");
    };
    check("https://h/a/b/", "c-1.0.tgz", "https://h/a/b/c-1.0.tgz");
    check("https://h/a/b/", "../c.tgz", "https://h/a/c.tgz");
    check("https://h/a/b/", "/c.tgz?x=1", "https://h/c.tgz?x=1");
    check("https://h/a/", "http://other:81/c", "http://other:81/c");
    check("https://h/a/", "//other/c", "https://other/c");
    check("http://[::1]:80/a", "b", "http://[::1]:80/b");
    check("https://u:p%40ss@h/a/", "b c", "https://u:***@h/a/b%20c");
    for text in ["", "h/a", "ftp://h/", "https://", "https://h:port/", "oci://h/a"] {
        assert!(Address::parse(text).is_none(), "{text}");
    }
    let below = Address::parse("https://h/charts/?token=1").unwrap().below("index.yaml");
    assert_eq!(below.shown(), "https://h/charts/index.yaml?token=1");
    assert_eq!(Address::parse("https://u:p%40ss@H").unwrap().user, Some(("u".to_owned(), "p@ss".to_owned())));
}

#[test]
fn proxies_are_passed_by_for_exceptions_and_this_machine() {
    let check = |url: &str, exceptions: &str, expect: bool| {
        let address = Address::parse(url).unwrap();
        let found = proxy::of(&address, "http://proxy:3128", exceptions).unwrap();
        assert_eq!(found.is_some(), expect, "{url} {exceptions}");
    };
    check("https://charts.example.com", "", true);
    check("https://charts.example.com", "example.com", false);
    check("https://example.com", ".example.com", true);
    check("https://charts.example.com", "*.example.com,other", false);
    check("https://charts.example.com", "ample.com", true);
    check("https://charts.example.com:8443", "charts.example.com:443", true);
    check("https://charts.example.com", "*", false);
    check("http://10.1.2.3", "10.0.0.0/8", false);
    check("http://10.1.2.3", "10.2.0.0/16", true);
    check("http://localhost", "", false);
    check("http://127.0.0.1:80", "", false);
    let bad = proxy::of(&Address::parse("http://h").unwrap(), "socks5://u:secret@h", "").unwrap_err();
    assert!(!bad.to_string().contains("secret"));
}

#[test]
fn a_redirect_turns_what_sends_into_reading_unless_it_says_to_repeat() {
    let check = |status: u16, method: Method, expect: (Method, &str)| {
        let at = |path: &str| Address::parse(&format!("http://h/{path}")).unwrap();
        let request = Request { method, ..Request::posting(at("a"), "body") };
        let next = request.redirected(StatusCode::from_u16(status).unwrap(), at("b"));
        assert_eq!(next.address.path, "/b");
        assert_eq!((next.method, next.body.as_ref()), (expect.0, expect.1.as_bytes()), "{status}");
    };
    check(302, Method::POST, (Method::GET, ""));
    check(303, Method::PUT, (Method::GET, ""));
    check(307, Method::POST, (Method::POST, "body"));
    check(308, Method::PUT, (Method::PUT, "body"));
    check(301, Method::HEAD, (Method::HEAD, "body"));
}
