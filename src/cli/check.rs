//! `litecd check`: walks files and prints which features they use.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::check::{ParseProblem, Report, scan};

/// Says which Argo CD features a repository uses, where, and whether this build supports them.
///
/// Exit code 0: all supported; 1: something is not, or only in part; 2: input could not be read.
#[derive(clap::Args)]
pub struct Args {
    /// File or folder to walk, `-` for standard input; may be given several times.
    #[arg(long = "file", short = 'f', required = true)]
    files: Vec<PathBuf>,
    /// Output format: table or json.
    #[arg(long, short, default_value = "table")]
    output: String,
}

/// Files larger than this are no manifests.
const LARGEST: u64 = 32 << 20;

/// Runs `litecd check`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !matches!(args.output.as_str(), "table" | "json") {
        anyhow::bail!("unknown output format {:?}: use table or json", args.output);
    }
    let mut report = Report::default();
    for path in &args.files {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            report.add(scan("<stdin>", &text));
        } else {
            let meta = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            if meta.is_dir() { walk(path, &mut report)? } else { add(path, &mut report) }
        }
    }
    match args.output.as_str() {
        "json" => super::print(&format!("{}\n", serde_json::to_string_pretty(&report.to_json())?))?,
        _ => super::print(&report.to_table())?,
    }
    Ok(ExitCode::from(report.exit_code()))
}

/// Walks in the order of names; folders that hold no manifests by convention are left out.
fn walk(dir: &Path, report: &mut Report) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths: Vec<PathBuf> =
        entries.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A link may lead out of the repository or around in a circle; what it leads to is walked under its own name.
        let kind = std::fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() {
            if name != ".git" && name != "node_modules" {
                walk(&path, report)?;
            }
        } else if kind.is_file() && kind.len() <= LARGEST && is_manifest(&path) {
            add(&path, report);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|text| matches!(text, "yaml" | "yml" | "json"))
}

fn add(path: &Path, report: &mut Report) {
    let file = path.display().to_string();
    report.add(match std::fs::read(path) {
        Ok(bytes) => scan(&file, &String::from_utf8_lossy(&bytes)),
        // One file that cannot be read must not hide what the others hold.
        Err(error) => Err(ParseProblem { file, line: 1, message: format!("cannot be read: {error}") }),
    });
}
