//! Git hosts and other servers on the loopback interface, from the Go module `corpus/servers`.
//!
//! In:  the kind of a server and its configuration.  Out: what it announced, such as its URL; it ends when dropped.
//! Invariant: a configuration holds credentials and is therefore written to the server's stdin, not to its command line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::tools;

/// A running server.
#[derive(Debug)]
pub struct Loopback {
    child: Child,
    /// What clients must know.
    pub says: Value,
}

impl Loopback {
    /// Starts a server of a kind; `servers` without arguments lists the kinds.
    pub fn start(kind: &str, config: &Value) -> Result<Self> {
        let mut child = Command::new(tools::servers()?)
            .arg(kind)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the test servers")?;
        let mut input = child.stdin.take().context("no stdin")?;
        writeln!(input, "{config}")?;
        // The server runs as long as its stdin is open.
        child.stdin = Some(input);
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line)?;
        if line.is_empty() {
            bail!("the test server {kind} did not start");
        }
        Ok(Self { child, says: serde_json::from_str(&line)? })
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A text of the announcement.
    pub fn say(&self, pointer: &str) -> &str {
        self.says.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
