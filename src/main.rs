//! The `litecd` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    litecd::telemetry::memory::limit_arenas();
    litecd::cli::run()
}
