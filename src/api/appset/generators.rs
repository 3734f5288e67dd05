//! Generators of an ApplicationSet: where its parameters come from.
//!
//! In:  entries of `spec.generators`.
//! Out: typed views; exactly one of the generator fields is meant to be set.
//! Invariant: nested generators carry `matrix` and `merge` as JSON, so no type contains itself.
//! Source: `pkg/apis/application/v1alpha1/applicationset_types.go`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ApplicationSetTemplate, LabelSelector, PullRequestGenerator, ScmProviderGenerator};
use crate::api::schema::atomic_object;
use crate::api::wire::wire;

wire! {
    /// A generator at the top.
    pub struct Generator {
        /// Elements written down.
        list: Option<ListGenerator> = "list";
        /// Clusters Argo CD knows.
        clusters: Option<ClusterGenerator> = "clusters";
        /// Directories or files of a Git repository.
        git: Option<GitGenerator> = "git";
        /// Repositories of an organisation.
        scm_provider: Option<ScmProviderGenerator> = "scmProvider";
        /// Clusters that another controller's object names.
        cluster_decision_resource: Option<DuckTypeGenerator> = "clusterDecisionResource";
        /// Open pull requests.
        pull_request: Option<PullRequestGenerator> = "pullRequest";
        /// Every combination of two generators.
        matrix: Option<MatrixGenerator> = "matrix";
        /// Generators joined by keys.
        merge: Option<MergeGenerator> = "merge";
        /// Which sets of parameters are kept.
        selector: Option<LabelSelector> = "selector" => atomic_object::<LabelSelector>;
        /// An HTTP service.
        plugin: Option<PluginGenerator> = "plugin";
    }

    /// A generator inside a matrix or merge.
    pub struct NestedGenerator {
        /// Elements written down.
        list: Option<ListGenerator> = "list";
        /// Clusters Argo CD knows.
        clusters: Option<ClusterGenerator> = "clusters";
        /// Directories or files of a Git repository.
        git: Option<GitGenerator> = "git";
        /// Repositories of an organisation.
        scm_provider: Option<ScmProviderGenerator> = "scmProvider";
        /// Clusters that another controller's object names.
        cluster_decision_resource: Option<DuckTypeGenerator> = "clusterDecisionResource";
        /// Open pull requests.
        pull_request: Option<PullRequestGenerator> = "pullRequest";
        /// A matrix of generators that hold no further one.
        matrix: Option<Value> = "matrix";
        /// A merge of generators that hold no further one.
        merge: Option<Value> = "merge";
        /// Which sets of parameters are kept.
        selector: Option<LabelSelector> = "selector" => atomic_object::<LabelSelector>;
        /// An HTTP service.
        plugin: Option<PluginGenerator> = "plugin";
    }

    /// Elements written down.
    pub struct ListGenerator {
        /// One set of parameters each.
        elements: Vec<Value> = "elements" always;
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// YAML text that holds further elements.
        elements_yaml: String = "elementsYaml";
    }

    /// Every combination of two generators.
    pub struct MatrixGenerator {
        /// The two generators.
        generators: Vec<NestedGenerator> = "generators" required;
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
    }

    /// Generators joined by keys; later ones override the first.
    pub struct MergeGenerator {
        /// The generators.
        generators: Vec<NestedGenerator> = "generators" required;
        /// Parameters that identify a set.
        merge_keys: Vec<String> = "mergeKeys" required;
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
    }

    /// Clusters Argo CD knows.
    pub struct ClusterGenerator {
        /// Which clusters, by labels of their Secrets.
        selector: LabelSelector = "selector" always => atomic_object::<LabelSelector>;
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
        /// Whether all clusters become one set with a list.
        flat_list: bool = "flatList";
    }

    /// Clusters that another controller's object names.
    pub struct DuckTypeGenerator {
        /// ConfigMap that says which kind and fields to read.
        config_map_ref: String = "configMapRef" required;
        /// Object name.
        name: String = "name";
        /// Seconds between looks.
        requeue_after_seconds: Option<i64> = "requeueAfterSeconds";
        /// Objects by labels.
        label_selector: LabelSelector = "labelSelector" always => atomic_object::<LabelSelector>;
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
    }

    /// Directories or files of a Git repository.
    pub struct GitGenerator {
        /// Repository URL.
        repo_url: String = "repoURL" required;
        /// Directory patterns.
        directories: Vec<GitGeneratorItem> = "directories";
        /// File patterns.
        files: Vec<GitGeneratorItem> = "files";
        /// Branch, tag or commit.
        revision: String = "revision" required;
        /// Seconds between looks.
        requeue_after_seconds: Option<i64> = "requeueAfterSeconds";
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Prefix of the path parameters.
        path_param_prefix: String = "pathParamPrefix";
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
    }

    /// A directory or file pattern.
    pub struct GitGeneratorItem {
        /// The pattern.
        path: String = "path" required;
        /// Whether matches are left out.
        exclude: bool = "exclude";
    }

    /// An HTTP service that answers with parameters.
    pub struct PluginGenerator {
        /// ConfigMap with URL and token.
        config_map_ref: PluginConfigMapRef = "configMapRef" required;
        /// What is sent.
        input: PluginInput = "input" always;
        /// Seconds between calls.
        requeue_after_seconds: Option<i64> = "requeueAfterSeconds";
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
    }

    /// Name of a plugin's ConfigMap.
    pub struct PluginConfigMapRef {
        /// ConfigMap name.
        name: String = "name" required;
    }

    /// What is sent to a plugin.
    pub struct PluginInput {
        /// Parameters, any JSON each.
        parameters: BTreeMap<String, Value> = "parameters";
    }
}
