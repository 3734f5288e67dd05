//! `litecd crds`.

use std::process::ExitCode;

/// What stands below the flags in the help.
const MORE: &str = "\
Exit codes:
  0  printed
  2  the command line is wrong

Example:
  litecd crds | kubectl apply --server-side -f -";

/// Prints the CustomResourceDefinitions of Application, AppProject and ApplicationSet, to be applied server-side.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// Output format: yaml or json.
    #[arg(long, short, default_value = "yaml")]
    output: String,
}

/// Runs `litecd crds`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let crds = crate::api::crds();
    match args.output.as_str() {
        "yaml" => {
            for crd in crds {
                super::print(&format!("---\n{}", serde_yaml::to_string(&crd)?))?;
            }
        }
        "json" => {
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": crds});
            super::print(&format!("{}\n", serde_json::to_string(&list)?))?;
        }
        other => anyhow::bail!("unknown output format {other:?}: use yaml or json"),
    }
    Ok(ExitCode::SUCCESS)
}
