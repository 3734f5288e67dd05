//! Renders a kustomization in the repository with `kustomize build`.
//!
//! In:  the kustomization's directory and the source's Kustomize options.
//! Out: the text that kustomize printed.
//! Invariant: options edit a private copy, so renders of one commit never see each other's edits; no local path of a
//! kustomization leads out of the checkout.
//! Source: REND-148 to REND-160 (`util/kustomize/kustomize.go`).

mod confine;
mod edit;
mod patches;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::build_env::BuildEnv;
use super::workspace::Workspace;
use super::{Error, Request, SHOWN_FOLDER, SHOWN_ROOT, kube_version};
use crate::process::Command;

/// Edits the kustomization as the source asks, and builds it.
pub async fn build(request: &Request, app: &Path, env: &BuildEnv) -> Result<String, Error> {
    let binary = binary(request)?;
    let kube_version = kube_version::of(request)?;
    let options = request.source.kustomize.as_ref();
    let tool = Tool { request, binary, env };
    // Charts that kustomize pulls are written beside the kustomization.
    let writes = options.is_some_and(|options| *options != Default::default()) || tool.pulls_charts();
    if !writes {
        return tool.build(&request.root, app, &kube_version).await;
    }
    let (root, own, scratch) = (request.root.clone(), app.to_owned(), request.scratch.clone());
    let copy = tokio::task::spawn_blocking(move || Workspace::copy(&root, &own, &scratch)).await;
    let copy = copy.map_err(|error| Error::Failed(error.to_string()))??;
    let in_copy = async {
        if let Some(options) = options {
            edit::apply(&tool, &copy, options).await?;
        }
        tool.build(copy.root(), copy.app(), &kube_version).await
    };
    in_copy.await.map_err(|error| error.replacing(&copy.root().to_string_lossy(), SHOWN_ROOT))
}

/// The binary of the version that the source asks for.
fn binary(request: &Request) -> Result<String, Error> {
    let version = request.source.kustomize.as_ref().map(|kustomize| kustomize.version.as_str()).unwrap_or_default();
    if version.is_empty() {
        return Ok("kustomize".to_owned());
    }
    request.kustomize.binaries.get(version).cloned().ok_or_else(|| {
        Error::Failed(format!("error getting kustomize binary path: kustomize version {version} is not registered"))
    })
}

/// How kustomize is run for one request.
struct Tool<'a> {
    request: &'a Request,
    binary: String,
    env: &'a BuildEnv,
}

impl Tool<'_> {
    fn pulls_charts(&self) -> bool {
        self.request.kustomize.build_options.contains("--enable-helm")
    }

    /// A child that sees neither the build environment nor credentials.
    fn plain(&self, dir: &Path) -> Command {
        Command::new(&self.binary).dir(dir).limits(self.request.limits)
    }

    /// A child that sees both.
    fn full(&self, dir: &Path) -> Command {
        let command = self.env.iter().fold(self.plain(dir), |command, (name, value)| command.env(name, value));
        match &self.request.git_environment {
            Some(git) => git.give(command),
            None => command,
        }
    }

    async fn build(&self, root: &Path, app: &Path, kube_version: &str) -> Result<String, Error> {
        let (checked_root, checked_app) = (root.to_owned(), app.to_owned());
        let check = tokio::task::spawn_blocking(move || confine::check(&checked_root, &checked_app)).await;
        check.map_err(|error| Error::Failed(error.to_string()))??;
        let mut command = self.full(root).arg("build").arg(app);
        command = command.args(self.request.kustomize.build_options.split_whitespace());
        if self.pulls_charts() {
            if !kube_version.is_empty() {
                command = command.args(["--helm-kube-version", kube_version]);
            }
            for version in kube_version::api_versions(self.request) {
                command = command.args(["--helm-api-versions", version]);
            }
        }
        let output = command.run().await.map_err(|error| Error::Failed(without_clones(&error.to_string())))?;
        String::from_utf8(output).map_err(|_| Error::Failed("kustomize build printed no UTF-8 text".to_owned()))
    }
}

/// Replaces the random folders that kustomize clones remote bases into, so that the same failure reads the same each time.
fn without_clones(text: &str) -> String {
    const NAME: &str = "/kustomize-";
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(NAME) {
        let next = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "/._-".contains(c)));
        let start = start.and_then(|at| before.get(at..)?.chars().next().map(|c| at + c.len_utf8())).unwrap_or(0);
        let is_clone = next.len() < after.len() && before.get(start..).is_some_and(|path| path.starts_with('/'));
        match before.get(..start) {
            Some(words) if is_clone => out.extend([words, SHOWN_FOLDER]),
            _ => out.extend([before, NAME, after.strip_suffix(next).unwrap_or_default()]),
        }
        rest = next;
    }
    out + rest
}
