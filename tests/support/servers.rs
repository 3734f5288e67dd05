//! Servers on the loopback interface that stand in for git hosts, registries and proxies.
//!
//! In:  the program of `corpus/servers`, which `LITECD_TEST_BIN` may hold, else built with Go.
//! Out: a running server; it ends with its value.
//! Invariant: configurations go to its stdin, so that a search of all arguments finds no password that a test put there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A running server.
pub struct Server {
    child: Child,
    /// What clients must know.
    pub announced: Value,
}

impl Server {
    /// Starts a server of some kind; `None` where there is neither the program nor Go to build it.
    pub fn start(kind: &str, config: &Value) -> Option<Self> {
        let program = program()?;
        let mut command = Command::new(program);
        command.arg(kind).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        writeln!(child.stdin.as_mut().expect("stdin"), "{config}").expect("the server reads");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("stdout")).read_line(&mut line).expect("the server speaks");
        let announced = serde_json::from_str(&line).expect("the server announces itself");
        Some(Self { child, announced })
    }

    /// A text of the announcement.
    pub fn text(&self, key: &str) -> &str {
        self.announced[key].as_str().unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its stdin; waiting leaves no zombie.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(find_or_build).as_deref()
}

fn find_or_build() -> Option<PathBuf> {
    let given = std::env::var_os("LITECD_TEST_BIN").map(|dir| Path::new(&dir).join("servers"));
    if let Some(given) = given.filter(|path| path.is_file()) {
        return Some(given);
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/servers");
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers");
    let status = Command::new("go").args(["build", "-o"]).arg(&built).arg(".").current_dir(source).status();
    match status {
        Ok(status) => {
            assert!(status.success(), "corpus/servers builds");
            Some(built)
        }
        Err(_) => {
            eprintln!("not run: there is no Go to build the test servers with");
            None
        }
    }
}
