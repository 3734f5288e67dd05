//! `cargo xtask bench`: how much litecd adds to what helm and kustomize take by themselves.
//!
//! In:  a monorepo made for the occasion: half of the applications Helm charts, half kustomizations.
//! Out: wall-clock and processor times of `litecd render` and of the bare commands, both with the same number of renderings
//! at once, and how often git listed and fetched. Processor time is what a busy machine does not change.
//! Invariant: both sides run the same helm and kustomize on the same commit, in turns, so that a busy machine slows both.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use corpus::tools::{Need, Tools};

/// What is measured.
#[derive(Args)]
pub struct Options {
    /// Applications in the monorepo.
    #[arg(long, default_value_t = 200)]
    apps: usize,
    /// How often both sides run; the best of each counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Renderings at once [default: one per processor].
    #[arg(long)]
    jobs: Option<usize>,
    /// Largest factor that passes.
    #[arg(long, default_value_t = 1.2)]
    limit: f64,
    /// The litecd to measure [default: one that is built now].
    #[arg(long)]
    litecd: Option<PathBuf>,
}

const URL: &str = "https://git.example.com/monorepo.git";

/// One application: a Helm chart or a kustomization.
#[derive(Clone)]
struct App {
    name: String,
    is_helm: bool,
}

impl App {
    fn path(&self) -> String {
        format!("apps/{}", self.name)
    }
}

/// A folder with the monorepo and everything that a run needs.
struct Place {
    dir: PathBuf,
    apps: Vec<App>,
    tools: Tools,
    jobs: usize,
}

/// Measures; true when litecd stays within the limit.
pub fn run(options: &Options) -> Result<bool> {
    let tools = Tools::find_or_build(Need::Renderers, &mut |line| println!("{line}"))?;
    let litecd = match &options.litecd {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => {
            crate::cargo(&["build", "--bin", "litecd"], &[])?;
            corpus::target().join("debug/litecd")
        }
    };
    let dir = std::env::temp_dir().join(format!("litecd-bench-{}", std::process::id()));
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from).max(2));
    let app = |number: usize| App { name: format!("app-{number:03}"), is_helm: number.is_multiple_of(2) };
    let place = Place { dir, apps: (0..options.apps).map(app).collect(), tools, jobs };
    let outcome = place.make().and_then(|()| place.measure(options, &litecd));
    let _ = fs::remove_dir_all(&place.dir);
    outcome
}

impl Place {
    fn measure(&self, options: &Options, litecd: &Path) -> Result<bool> {
        let (mut bare, mut ours) = (Took::LONGEST, Took::LONGEST);
        for round in 1..=options.rounds.max(1) {
            let (commands, rendered) = (Took::of(|| self.commands())?, Took::of(|| self.litecd(litecd))?);
            println!("round {round}: bare commands {commands}; litecd render {rendered}");
            (bare, ours) = (bare.least(commands), ours.least(rendered));
        }
        let factor = ours.wall.as_secs_f64() / bare.wall.as_secs_f64();
        let processor = ours.processor / bare.processor;
        println!(
            "{} applications, {} at once: {factor:.2} times the time of the bare commands, {processor:.2} times their processor time",
            self.apps.len(),
            self.jobs
        );
        let calls = fs::read_to_string(self.dir.join("git.log"))?;
        let count = |word: &str| calls.lines().filter(|line| line.starts_with(word)).count() / options.rounds.max(1);
        let (listings, fetches) = (count("ls-remote"), count("fetch"));
        println!("git per run: {listings} listing, {fetches} fetch");
        if fetches != 1 || listings != 1 {
            bail!("one commit of one repository is listed once and fetched once");
        }
        Ok(factor <= options.limit)
    }

    /// The monorepo, its applications, and a git that counts.
    fn make(&self) -> Result<()> {
        let repo = self.dir.join("repo");
        for app in &self.apps {
            let folder = repo.join(app.path());
            let files = if app.is_helm { chart(&app.name) } else { kustomization(&app.name) };
            for (file, text) in files {
                let path = folder.join(file);
                fs::create_dir_all(path.parent().unwrap_or(&folder))?;
                fs::write(path, text)?;
            }
        }
        let base = repo.join("base");
        fs::create_dir_all(&base)?;
        fs::write(base.join("kustomization.yaml"), "resources: [deployment.yaml, service.yaml]\n")?;
        fs::write(base.join("deployment.yaml"), deployment("web", "web", "2"))?;
        fs::write(base.join("service.yaml"), service("web", "web"))?;
        for args in [
            &["init", "-q", "-b", "main", "."][..],
            &["add", "-A"],
            &["-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "one commit"],
        ] {
            succeed(Command::new("git").args(args).current_dir(&repo))?;
        }
        let documents: Vec<String> = self.apps.iter().map(application).collect();
        fs::write(self.dir.join("apps.yaml"), documents.join("---\n"))?;
        let params = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-cmd-params-cm}}\ndata: {{reposerver.parallelism.limit: \"{}\"}}\n",
            self.jobs
        );
        fs::write(self.dir.join("params.yaml"), params)?;
        self.make_counter()
    }

    /// A `git` that writes down what it is asked for before it does it.
    fn make_counter(&self) -> Result<()> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|file| file.is_file());
        let git = git.context("there is no git in PATH")?;
        let folder = self.dir.join("bin");
        fs::create_dir_all(&folder)?;
        let log = self.dir.join("git.log");
        let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n", log.display(), git.display());
        fs::write(folder.join("git"), script)?;
        fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// The same commands without litecd, as many at once.
    fn commands(&self) -> Result<()> {
        let queue: Mutex<VecDeque<&App>> = Mutex::new(self.apps.iter().collect());
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs)
                .map(|_| {
                    scope.spawn(|| -> Result<()> {
                        loop {
                            let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                            let Some(app) = next else { return Ok(()) };
                            self.command(app)?;
                        }
                    })
                })
                .collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(outcome) => outcome,
                Err(_) => bail!("a worker panicked"),
            })
        })
    }

    fn command(&self, app: &App) -> Result<()> {
        let folder = self.dir.join("repo").join(app.path());
        if app.is_helm {
            let args = ["template", ".", "--name-template", &app.name, "--namespace", "bench", "--include-crds"];
            succeed(Command::new(self.tools.path("helm")).args(args).current_dir(folder))
        } else {
            succeed(Command::new(self.tools.path("kustomize")).arg("build").arg(folder))
        }
    }

    fn litecd(&self, litecd: &Path) -> Result<()> {
        let own = [self.dir.join("bin"), self.tools.dir().to_owned()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path)))?;
        let mut command = Command::new(litecd);
        command.arg("render").arg(self.dir.join("apps.yaml")).arg("--settings").arg(self.dir.join("params.yaml"));
        command.arg("--repo").arg(format!("{URL}={}", self.dir.join("repo").display())).env("PATH", path);
        succeed(&mut command)
    }
}

/// How long something took.
#[derive(Clone, Copy)]
struct Took {
    wall: Duration,
    /// Seconds of processor time that all children used.
    processor: f64,
}

impl Took {
    const LONGEST: Self = Self { wall: Duration::MAX, processor: f64::MAX };

    fn of(work: impl FnOnce() -> Result<()>) -> Result<Self> {
        let (begun, before) = (Instant::now(), children()?);
        work()?;
        Ok(Self { wall: begun.elapsed(), processor: children()? - before })
    }

    fn least(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), processor: self.processor.min(other.processor) }
    }
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} s ({:.2} s of processor)", self.wall.as_secs_f64(), self.processor)
    }
}

/// Processor time in seconds of all children that have ended, and of theirs.
fn children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold blanks; user and system time of children are the 14th and 15th field behind it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace().skip(13).take(2);
    let ticks: Vec<f64> = fields.map(str::parse).collect::<Result<_, _>>()?;
    // Linux reports hundredths of a second to programs, whatever it counts in.
    Ok(ticks.iter().sum::<f64>() / 100.0)
}

/// Runs a command to its end, its output thrown away.
fn succeed(command: &mut Command) -> Result<()> {
    let output = command.stdout(Stdio::null()).output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn application(app: &App) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  project: default
  source: {{repoURL: {URL}, path: {path}, targetRevision: main}}
  destination: {{server: https://kubernetes.default.svc, namespace: bench}}
",
        name = app.name,
        path = app.path()
    )
}

fn chart(name: &str) -> Vec<(String, String)> {
    let file = |path: &str, text: String| (path.to_owned(), text);
    vec![
        file("Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n")),
        file("values.yaml", "replicas: 2\n".to_owned()),
        file(
            "templates/deployment.yaml",
            deployment("{{ .Release.Name }}", "{{ .Release.Name }}", "{{ .Values.replicas }}"),
        ),
        file("templates/service.yaml", service("{{ .Release.Name }}", "{{ .Release.Name }}")),
    ]
}

fn kustomization(name: &str) -> Vec<(String, String)> {
    let text = format!("resources: [../../base]\nnamePrefix: {name}-\nimages: [{{name: nginx, newTag: \"1.27\"}}]\n");
    vec![("kustomization.yaml".to_owned(), text)]
}

fn deployment(name: &str, app: &str, replicas: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name:?}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {app:?}}}}}
  template:
    metadata: {{labels: {{app: {app:?}}}}}
    spec: {{containers: [{{name: web, image: nginx}}]}}
"
    )
}

fn service(name: &str, app: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata: {{name: {name:?}}}
spec: {{selector: {{app: {app:?}}}, ports: [{{port: 80}}]}}
"
    )
}
