//! Which tools render sources, and how.
//!
//! In:  keys `*.enable`, `kustomize.*`, `helm.valuesFileSchemes`.
//! Out: enabled tools and their options.
//! Source: APP-285 to APP-287 (`util/settings/settings.go`).

use std::collections::BTreeMap;

use super::Error;

/// Which tools render sources, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Whether Helm charts are rendered with Helm.
    pub helm_enabled: bool,
    /// Whether kustomizations are built.
    pub kustomize_enabled: bool,
    /// Whether Jsonnet files of directories are evaluated.
    pub jsonnet_enabled: bool,
    /// Schemes that value files may be fetched by; none when empty.
    pub helm_values_file_schemes: Vec<String>,
    /// Options of Kustomize.
    pub kustomize: KustomizeOptions,
}

/// Options of Kustomize.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KustomizeOptions {
    /// Options of the bundled version, separated by spaces.
    pub build_options: String,
    /// Further versions by name.
    pub versions: BTreeMap<String, KustomizeVersion>,
}

/// A further version of Kustomize.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KustomizeVersion {
    /// Path of its binary.
    pub path: String,
    /// Its own options; they replace those of the bundled version when not empty.
    pub build_options: String,
}

impl Tools {
    pub(super) fn read(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        // Absent and empty mean yes, and of the other texts only `true` does.
        let enabled = |key: &str| data.get(key).is_none_or(|text| text.is_empty() || text == "true");
        let schemes = data.get("helm.valuesFileSchemes").map_or("https,http", String::as_str);
        Ok(Self {
            helm_enabled: enabled("helm.enable"),
            kustomize_enabled: enabled("kustomize.enable"),
            jsonnet_enabled: enabled("jsonnet.enable"),
            helm_values_file_schemes: schemes
                .split(',')
                .map(str::trim)
                .filter(|scheme| !scheme.is_empty())
                .map(str::to_owned)
                .collect(),
            kustomize: KustomizeOptions::read(data)?,
        })
    }
}

impl KustomizeOptions {
    fn read(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        const BUILD_OPTIONS: &str = "kustomize.buildOptions";
        let mut versions: BTreeMap<String, KustomizeVersion> = BTreeMap::new();
        for (key, path) in data {
            let Some(rest) = ["kustomize.version", "kustomize.path"].iter().find_map(|prefix| key.strip_prefix(prefix))
            else {
                continue;
            };
            let wrong = |problem: String| Error::KustomizeVersion { key: key.clone(), problem };
            // The letter behind the prefix is a dot in every documented key; Argo CD does not look at it.
            let mut letters = rest.chars();
            letters.next().ok_or_else(|| wrong("no version in the key".to_owned()))?;
            let name = letters.as_str().to_owned();
            let version = KustomizeVersion { path: path.clone(), build_options: String::new() };
            if versions.insert(name.clone(), version).is_some() {
                return Err(wrong(format!("found duplicate kustomize version: {name}")));
            }
        }
        for (name, version) in &mut versions {
            if let Some(options) = data.get(&format!("{BUILD_OPTIONS}.{name}")) {
                version.build_options.clone_from(options);
            }
        }
        Ok(Self { build_options: data.get(BUILD_OPTIONS).cloned().unwrap_or_default(), versions })
    }
}
