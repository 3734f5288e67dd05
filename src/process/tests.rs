//! Tests of this room.

use std::time::{Duration, Instant};

use super::{Command, Error, Limits, go_duration};

fn shell(script: &str) -> Command {
    Command::new("sh").args(["-c", script])
}

#[tokio::test]
async fn stdout_is_returned_without_its_last_newline() {
    assert_eq!(shell("printf 'a\\n\\n'").run().await, Ok(b"a\n".to_vec()));
}

#[tokio::test]
async fn failure_shows_command_status_and_stderr() {
    let error = shell("echo why >&2; exit 3").run().await.unwrap_err();
    assert_eq!(error.to_string(), "`sh -c echo why >&2; exit 3` failed exit status 3: why");
    let error = shell("exit 4").run().await.unwrap_err();
    assert_eq!(error.to_string(), "`sh -c exit 4` failed exit status 4");
    let error = shell("kill -9 $$").run().await.unwrap_err();
    assert_eq!(error.to_string(), "`sh -c kill -9 $$` failed signal: killed");
}

#[tokio::test]
async fn missing_program_reads_as_in_go() {
    let error = Command::new("no-such-tool").run().await.unwrap_err();
    assert_eq!(error.to_string(), "exec: \"no-such-tool\": executable file not found in $PATH");
}

#[tokio::test]
async fn timeout_ends_the_whole_group() {
    let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
    let started = Instant::now();
    // The grandchild keeps stdout open: without the group kill the pipe would stay open for 30 seconds.
    let error = shell("sleep 30 & sleep 30").limits(limits).run().await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(error.to_string(), "`sh -c sleep 30 & sleep 30` failed timeout after 300ms");
}

#[tokio::test]
async fn deaf_child_is_killed_after_the_grace_time() {
    let limits =
        Limits { timeout: Duration::from_millis(200), grace: Some(Duration::from_millis(200)), ..Limits::default() };
    let error = shell("trap '' TERM; while :; do sleep 0.05; done").limits(limits).run().await.unwrap_err();
    assert!(error.to_string().ends_with("failed fatal timeout after 400ms"), "{error}");
}

#[tokio::test]
async fn output_is_bounded() {
    let limits = Limits { max_output: 1000, ..Limits::default() };
    let error = shell("yes").limits(limits).run().await.unwrap_err();
    assert_eq!(error, Error::TooMuchOutput { command: "sh -c yes".to_owned(), limit: 1000 });
}

#[tokio::test]
async fn errors_without_end_are_bounded() {
    let started = Instant::now();
    let error = shell("yes >&2").run().await.unwrap_err();
    assert_eq!(error, Error::TooMuchOutput { command: "sh -c yes >&2".to_owned(), limit: 64 << 20 });
    assert!(started.elapsed() < Duration::from_secs(60), "before the time limit");
    let error = shell("yes | head -c 1000000 >&2; exit 3").run().await.unwrap_err();
    assert_eq!(error.stderr().len(), (64 << 10) - 1, "what is no more than much is cut, and trimmed");
}

#[tokio::test]
async fn dropped_command_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let script = format!("(sleep 1; touch {}) & wait", mark.display());
    let run = tokio::time::timeout(Duration::from_millis(200), async { shell(&script).run().await });
    assert!(run.await.is_err());
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert!(!mark.exists());
}

#[tokio::test]
async fn stdin_and_environment_reach_the_child() {
    let out = shell("cat; printf %s \"$WORD\"").stdin(b"in-".to_vec()).env("WORD", "env").run().await;
    assert_eq!(out, Ok(b"in-env".to_vec()));
}

#[test]
fn durations_read_as_in_go() {
    for (millis, expect) in [(90_000, "1m30s"), (500, "500ms"), (1500, "1.5s"), (3_600_000, "1h0m0s"), (0, "0s")] {
        assert_eq!(go_duration(Duration::from_millis(millis)), expect);
    }
}
