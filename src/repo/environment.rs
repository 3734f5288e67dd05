//! What a git child needs to reach a repository.
//!
//! In:  a repository, the login for it, and a folder that nobody else can read.
//! Out: environment variables, and files that live as long as the value.
//! Invariant: a credential is never an argument. Passwords travel in the environment, and through a credential helper that
//! prints them from there; keys stand in files of mode 0600 that are gone when the child is. All of it is for the
//! repository's own host.
//! Source: REND-040, REND-041, REND-057 to REND-062 (`util/git/creds.go`, `util/proxy/proxy.go`).

use std::fmt;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::access::RepoAccess;
use super::authority::Authority;
use super::login::{Https, Login};
use crate::process::Command;

/// What the child is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Listing references: logs in without being asked, as the library does that Argo CD lists with.
    Listing,
    /// Fetching, or a tool that runs git by itself.
    Fetching,
}

/// The environment of a child; its files are removed with it.
pub struct Environment {
    variables: Vec<(String, String)>,
    /// Texts that errors and logs must not show, each with what they show instead.
    hidden: Vec<(String, String)>,
    files: Files,
}

/// Git asks the helper for a login when the server wants one; `printf` is part of the shell, so nothing becomes an argument.
const HELPER: &str = "!f() { test \"$1\" = get && \
    printf 'username=%s\\npassword=%s\\n' \"$LITECD_GIT_USERNAME\" \"$LITECD_GIT_PASSWORD\"; }; f";

impl Environment {
    /// The environment for one child.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn new(
        repo: &RepoAccess,
        login: &Login,
        (private, purpose): (&Path, Purpose),
        settings: &[(String, String)],
    ) -> io::Result<Self> {
        let mut this = Self {
            variables: vec![("GIT_TERMINAL_PROMPT".to_owned(), "false".to_owned())],
            hidden: repo.hidden(login),
            files: Files { private: private.to_owned(), dir: None },
        };
        let mut settings = settings.to_vec();
        if let Some(authority) = repo.authority() {
            if authority.is_http() {
                this.http(repo, &authority, &mut settings)?;
                if let Login::Https(https) = login {
                    this.log_in(https, &authority, purpose, &mut settings);
                }
            }
            if authority.is_ssh() {
                let command = this.ssh_command(repo, login)?;
                this.set("GIT_SSH_COMMAND", command);
            }
        }
        this.proxy(repo);
        this.configure(&settings);
        if let Some(dir) = &this.files.dir {
            // Its name is another one each time, and a condition must not be.
            this.hidden.push((dir.path().to_string_lossy().into_owned(), "<credentials>".to_owned()));
        }
        Ok(this)
    }

    /// The command with these variables. The value must live as long as the child.
    pub fn give(&self, command: Command) -> Command {
        let variables = self.variables.iter();
        let command = variables.fold(command, |command, (name, value)| command.env(name, value));
        command.hiding(self.hidden.clone())
    }

    /// An environment of just these variables.
    #[cfg(test)]
    pub fn of(variables: Vec<(String, String)>) -> Self {
        Self { variables, hidden: Vec::new(), files: Files { private: std::path::PathBuf::new(), dir: None } }
    }

    /// A variable's value.
    #[cfg(test)]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a setting of git.
    #[cfg(test)]
    pub fn setting(&self, key: &str) -> Option<&str> {
        let (name, _) = self.variables.iter().find(|(name, value)| name.contains("_KEY_") && value == key)?;
        self.variable(&name.replace("_KEY_", "_VALUE_"))
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// Certificates.
    fn http(
        &mut self,
        repo: &RepoAccess,
        authority: &Authority,
        settings: &mut Vec<(String, String)>,
    ) -> io::Result<()> {
        let key = |name: &str| format!("http.{}/.{name}", authority.origin());
        if repo.insecure {
            self.set("GIT_SSL_NO_VERIFY", "true");
        } else if let Some(pem) = repo.trust.certificates_of(&authority.host) {
            settings.push((key("sslCAInfo"), self.files.write("ca.crt", pem)?));
            // Some builds of curl look into the system's folder as well.
            settings.push((key("sslCAPath"), self.files.empty_folder()?));
        }
        if let Some((certificate, private_key)) = &repo.client_certificate {
            settings.push((key("sslCert"), self.files.write("client.crt", certificate)?));
            settings.push((key("sslKey"), self.files.write("client.key", private_key)?));
        }
        Ok(())
    }

    /// A password or token.
    fn log_in(&mut self, https: &Https, at: &Authority, purpose: Purpose, settings: &mut Vec<(String, String)>) {
        let header = match purpose {
            Purpose::Listing => https.listing_header(),
            Purpose::Fetching => https.fetch_header(),
        };
        settings.extend(header.map(|header| (format!("http.{}/.extraHeader", at.origin()), header)));
        // Helpers of the machine would be asked first, and told what was refused.
        settings.push(("credential.helper".to_owned(), String::new()));
        settings.push((format!("credential.{}.helper", at.origin()), HELPER.to_owned()));
        self.set("LITECD_GIT_USERNAME", &https.username);
        self.set("LITECD_GIT_PASSWORD", &https.password);
    }

    /// The ssh that git starts: with this key only, and only where the host's key is known.
    fn ssh_command(&mut self, repo: &RepoAccess, login: &Login) -> io::Result<String> {
        let mut words = vec!["ssh".to_owned()];
        if let Login::Ssh { key } = login {
            let file = self.files.write("id", &format!("{key}\n"))?;
            words.extend(["-i".to_owned(), quoted(&file), "-o".to_owned(), "IdentitiesOnly=yes".to_owned()]);
        }
        let known = if repo.insecure { "/dev/null".to_owned() } else { self.known_hosts(repo)? };
        let checking = if repo.insecure { "no" } else { "yes" };
        for option in [
            format!("StrictHostKeyChecking={checking}"),
            format!("UserKnownHostsFile=\"{known}\""),
            "GlobalKnownHostsFile=/dev/null".to_owned(),
            "BatchMode=yes".to_owned(),
        ] {
            words.extend(["-o".to_owned(), quoted(&option)]);
        }
        if let Some(proxy) = Authority::of(&repo.proxy.0) {
            let command = format!("ProxyCommand=connect-proxy -S {} -5 %h %p", proxy.place());
            words.extend(["-o".to_owned(), quoted(&command)]);
            if !proxy.user.is_empty() {
                self.set("SOCKS5_USER", proxy.user);
            }
            if let Some(password) = proxy.password {
                self.set("SOCKS5_PASSWD", password);
            }
        }
        Ok(words.join(" "))
    }

    fn known_hosts(&mut self, repo: &RepoAccess) -> io::Result<String> {
        self.files.write("known_hosts", &format!("{}\n", repo.trust.known_hosts()))
    }

    /// The repository's proxy in place of the process's. Both spellings are set, because curl falls back from one to the other.
    fn proxy(&mut self, repo: &RepoAccess) {
        let (proxy, without) = &repo.proxy;
        if proxy.is_empty() {
            return;
        }
        for (name, value) in [("http_proxy", proxy), ("https_proxy", proxy), ("no_proxy", without)] {
            self.set(name, value);
            self.set(&name.to_uppercase(), value);
        }
    }

    /// Git's settings, which it reads from numbered variables.
    fn configure(&mut self, settings: &[(String, String)]) {
        self.set("GIT_CONFIG_COUNT", settings.len().to_string());
        for (index, (key, value)) in settings.iter().enumerate() {
            self.set(&format!("GIT_CONFIG_KEY_{index}"), key);
            self.set(&format!("GIT_CONFIG_VALUE_{index}"), value);
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.variables.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

/// A word of a shell command.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Only this user may list a folder and what is in it.
fn own() -> Permissions {
    Permissions::from_mode(0o700)
}

/// Files of one child, in a folder that is made when the first is needed.
struct Files {
    private: PathBuf,
    dir: Option<tempfile::TempDir>,
}

impl Files {
    fn dir(&mut self) -> io::Result<&Path> {
        let dir = match self.dir.take() {
            Some(dir) => dir,
            None => tempfile::Builder::new().prefix("git-").permissions(own()).tempdir_in(&self.private)?,
        };
        Ok(self.dir.insert(dir).path())
    }

    /// Writes a file that only this user can read, and returns its path.
    fn write(&mut self, name: &str, text: &str) -> io::Result<String> {
        let path = self.dir()?.join(name);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(text.as_bytes())?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn empty_folder(&mut self) -> io::Result<String> {
        let path = self.dir()?.join("none");
        std::fs::create_dir(&path)?;
        Ok(path.to_string_lossy().into_owned())
    }
}
