//! Repositories behind a proxy.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use crate::bench::{Bench, access};

/// A proxy that asks for a password and then says that it knows nobody; gives the head of each request.
fn proxy() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (place, (seen, requests)) = (listener.local_addr().unwrap().to_string(), channel());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            while let Some(head) = read_head(&mut stream) {
                let answer = if head.contains("Proxy-Authorization: Basic") {
                    "404 Not Found\r\n"
                } else {
                    "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\n"
                };
                seen.send(head).unwrap();
                stream.write_all(format!("HTTP/1.1 {answer}Content-Length: 0\r\n\r\n").as_bytes()).unwrap();
            }
        }
    });
    (place, requests)
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

#[tokio::test]
async fn requests_go_through_the_repositorys_proxy_but_for_exceptions() {
    let bench = Bench::new();
    let (place, requests) = proxy();
    let url = format!("http://alice:secret@{place}");
    let repo = access("http://git.invalid/app.git", &[("proxy", &url)]);
    let error = bench.store().resolve(&repo, "main").await.unwrap_err().to_string();
    assert_eq!(error, "failed to list refs: repository not found: ");
    let seen: Vec<String> = requests.try_iter().collect();
    let first = "GET http://git.invalid/app.git/info/refs?service=git-upload-pack HTTP/1.1";
    assert!(seen.iter().all(|head| head.starts_with(first)) && !seen.is_empty(), "{seen:?}");
    assert!(seen.last().is_some_and(|head| head.contains("Proxy-Authorization: Basic YWxpY2U6c2VjcmV0")), "{seen:?}");
    let server = bench.serve("git-https", serde_json::json!({}));
    let direct =
        access(&format!("{}/app.git", server.say("/url")), &[("proxy", &url), ("noProxy", "example.com,127.0.0.1")]);
    assert_eq!(bench.store().resolve(&direct, "main").await.as_ref(), Ok(&bench.sha));
    assert_eq!(requests.try_iter().count(), 0);
}
