//! Large files that stand beside their repository.
//!
//! Git finds `git-lfs` on `PATH`, which is a process's own; so the work is done in a child process.

use std::fs;
use std::path::Path;

use corpus::tools;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::bench::{Bench, access, in_child};

/// Set in the child.
const INSIDE: &str = "LITECD_LFS";

const LOGIN: [(&str, &str); 2] = [("username", "alice"), ("password", "wonder")];

#[test]
fn the_content_of_large_files_is_checked_out() {
    let child = in_child("lfs::work_with_git_lfs", &tools::git_lfs().unwrap(), &[(INSIDE, Path::new("yes"))]);
    let said = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    assert!(said.contains("large files were checked out"), "{said}");
}

/// Does nothing unless [`the_content_of_large_files_is_checked_out`] starts it.
#[tokio::test]
async fn work_with_git_lfs() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let bench = Bench::new();
    let content = "kind: ConfigMap\nmetadata: {name: large}\n";
    let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let size = content.len();
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n");
    bench.repository("big", &[("cm.yaml", ""), ("dir/large.yaml", &pointer)]);
    fs::create_dir_all(bench.root().join("big.lfs")).unwrap();
    fs::write(bench.root().join("big.lfs").join(&digest), content).unwrap();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder"}));
    let url = format!("{}/big.git", server.say("/url"));
    let store = bench.store();
    let read = async |keys: &[(&str, &str)]| {
        let repo = access(&url, keys);
        let sha = store.fetch(&repo, &store.resolve(&repo, "main").await.unwrap()).await.unwrap();
        let checkout = store.checkout(&repo, &sha).await?;
        Ok::<_, litecd::repo::Error>(fs::read_to_string(checkout.root.join("dir/large.yaml")).unwrap())
    };
    assert_eq!(read(&LOGIN).await.as_ref(), Ok(&pointer), "pointers stay where nobody asks for large files");
    let enabled = [&LOGIN[..], &[("enableLfs", "true")]].concat();
    assert_eq!(read(&enabled).await.as_deref(), Ok(content));
    fs::remove_dir_all(bench.root().join("big.lfs")).unwrap();
    fs::remove_dir_all(bench.path("cache")).unwrap();
    let store = bench.store();
    let repo = access(&url, &enabled);
    let sha = store.fetch(&repo, &store.resolve(&repo, "main").await.unwrap()).await.unwrap();
    let error = store.checkout(&repo, &sha).await.unwrap_err().to_string();
    let expect = format!("Failed to fetch default: `git lfs fetch origin {sha}` failed exit status 2: ");
    assert!(error.contains(&expect), "a pointer is no content: {error}");
    println!("large files were checked out");
}
