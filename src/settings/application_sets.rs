//! Parameters of the work on ApplicationSets.
//!
//! In:  the keys `applicationsetcontroller.*` of `argocd-cmd-params-cm`; flags under Argo CD's names.
//! Out: typed parameters with Argo CD's defaults.
//! Invariant: a policy that nobody knows permits creation only, since it cannot mean a deletion.
//! Source: SET-085, SET-140, SET-145 to SET-147
//! (`cmd/argocd-applicationset-controller/commands/applicationset_controller.go`).

use jiff::SignedDuration;

use super::parameters::{Definition, count, definition, flag, positive_duration, trimmed_list};
use crate::gocompat::patterns::{PatternMatch, matches_any};

/// Parameters of the work on ApplicationSets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationSets {
    /// Which changes to Applications are allowed; empty for all.
    pub policy: String,
    /// Whether a set may choose another policy; unless given, exactly when no policy is.
    pub policy_override: Option<bool>,
    /// Namespaces besides the controller's own whose sets are handled: globs, or `/expressions/`.
    pub namespaces: Vec<String>,
    /// Annotations of Applications that stay as they are.
    pub preserved_annotations: Vec<String>,
    /// Labels of Applications that stay as they are.
    pub preserved_labels: Vec<String>,
    /// Whether rolling syncs are on.
    pub progressive_syncs: bool,
    /// Whether `*` in patterns of files stops at `/`.
    pub new_file_globbing: bool,
    /// Whether submodules are looked into.
    pub submodules: bool,
    /// Whether generators may ask source code hosts.
    pub scm_enabled: bool,
    /// API URLs that they may ask; empty means any.
    pub scm_allowed: Vec<String>,
    /// Whether Secrets with tokens for them need the label of such Secrets.
    pub strict_tokens: bool,
    /// File with certificate authorities for them.
    pub scm_root_ca: String,
    /// Time between looks at Git and cluster decisions where a generator names none.
    pub requeue_after: SignedDuration,
    /// The longest `status.resources`; zero is no limit.
    pub max_resources: usize,
    /// Sets that are worked on at once.
    pub reconciliations: usize,
}

impl Default for ApplicationSets {
    fn default() -> Self {
        Self {
            policy: String::new(),
            policy_override: None,
            namespaces: Vec::new(),
            preserved_annotations: Vec::new(),
            preserved_labels: Vec::new(),
            progressive_syncs: false,
            new_file_globbing: false,
            submodules: true,
            scm_enabled: true,
            scm_allowed: Vec::new(),
            strict_tokens: false,
            scm_root_ca: String::new(),
            requeue_after: SignedDuration::from_mins(3),
            max_resources: 5000,
            reconciliations: 10,
        }
    }
}

impl ApplicationSets {
    /// Whether sets of a namespace are handled (SET-145).
    pub fn is_namespace_allowed(&self, namespace: &str, controller_namespace: &str) -> bool {
        let patterns = self.namespaces.iter().map(String::as_str);
        namespace == controller_namespace || matches_any(patterns, namespace, PatternMatch::Regexp)
    }

    /// Why these parameters must not be used together: sets of other namespaces could send the tokens of those to any
    /// address (SET-145).
    pub fn conflict(&self) -> Option<&'static str> {
        (!self.namespaces.is_empty() && self.scm_enabled && self.scm_allowed.is_empty()).then_some(
            "When enabling applicationset in any namespace using applicationset-namespaces, you must either set \
             --enable-scm-providers=false or specify --allowed-scm-providers",
        )
    }
}

/// The least and longest time between looks.
const REQUEUE: [SignedDuration; 2] = [SignedDuration::from_secs(1), SignedDuration::from_hours(8760)];

/// Every parameter that has a meaning for a single process.
pub(super) const DEFINITIONS: &[Definition] = &[
    definition("applicationsetcontroller.policy", "policy", |p, text| {
        let known = ["sync", "create-only", "create-update", "create-delete"];
        known.contains(&text).then(|| text.clone_into(&mut p.application_sets.policy)).or_else(|| {
            "create-only".clone_into(&mut p.application_sets.policy);
            None
        })
    }),
    definition("applicationsetcontroller.enable.policy.override", "enable-policy-override", |p, text| {
        flag(text).map(|value| p.application_sets.policy_override = Some(value))
    }),
    definition("applicationsetcontroller.namespaces", "applicationset-namespaces", |p, text| {
        p.application_sets.namespaces = trimmed_list(text);
        Some(())
    }),
    definition("applicationsetcontroller.global.preserved.annotations", "preserved-annotations", |p, text| {
        p.application_sets.preserved_annotations = trimmed_list(text);
        Some(())
    }),
    definition("applicationsetcontroller.global.preserved.labels", "preserved-labels", |p, text| {
        p.application_sets.preserved_labels = trimmed_list(text);
        Some(())
    }),
    definition("applicationsetcontroller.enable.progressive.syncs", "enable-progressive-syncs", |p, text| {
        flag(text).map(|value| p.application_sets.progressive_syncs = value)
    }),
    definition("applicationsetcontroller.enable.new.git.file.globbing", "enable-new-git-file-globbing", |p, text| {
        flag(text).map(|value| p.application_sets.new_file_globbing = value)
    }),
    definition("applicationsetcontroller.enable.git.submodule", "", |p, text| {
        flag(text).map(|value| p.application_sets.submodules = value)
    }),
    definition("applicationsetcontroller.enable.scm.providers", "enable-scm-providers", |p, text| {
        flag(text).map(|value| p.application_sets.scm_enabled = value)
    }),
    definition("applicationsetcontroller.allowed.scm.providers", "allowed-scm-providers", |p, text| {
        p.application_sets.scm_allowed = trimmed_list(text);
        Some(())
    }),
    definition("applicationsetcontroller.enable.tokenref.strict.mode", "token-ref-strict-mode", |p, text| {
        flag(text).map(|value| p.application_sets.strict_tokens = value)
    }),
    definition("applicationsetcontroller.scm.root.ca.path", "scm-root-ca-path", |p, text| {
        text.clone_into(&mut p.application_sets.scm_root_ca);
        Some(())
    }),
    definition("applicationsetcontroller.requeue.after", "", |p, text| {
        let [least, longest] = REQUEUE;
        let value = positive_duration(text).filter(|value| (least..=longest).contains(value))?;
        p.application_sets.requeue_after = value;
        Some(())
    }),
    definition("applicationsetcontroller.status.max.resources.count", "max-resources-status-count", |p, text| {
        count(text).map(|value| p.application_sets.max_resources = value)
    }),
    definition("applicationsetcontroller.concurrent.reconciliations.max", "concurrent-reconciliations", |p, text| {
        count(text).filter(|value| *value > 0).map(|value| p.application_sets.reconciliations = value)
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Parameters;

    #[test]
    fn keys_and_flags_are_argo_cds() {
        let data = [
            ("applicationsetcontroller.policy", "create-update"),
            ("applicationsetcontroller.enable.progressive.syncs", "true"),
            ("applicationsetcontroller.global.preserved.labels", "a, b"),
            ("applicationsetcontroller.requeue.after", "90s"),
            ("applicationsetcontroller.status.max.resources.count", "7"),
        ];
        let data = data.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
        let (mut parameters, problems) = Parameters::from_config_map(&data);
        assert_eq!(problems, []);
        let expect = ApplicationSets {
            policy: "create-update".to_owned(),
            progressive_syncs: true,
            preserved_labels: vec!["a".to_owned(), "b".to_owned()],
            requeue_after: SignedDuration::from_secs(90),
            max_resources: 7,
            ..ApplicationSets::default()
        };
        assert_eq!(parameters.application_sets, expect);
        parameters.set_flag("policy", "sync").unwrap();
        assert_eq!(parameters.application_sets.policy, "sync");
    }

    #[test]
    fn a_policy_that_nobody_knows_deletes_nothing() {
        let data = [("applicationsetcontroller.policy".to_owned(), "synk".to_owned())].into();
        let (parameters, problems) = Parameters::from_config_map(&data);
        assert_eq!(parameters.application_sets.policy, "create-only");
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn sets_of_other_namespaces_need_a_list_of_hosts() {
        let mut sets = ApplicationSets { namespaces: vec!["team-*".to_owned()], ..ApplicationSets::default() };
        assert!(sets.conflict().is_some());
        assert!(sets.is_namespace_allowed("team-a", "argocd") && !sets.is_namespace_allowed("other", "argocd"));
        sets.scm_allowed = vec!["https://git.example.com".to_owned()];
        assert_eq!(sets.conflict(), None);
    }
}
