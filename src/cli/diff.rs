//! `litecd diff`: what a sync of an Application would change.

use std::io::IsTerminal;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::bail;

use super::explain::{Place, look};
use crate::explain::diff::{self, Room};

/// What stands below the flags in the help.
const MORE: &str = "\
Exit codes:
  0  in sync
  1  out of sync
  2  it could not be found out

Example:
  litecd diff team-a/shop --kubeconfig ~/.kube/prod";

/// Shows what differs between the cluster and the sources of an Application, as a unified diff.
///
/// The comparison is made anew, by the controller's own code; values of Secrets are masked.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// When to colour: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(long, default_value = "auto")]
    color: String,
}

/// Runs `litecd diff`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let coloured = match args.color.as_str() {
        "auto" => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        "always" => true,
        "never" => false,
        other => bail!("unknown colour setting {other:?}: use auto, always or never"),
    };
    let facts = look(args.place)?;
    if !matches!(facts.status.status.as_str(), "Synced" | "OutOfSync") {
        let errors = facts.conditions.iter().filter(|condition| condition.is_error());
        let errors: Vec<String> =
            errors.map(|condition| format!("{}: {}", condition.r#type, condition.message)).collect();
        bail!("the Application cannot be compared: {}", errors.join("; "));
    }
    let input = diff::Input {
        app: &facts.app,
        status: &facts.status,
        resources: &facts.resources,
        differences: &facts.differences,
        pairs: &facts.paired.pairs,
        hidden: &facts.hidden,
    };
    let text = diff::of(&input, Room::ENDLESS).text;
    super::print(&if coloured { colour(&text) } else { text })?;
    Ok(ExitCode::from(u8::from(facts.status.status == "OutOfSync")))
}

fn colour(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let style = style(line);
        out.push_str(&format!("{style}{line}{style:#}\n"));
    }
    out
}

fn style(line: &str) -> Style {
    let of = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match line.as_bytes() {
        [b'=', b'=', b'=', ..] => Style::new().bold(),
        [b'@', b'@', ..] => of(AnsiColor::Cyan),
        [b'+', ..] => of(AnsiColor::Green),
        [b'-', ..] => of(AnsiColor::Red),
        [b'#', ..] => Style::new().dimmed(),
        _ => Style::new(),
    }
}
