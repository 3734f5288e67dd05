//! `litecd check`: walks files and prints which features they use.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::files::Walk;
use crate::check::{Problem, ProblemKind, Report, scan};

/// What stands below the flags in the help.
const MORE: &str = "\
Folders are walked for .yaml, .yml and .json files. Found are Applications, AppProjects and
ApplicationSets, argocd-cm, argocd-cmd-params-cm, argocd-secret, Argo CD's labelled Secrets, and
Argo CD's and Helm's annotations on any object.

SUPPORT is yes, partial (the line below the table says what is missing), no, or other: that is the
work of another of Argo CD's programs, such as its API server, which goes on doing it beside litecd.

Exit codes:
  0  all that was found is supported or other, or nothing of Argo CD was found
  1  something is not supported, or only in part
  2  a file or a setting cannot be read, the API server would refuse an object, or the command line
     is wrong

Examples:
  litecd check -f .
  litecd check -f apps -f settings.yaml        the same as -f apps settings.yaml
  kubectl get applications,appprojects,applicationsets -A -o yaml | litecd check -f -
  litecd check -f . -o json | jq '.features[] | select(.support != \"yes\")'";

/// Says which Argo CD features a repository uses, where, and whether this build supports them.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// Files or folders to walk, `-` for standard input; may be given several times.
    #[arg(long = "file", short = 'f', required = true, num_args = 1.., value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For scripts.
    Json,
}

/// Runs `litecd check`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    for path in &args.files {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            report.add(scan("<stdin>", &text));
        } else {
            let meta = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            let walk = if meta.is_dir() { Walk::below(path)? } else { Walk { files: vec![path.clone()], skipped: 0 } };
            walk.files.iter().for_each(|file| add(file, &mut report));
            report.skipped += walk.skipped;
        }
    }
    match args.output {
        Format::Json => super::print(&format!("{}\n", serde_json::to_string_pretty(&report.to_json())?))?,
        Format::Table => super::print(&report.to_table())?,
    }
    Ok(ExitCode::from(report.exit_code()))
}

fn add(path: &Path, report: &mut Report) {
    let file = path.display().to_string();
    report.add(match std::fs::read(path) {
        Ok(bytes) => scan(&file, &String::from_utf8_lossy(&bytes)),
        // One file that cannot be read must not hide what the others hold.
        Err(error) => {
            Err(Problem { file, line: 1, message: format!("cannot be read: {error}"), kind: ProblemKind::Unreadable })
        }
    });
}
