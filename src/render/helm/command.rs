//! The helm children.
//!
//! In:  what goes on the command line.
//! Out: helm's stdout, or its failure as Argo CD words it.
//! Invariant: each render has a home of its own for helm, which is removed with it.
//! Source: REND-114, REND-123, REND-134, REND-144 (`util/helm/cmd.go`).

use std::path::Path;

use crate::process::{Command, Limits};
use crate::render::Error;

/// What `helm template` is run with.
#[derive(Debug, Clone, Default)]
pub struct Template {
    /// Release name.
    pub release: String,
    /// Namespace, empty for none.
    pub namespace: String,
    /// Kubernetes version, empty for none.
    pub kube_version: String,
    /// `--set`.
    pub set: Vec<(String, String)>,
    /// `--set-string`.
    pub set_string: Vec<(String, String)>,
    /// `--set-file`.
    pub set_file: Vec<(String, String)>,
    /// `--values`, files and URLs.
    pub values: Vec<String>,
    /// `--api-versions`.
    pub api_versions: Vec<String>,
    /// `--include-crds`.
    pub include_crds: bool,
    /// `--skip-schema-validation`.
    pub skip_schema_validation: bool,
    /// `--skip-tests`.
    pub skip_tests: bool,
}

impl Template {
    /// The command line.
    pub fn args(&self) -> Vec<String> {
        let mut args: Vec<String> = ["template", ".", "--name-template", &self.release].map(str::to_owned).to_vec();
        let mut flag = |name: &str, value: String| args.extend([name.to_owned(), value]);
        if !self.namespace.is_empty() {
            flag("--namespace", self.namespace.clone());
        }
        if !self.kube_version.is_empty() {
            flag("--kube-version", self.kube_version.clone());
        }
        for (name, group) in [("--set", &self.set), ("--set-string", &self.set_string), ("--set-file", &self.set_file)]
        {
            group.iter().for_each(|(key, value)| flag(name, format!("{key}={}", escape_commas(value))));
        }
        self.values.iter().for_each(|file| flag("--values", file.clone()));
        self.api_versions.iter().for_each(|version| flag("--api-versions", version.clone()));
        let switches = [
            (self.include_crds, "--include-crds"),
            (self.skip_schema_validation, "--skip-schema-validation"),
            (self.skip_tests, "--skip-tests"),
        ];
        args.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()));
        args
    }
}

/// A comma separates values for helm; one in a value is escaped, unless it is already or the value is a `{list}`.
pub fn escape_commas(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    let mut before = None;
    for c in value.chars() {
        if c == ',' && before != Some('\\') {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// Name of the file with the values of the spec, in the home.
const INLINE_VALUES: &str = "values.yaml";

/// Helm's configuration, cache and data for one render.
pub struct Home {
    dir: tempfile::TempDir,
    /// Proxy, and what is reached without it; the process's own when empty.
    proxy: (String, String),
}

impl Home {
    /// An empty home.
    pub fn new(scratch: &Path) -> Result<Self, Error> {
        let made = tempfile::Builder::new().prefix("helm-").tempdir_in(scratch);
        let made = made.map(|dir| Self { dir, proxy: Default::default() });
        made.map_err(|error| Error::Failed(format!("failed to create temporary directory for helm: {error}")))
    }

    /// The same home for children that reach servers through a proxy.
    pub fn through(self, proxy: &(String, String)) -> Self {
        Self { proxy: proxy.clone(), ..self }
    }

    /// Writes the values of the spec to a file and returns its path.
    pub fn write_values(&self, text: &str) -> Result<String, Error> {
        let path = self.dir.path().join(INLINE_VALUES);
        std::fs::write(&path, text)
            .map_err(|error| Error::Failed(format!("error writing helm values file: {error}")))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Replaces the random path of the home in an error, so that the same failure reads the same each time.
    pub fn hide(&self, error: Error) -> Error {
        let values = self.dir.path().join(INLINE_VALUES);
        let shown = "<temp file with values from source.helm.values/valuesObject>";
        error.replacing(&values.to_string_lossy(), shown).replacing(&self.dir.path().to_string_lossy(), "<helm home>")
    }

    /// A helm child in the chart's directory.
    pub fn helm(&self, chart: &Path, limits: Limits) -> Command {
        let folder = |name: &str| self.dir.path().join(name);
        let (proxy, without) = &self.proxy;
        let proxied = [("http", proxy), ("https", proxy), ("no", without)];
        // Both spellings: one of them may stand in the process's own environment.
        let spelled = proxied.iter().flat_map(|(name, value)| {
            [(format!("{name}_proxy"), *value), (format!("{}_PROXY", name.to_uppercase()), *value)]
        });
        let helm = spelled
            .filter(|_| !proxy.is_empty())
            .fold(Command::new("helm"), |command, (name, value)| command.env(name, value));
        helm.dir(chart)
            .limits(limits)
            .env("XDG_CACHE_HOME", folder("cache"))
            .env("XDG_CONFIG_HOME", folder("config"))
            .env("XDG_DATA_HOME", folder("data"))
            .env("HELM_CACHE_HOME", folder("cache"))
            .env("HELM_CONFIG_HOME", folder("config"))
            .env("HELM_DATA_HOME", folder("data"))
    }

    /// `helm template` in the chart's directory.
    pub async fn template(&self, template: &Template, chart: &Path, limits: Limits) -> Result<String, Error> {
        let output = self.helm(chart, limits).args(template.args()).run().await;
        let output = output.map_err(|error| {
            let text = without_api_versions(&format!("failed running helm: {error}"));
            Error::Failed(format!("failed to execute helm template command: {text}"))
        })?;
        String::from_utf8(output).map_err(|_| Error::Failed("helm template printed no UTF-8 text".to_owned()))
    }
}

/// Replaces each run of `--api-versions X `, which would fill a page.
pub fn without_api_versions(text: &str) -> String {
    const FLAG: &str = "--api-versions ";
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(FLAG) {
        out.push_str(before);
        match after.split_once(' ') {
            Some((version, next)) if !version.is_empty() => {
                if !next.starts_with(FLAG) {
                    out.push_str("<api versions removed> ");
                }
                rest = next;
            }
            _ => {
                out.push_str(FLAG);
                rest = after;
            }
        }
    }
    out + rest
}
