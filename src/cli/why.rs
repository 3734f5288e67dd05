//! `litecd why`: why an Application is what it is, and what comes next.

use std::process::ExitCode;

use anyhow::bail;

use super::explain::{Place, look};
use crate::{controller, explain};

/// What stands below the flags in the help.
const MORE: &str = "\
Exit codes:
  0  answered
  1  the Application has no object of that name
  2  it could not be found out

Example:
  litecd why shop Deployment/web";

/// Says why an Application is out of sync or unhealthy, and what holds its next sync: which fields differ, who owns
/// the live ones and since when, which ignore rule matches, and which window, failed attempt, hook, wave or missing
/// kind is in the way.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// One object, also when it is in sync: NAME, KIND/NAME, NAMESPACE/NAME or GROUP/KIND/NAMESPACE/NAME.
    resource: Option<String>,
    /// Output format: text or json.
    #[arg(long, short, default_value = "text")]
    output: String,
}

/// Exit code when no object has the wanted name.
const NO_SUCH_OBJECT: u8 = 1;

/// Runs `litecd why`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !matches!(args.output.as_str(), "text" | "json") {
        bail!("unknown output format {:?}: use text or json", args.output);
    }
    let facts = look(args.place)?;
    let report = explain::why(&facts, args.resource.as_deref(), &controller::jq_timer());
    match args.output.as_str() {
        "json" => super::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?,
        _ => super::print(&report.text())?,
    }
    let Some(wanted) = args.resource.filter(|_| report.objects.is_empty()) else { return Ok(ExitCode::SUCCESS) };
    eprintln!("litecd: none of the {} objects of the Application is called {wanted:?}", report.compared);
    Ok(ExitCode::from(NO_SUCH_OBJECT))
}
