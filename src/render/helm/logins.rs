//! Helm's own configuration for one build of dependencies.
//!
//! In:  the repositories that the dependencies come from.
//! Out: files that helm reads credentials from, as `helm repo add` and `helm registry login` would have written them.
//! Invariant: credentials stand in files of a folder that only litecd reads, in memory where there is such a place; never in
//! arguments or in the environment. The folder goes with the build.
//! Source: REND-140, REND-142 (Helm `pkg/repo/v1/repo.go`, `pkg/registry`).

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use serde_json::{Map, Value, json};

use crate::charts::{ChartAccess, host_of_registry};
use crate::process::Command;

/// The files of one build.
pub struct Logins {
    folder: tempfile::TempDir,
    repositories: Vec<Value>,
    registries: Map<String, Value>,
    hidden: Vec<(String, String)>,
}

impl Logins {
    /// No files yet.
    pub fn new(private: &Path) -> io::Result<Self> {
        // Folders made this way are their owner's alone.
        let folder = tempfile::Builder::new().prefix("helm-logins-").tempdir_in(private)?;
        Ok(Self { folder, repositories: Vec::new(), registries: Map::new(), hidden: Vec::new() })
    }

    /// A registry with its user and password.
    pub fn add_registry(&mut self, access: &ChartAccess) {
        let pair = format!("{}:{}", access.username, access.password);
        let auth = base64::engine::general_purpose::STANDARD.encode(pair);
        self.hide(&[&access.password, &auth]);
        self.registries.insert(host_of_registry(&access.url).to_owned(), json!({"auth": auth}));
    }

    /// A chart repository under a name; the first one of a name stays.
    pub fn add_repository(&mut self, name: &str, access: &ChartAccess, pass_credentials: bool) -> io::Result<()> {
        if self.repositories.iter().any(|known| known["name"] == name) {
            return Ok(());
        }
        let trust = &access.route.trust;
        let number = self.repositories.len();
        let file = |kind: &str, text: &str| match text {
            "" => Ok(String::new()),
            text => self.write(&format!("{number}-{kind}.pem"), text.as_bytes()).map(|path| path.display().to_string()),
        };
        let entry = json!({
            "name": name,
            "url": access.url,
            "username": access.username,
            "password": access.password,
            "caFile": file("authorities", &trust.authorities)?,
            "certFile": file("certificate", &trust.certificate)?,
            "keyFile": file("key", &trust.key)?,
            "insecure_skip_tls_verify": trust.insecure,
            "pass_credentials_all": pass_credentials,
        });
        self.hide(&[&access.password]);
        self.repositories.push(entry);
        Ok(())
    }

    /// The command with the files, which are written now.
    pub fn give_to(&self, command: Command) -> io::Result<Command> {
        let repositories = json!({"apiVersion": "", "repositories": self.repositories});
        let repositories = self.write("repositories.yaml", repositories.to_string().as_bytes())?;
        let registries = self.write("registries.json", json!({"auths": self.registries}).to_string().as_bytes())?;
        Ok(command
            .env("HELM_REPOSITORY_CONFIG", repositories)
            .env("HELM_REGISTRY_CONFIG", registries)
            .hiding(self.hidden.clone()))
    }

    /// Where the files are; errors must not show it, because it is another one each time.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn hide(&mut self, secrets: &[&str]) {
        // Hiding a very short text would show where it stood in every word that holds it.
        let secrets = secrets.iter().filter(|secret| secret.len() >= 4);
        self.hidden.extend(secrets.map(|secret| ((*secret).to_owned(), "******".to_owned())));
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.folder.path().join(name);
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).open(&path)?.write_all(bytes)?;
        Ok(path)
    }
}
