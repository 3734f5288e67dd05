//! Flags of Argo CD's repo server, which is no program of its own here.

/// How sources are fetched and rendered. Each flag overrides its key in `argocd-cmd-params-cm`.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Fetching and rendering")]
pub struct Flags {
    /// Renderings at once, 0 for one per processor [default: 0].
    #[arg(long, env = "ARGOCD_REPO_SERVER_PARALLELISM_LIMIT", value_name = "COUNT")]
    parallelismlimit: Option<String>,
    /// Listings of Git references at once, 0 for no limit [default: 0].
    #[arg(long, env = "ARGOCD_GIT_LS_REMOTE_PARALLELISM_LIMIT", value_name = "COUNT")]
    git_lsremote_parallelism_limit: Option<String>,
    /// Longest listing of Git references [default: 15s].
    #[arg(long, env = "ARGOCD_GIT_REQUEST_TIMEOUT", value_name = "DURATION")]
    git_request_timeout: Option<String>,
    /// Longest run of git, helm or kustomize [default: 1m30s].
    #[arg(long, env = "ARGOCD_EXEC_TIMEOUT", value_name = "DURATION")]
    exec_timeout: Option<String>,
    /// How long git may take to end when it ran too long [default: 10s].
    #[arg(long, env = "ARGOCD_EXEC_FATAL_TIMEOUT", value_name = "DURATION")]
    exec_fatal_timeout: Option<String>,
    /// true fetches submodules [default: true].
    #[arg(long, env = "ARGOCD_GIT_MODULES_ENABLED", value_name = "BOOL")]
    git_modules_enabled: Option<String>,
    /// true lets symbolic links lead out of a repository [default: false].
    #[arg(long, env = "ARGOCD_REPO_SERVER_ALLOW_OUT_OF_BOUNDS_SYMLINKS", value_name = "BOOL")]
    allow_oob_symlinks: Option<String>,
    /// Largest sum of a directory's manifest files, 0 for no limit [default: 10M].
    #[arg(long, env = "ARGOCD_REPO_SERVER_MAX_COMBINED_DIRECTORY_MANIFESTS_SIZE", value_name = "BYTES")]
    max_combined_directory_manifests_size: Option<String>,
    /// How long rendered manifests are good for [default: 24h].
    #[arg(long, env = "ARGOCD_REPO_CACHE_EXPIRATION", value_name = "DURATION")]
    repo_cache_expiration: Option<String>,
    /// Failed renderings after which the failure is repeated without trying, 0 to try always [default: 3].
    #[arg(long, env = "ARGOCD_PAUSE_GEN_AFTER_FAILED_ATTEMPTS", value_name = "COUNT")]
    pause_gen_after_failed_attempts: Option<String>,
    /// For how many minutes, 0 for ever [default: 60].
    #[arg(long, env = "ARGOCD_PAUSE_GEN_MINUTES", value_name = "MINUTES")]
    pause_gen_minutes: Option<String>,
    /// How many times, 0 for no limit [default: 0].
    #[arg(long, env = "ARGOCD_PAUSE_GEN_REQUESTS", value_name = "COUNT")]
    pause_gen_requests: Option<String>,
}

impl Flags {
    /// Name and value of each flag, given or not.
    pub fn all(self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("parallelismlimit", self.parallelismlimit),
            ("git-lsremote-parallelism-limit", self.git_lsremote_parallelism_limit),
            ("git-request-timeout", self.git_request_timeout),
            ("exec-timeout", self.exec_timeout),
            ("exec-fatal-timeout", self.exec_fatal_timeout),
            ("git-modules-enabled", self.git_modules_enabled),
            ("allow-oob-symlinks", self.allow_oob_symlinks),
            ("max-combined-directory-manifests-size", self.max_combined_directory_manifests_size),
            ("repo-cache-expiration", self.repo_cache_expiration),
            ("pause-gen-after-failed-attempts", self.pause_gen_after_failed_attempts),
            ("pause-gen-minutes", self.pause_gen_minutes),
            ("pause-gen-requests", self.pause_gen_requests),
        ]
    }
}
