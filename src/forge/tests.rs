//! Clients against a server on the loopback interface; requests and answers were recorded from Argo CD's own clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{Access, Error, Plugin, PullRequest, Repository, bitbucket_cloud, filter};
use crate::api::appset::{PullRequestGenerator, ScmProviderGenerator};
use crate::repo::github::Tokens;

/// Headers that were recorded, in this order.
const HEADERS: &[&str] = &[
    "Accept",
    "Authorization",
    "Private-Token",
    "Content-Type",
    "X-Github-Api-Version",
    "X-Atlassian-Token",
    "X-Requested-With",
    "X-Tfs-Fedauthredirect",
];

const TOKEN: &str = "canary-token";

type Seen = Arc<Mutex<Vec<String>>>;

/// Answers one request; the connection ends with it.
async fn answer(stream: TcpStream, case: &Value, url: &str, seen: &Seen) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let asked = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0_usize);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let mut shown = asked.clone();
    for name in HEADERS {
        if let Some(value) = headers.get(&name.to_ascii_lowercase()) {
            shown.push_str(&format!("\n{name}: {value}"));
        }
    }
    let body = String::from_utf8_lossy(&body);
    if !body.trim().is_empty() {
        shown.push_str(&format!("\n\n{}", body.trim()));
    }
    seen.lock().unwrap().push(shown.replace(url, "{{server}}"));
    let unknown = json!({"status": 404, "body": {"message": "Not Found"}});
    let routes = &case["routes"];
    let found = routes.get(&asked).or_else(|| routes.get("*")).unwrap_or(&unknown);
    let body = match &found["body"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let body = body.replace("{{server}}", url);
    let mut head =
        format!("HTTP/1.1 {} x\r\nContent-Length: {}\r\n", found["status"].as_u64().unwrap_or(200), body.len());
    for (name, value) in found["headers"].as_object().into_iter().flatten() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap()));
    }
    stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").replace("{{server}}", url).as_bytes()).await?;
    stream.shutdown().await
}

fn repository(found: &Repository) -> Value {
    json!({
        "Organization": found.organization, "Repository": found.repository, "RepositoryId": found.repository_id,
        "URL": found.url, "Branch": found.branch, "SHA": found.sha, "Labels": found.labels,
    })
}

fn pull_request(found: &PullRequest) -> Value {
    json!({
        "Number": found.number, "Title": found.title, "Branch": found.branch, "TargetBranch": found.target_branch,
        "HeadSHA": found.head_sha, "Labels": found.labels, "Author": found.author,
    })
}

/// Asks as a case says.
async fn ask(case: &Value, url: &str) -> Result<Value, Error> {
    let tokens = Tokens::default();
    let text = case.to_string().replace("{{server}}", url);
    let case: Value = serde_json::from_str(&text).unwrap();
    let secret = if text.contains("secretName") { TOKEN } else { "" };
    let access = Access { secret, app: None, tokens: &tokens, authorities: "" };
    if let Some(scm) = case.get("scm") {
        let wanted: ScmProviderGenerator = serde_json::from_value(scm.clone()).unwrap();
        let found = match &wanted.bitbucket {
            // Its API is always at the same place.
            Some(from) => {
                let host = bitbucket_cloud::Workspace::at(&format!("{url}/2.0"), from, &access)?;
                filter::keep(&host, &wanted.filters, &wanted.clone_protocol).await.map_err(Error::Asked)?
            }
            None => super::repositories(&wanted, &access).await?,
        };
        return Ok(found.iter().map(repository).collect());
    }
    if let Some(pull) = case.get("pull") {
        let wanted: PullRequestGenerator = serde_json::from_value(pull.clone()).unwrap();
        return Ok(super::pull_requests(&wanted, &access).await?.iter().map(pull_request).collect());
    }
    let plugin = &case["plugin"];
    let parameters: BTreeMap<String, Value> = serde_json::from_value(plugin["parameters"].clone()).unwrap();
    let (set, base_url) = (plugin["set"].as_str().unwrap(), plugin["base_url"].as_str().unwrap());
    let wanted = Plugin { set, base_url, token: TOKEN, timeout: None, parameters: &parameters };
    Ok(super::plugin(&wanted).await?.into_iter().map(Value::Object).collect())
}

/// Go's empty lists are null; the ids of two hosts are texts in both.
fn recorded(case: &Value) -> Value {
    let mut result = case["result"].clone();
    for item in result.as_array_mut().into_iter().flatten() {
        if item.get("Labels").is_some_and(Value::is_null) {
            item["Labels"] = json!([]);
        }
    }
    if result.is_null() { json!([]) } else { result }
}

async fn check(case: &Value) -> Result<(), String> {
    let name = case["name"].as_str().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            answer(stream, case, &url, &seen).await.unwrap();
        }
    };
    let outcome = tokio::select! {
        outcome = ask(case, &url) => outcome,
        () = serve => unreachable!(),
    };
    let requests = seen.lock().unwrap().clone();
    let expect: Vec<&str> = case["requests"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let same = |what: &str, left: &dyn std::fmt::Debug, right: &dyn std::fmt::Debug| {
        let (left, right) = (format!("{left:#?}"), format!("{right:#?}"));
        if left == right { Ok(()) } else { Err(format!("{name}: {what}: {left} instead of {right}")) }
    };
    same("requests", &requests, &expect)?;
    match (outcome, case.get("error").and_then(Value::as_str)) {
        (Ok(found), None) => same("result", &found, &recorded(case)),
        (Err(error), Some(expect)) => {
            let text = error.to_string();
            same("error", &text.replace(&url, "{{server}}"), &expect)?;
            same("token in the error", &text.contains(TOKEN), &false)?;
            same("not found", &matches!(error, Error::NotFound(_)), &name.ends_with("requests of nobody"))
        }
        (outcome, expect) => Err(format!("{name}: {outcome:?} instead of {expect:?}")),
    }
}

#[tokio::test(flavor = "current_thread")]
async fn hosts_are_asked_as_argo_cd_asks_them() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../corpus/forge/requests.json")).unwrap();
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for case in &cases {
        wrong.extend(check(case).await.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "current_thread")]
async fn a_token_goes_to_its_own_host_only_and_shows_in_no_error() {
    let routes = json!({
        "GET /2.0/repositories/acme/app/pullrequests/":
            {"body": {"values": [{"id": 1}], "next": "http://127.0.0.2:9/steal"}},
    });
    let pull = json!({"bitbucket": {"owner": "acme", "repo": "app", "api": "{{server}}/2.0",
        "bearerToken": {"tokenRef": {"secretName": "s", "key": "k"}}}});
    let requests = json!(["GET /2.0/repositories/acme/app/pullrequests/\nAuthorization: Bearer canary-token"]);
    let error = "error listing pull requests for acme/app: http://127.0.0.2:9/steal: the host sends litecd to another \
                 host, which does not get its token";
    check(&json!({"name": "away", "pull": pull, "routes": routes, "requests": requests, "error": error}))
        .await
        .unwrap();
    let plugin = json!({"set": "s", "base_url": "{{server}}", "parameters": {}});
    let routes = json!({"*": {"status": 400, "body": {"message": format!("bad token {TOKEN}")}}});
    let requests = json!([format!(
        "POST /api/v1/getparams.execute\nAuthorization: Bearer {TOKEN}\nContent-Type: application/json\n\n\
         {{\"applicationSetName\":\"s\",\"input\":{{}}}}"
    )]);
    let error = "error get api 's': API error with status code 400: bad token ******";
    check(&json!({"name": "echo", "plugin": plugin, "routes": routes, "requests": requests, "error": error}))
        .await
        .unwrap();
}

#[test]
fn pull_requests_are_kept_by_any_filter() {
    let filter = |map: Value| serde_json::from_value(map).unwrap();
    let found = |branch: &str, title: &str| PullRequest {
        branch: branch.to_owned(),
        target_branch: "main".to_owned(),
        title: title.to_owned(),
        ..PullRequest::default()
    };
    let all = || vec![found("feat-1", "Add"), found("fix-1", "Mend"), found("docs", "Say")];
    let check = |filters: &[Value], expect: &[&str]| {
        let filters: Vec<_> = filters.iter().cloned().map(filter).collect();
        let kept = super::keep_pull_requests(&super::PullFilters::new(&filters).unwrap(), all()).unwrap();
        assert_eq!(kept.iter().map(|pull| pull.branch.as_str()).collect::<Vec<_>>(), expect);
    };
    check(&[], &["feat-1", "fix-1", "docs"]);
    check(&[json!({"branchMatch": "-1$", "titleMatch": "^A"}), json!({"titleMatch": "Say"})], &["feat-1", "docs"]);
    check(&[json!({"targetBranchMatch": "dev"})], &[]);
    let wrong = super::PullFilters::new(&[filter(json!({"titleMatch": "("}))]).err().unwrap();
    assert_eq!(wrong, "error compiling TitleMatch regexp \"(\": error parsing regexp: missing closing ): `(`");
    let empty: Map<String, Value> = Map::new();
    assert!(super::PullFilters::new(&[filter(Value::Object(empty))]).is_ok());
}
