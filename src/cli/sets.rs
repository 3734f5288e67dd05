//! Flags of Argo CD's ApplicationSet controller, which is no program of its own here.

/// How ApplicationSets are worked on. Each flag overrides its key in `argocd-cmd-params-cm`.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "ApplicationSets")]
pub struct SetFlags {
    /// Changes to Applications that are allowed: sync, create-only, create-update or create-delete [default: sync].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_POLICY", value_name = "POLICY")]
    policy: Option<String>,
    /// true lets a set choose another policy [default: true unless --policy is given].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_POLICY_OVERRIDE", value_name = "BOOL")]
    enable_policy_override: Option<String>,
    /// Namespaces besides --namespace whose sets are managed: globs or /expressions/, comma separated [default: none].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_NAMESPACES", value_name = "PATTERNS")]
    applicationset_namespaces: Option<String>,
    /// true rolls changes out step by step where a set asks for it [default: false].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_PROGRESSIVE_SYNCS", value_name = "BOOL")]
    enable_progressive_syncs: Option<String>,
    /// true lets * in patterns of files stop at / [default: false].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_NEW_GIT_FILE_GLOBBING", value_name = "BOOL")]
    enable_new_git_file_globbing: Option<String>,
    /// false forbids generators that ask source code hosts [default: true].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_SCM_PROVIDERS", value_name = "BOOL")]
    enable_scm_providers: Option<String>,
    /// API URLs that generators may ask, comma separated [default: any].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_ALLOWED_SCM_PROVIDERS", value_name = "URLS")]
    allowed_scm_providers: Option<String>,
    /// true wants the label of SCM credentials on Secrets with tokens [default: false].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_TOKENREF_STRICT_MODE", value_name = "BOOL")]
    token_ref_strict_mode: Option<String>,
    /// File with certificate authorities of source code hosts [default: the system's].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_SCM_ROOT_CA_PATH", value_name = "FILE")]
    scm_root_ca_path: Option<String>,
    /// Annotations of Applications that sets leave alone, comma separated [default: none].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_GLOBAL_PRESERVED_ANNOTATIONS", value_name = "NAMES")]
    preserved_annotations: Option<String>,
    /// Labels of Applications that sets leave alone, comma separated [default: none].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_GLOBAL_PRESERVED_LABELS", value_name = "NAMES")]
    preserved_labels: Option<String>,
    /// Applications listed in the status of a set, 0 for no limit [default: 5000].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_MAX_RESOURCES_STATUS_COUNT", value_name = "COUNT")]
    max_resources_status_count: Option<String>,
    /// Sets worked on at once [default: 10].
    #[arg(long, env = "ARGOCD_APPLICATIONSET_CONTROLLER_CONCURRENT_RECONCILIATIONS", value_name = "COUNT")]
    concurrent_reconciliations: Option<String>,
}

impl SetFlags {
    /// Name and value of every flag.
    pub fn all(self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("policy", self.policy),
            ("enable-policy-override", self.enable_policy_override),
            ("applicationset-namespaces", self.applicationset_namespaces),
            ("enable-progressive-syncs", self.enable_progressive_syncs),
            ("enable-new-git-file-globbing", self.enable_new_git_file_globbing),
            ("enable-scm-providers", self.enable_scm_providers),
            ("allowed-scm-providers", self.allowed_scm_providers),
            ("token-ref-strict-mode", self.token_ref_strict_mode),
            ("scm-root-ca-path", self.scm_root_ca_path),
            ("preserved-annotations", self.preserved_annotations),
            ("preserved-labels", self.preserved_labels),
            ("max-resources-status-count", self.max_resources_status_count),
            ("concurrent-reconciliations", self.concurrent_reconciliations),
        ]
    }
}
