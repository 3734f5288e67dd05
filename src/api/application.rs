//! The Application object: metadata that matters, spec, and the parts of a source.
//!
//! Source: APP-001 to APP-023 (`pkg/apis/application/v1alpha1/types.go`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::operation::{Operation, RetryStrategy};
use super::schema::{any_object, free_object, int_or_string, list_of, relative_path};
use super::status::ApplicationStatus;
use super::wire::{Zero, wire};

impl Zero for Value {
    fn is_zero(&self) -> bool {
        self.is_null()
    }
}

wire! {
    /// An Application as stored in the API server.
    pub struct Application {
        /// Object metadata.
        metadata: ObjectMeta = "metadata" required => any_object;
        /// What the user asks for.
        spec: ApplicationSpec = "spec" required;
        /// What controllers observed.
        status: ApplicationStatus = "status" always;
        /// A requested operation, removed when it completes.
        operation: Option<Operation> = "operation";
    }

    /// The metadata fields that litecd reads.
    pub struct ObjectMeta {
        /// Object name.
        name: String = "name";
        /// Object namespace.
        namespace: String = "namespace";
        /// Unique id.
        uid: String = "uid";
        /// Version of the stored object.
        resource_version: String = "resourceVersion";
        /// Generation of the spec.
        generation: i64 = "generation";
        /// When deletion was asked for, RFC 3339.
        deletion_timestamp: Option<String> = "deletionTimestamp";
        /// Annotations.
        annotations: BTreeMap<String, String> = "annotations";
        /// Labels.
        labels: BTreeMap<String, String> = "labels";
        /// Finalizers, in stored order.
        finalizers: Vec<String> = "finalizers";
    }

    /// What an application is made of and where it goes.
    pub struct ApplicationSpec {
        /// The only source of a single-source application.
        source: Option<ApplicationSource> = "source";
        /// Where the objects go.
        destination: Destination = "destination" required;
        /// Project name; empty means `default`.
        project: String = "project" required;
        /// Automated sync, options and retry.
        sync_policy: Option<SyncPolicy> = "syncPolicy";
        /// Fields left out of the comparison.
        ignore_differences: Vec<ResourceIgnoreDifferences> = "ignoreDifferences";
        /// Shown by the UI only.
        info: Vec<Info> = "info";
        /// How many history entries are kept; 10 when absent.
        revision_history_limit: Option<i64> = "revisionHistoryLimit";
        /// Sources of a multi-source application.
        sources: Vec<ApplicationSource> = "sources";
        /// Dry and sync source of the source hydrator.
        source_hydrator: Option<SourceHydrator> = "sourceHydrator";
    }

    /// A Git directory, Helm chart or OCI artefact, and how to render it.
    pub struct ApplicationSource {
        /// Repository URL.
        repo_url: String = "repoURL" required;
        /// Directory in the repository.
        path: String = "path";
        /// Branch, tag, commit or version constraint; empty means `HEAD`.
        target_revision: String = "targetRevision";
        /// Helm options.
        helm: Option<Helm> = "helm";
        /// Kustomize options.
        kustomize: Option<Kustomize> = "kustomize";
        /// Options of a plain directory.
        directory: Option<Directory> = "directory";
        /// Config management plugin.
        plugin: Option<Plugin> = "plugin";
        /// Chart name in a Helm repository.
        chart: String = "chart";
        /// Name under which other sources refer to this one as `$name`.
        r#ref: String = "ref";
        /// Display name.
        name: String = "name";
        /// Prefix of the tags that a version constraint is matched against.
        tag_prefix: String = "tagPrefix";
    }

    /// Helm options.
    pub struct Helm {
        /// Value files, relative to the chart or `$ref/…`.
        value_files: Vec<String> = "valueFiles";
        /// `--set` parameters.
        parameters: Vec<HelmParameter> = "parameters";
        /// Release name; the application's name when empty.
        release_name: String = "releaseName";
        /// Values as YAML text.
        values: String = "values";
        /// `--set-file` parameters.
        file_parameters: Vec<HelmFileParameter> = "fileParameters";
        /// Helm version, accepted and ignored (`v3`).
        version: String = "version";
        /// Passes credentials to all domains.
        pass_credentials: bool = "passCredentials";
        /// Missing value files are no error.
        ignore_missing_value_files: bool = "ignoreMissingValueFiles";
        /// Leaves the chart's CRDs out.
        skip_crds: bool = "skipCrds";
        /// Values as an object; wins over `values`.
        values_object: Option<Value> = "valuesObject" => free_object;
        /// Namespace passed to Helm.
        namespace: String = "namespace";
        /// Kubernetes version passed to Helm.
        kube_version: String = "kubeVersion";
        /// API versions passed to Helm.
        api_versions: Vec<String> = "apiVersions";
        /// Leaves tests out.
        skip_tests: bool = "skipTests";
        /// Skips the values' JSON schema.
        skip_schema_validation: bool = "skipSchemaValidation";
    }

    /// One `--set` or `--set-string` parameter.
    pub struct HelmParameter {
        /// Dotted path.
        name: String = "name";
        /// Value.
        value: String = "value";
        /// Whether the value is always a string.
        force_string: bool = "forceString";
    }

    /// One `--set-file` parameter.
    pub struct HelmFileParameter {
        /// Dotted path.
        name: String = "name";
        /// File that holds the value.
        path: String = "path";
    }

    /// Kustomize options.
    pub struct Kustomize {
        /// Prefix of all names.
        name_prefix: String = "namePrefix";
        /// Suffix of all names.
        name_suffix: String = "nameSuffix";
        /// Image overrides, `[old=]new[:tag|@digest]`.
        images: Vec<String> = "images";
        /// Labels for everything.
        common_labels: BTreeMap<String, String> = "commonLabels";
        /// Kustomize version.
        version: String = "version";
        /// Annotations for everything.
        common_annotations: BTreeMap<String, String> = "commonAnnotations";
        /// Labels overwrite existing ones.
        force_common_labels: bool = "forceCommonLabels";
        /// Annotations overwrite existing ones.
        force_common_annotations: bool = "forceCommonAnnotations";
        /// Namespace for everything.
        namespace: String = "namespace";
        /// Replaces `$ARGOCD_…` in common annotations.
        common_annotations_envsubst: bool = "commonAnnotationsEnvsubst";
        /// Replica overrides.
        replicas: Vec<KustomizeReplica> = "replicas";
        /// Patches.
        patches: Vec<KustomizePatch> = "patches";
        /// Components.
        components: Vec<String> = "components";
        /// Missing components are no error.
        ignore_missing_components: bool = "ignoreMissingComponents";
        /// Labels do not go into selectors.
        label_without_selector: bool = "labelWithoutSelector";
        /// Kubernetes version for `helmCharts`.
        kube_version: String = "kubeVersion";
        /// API versions for `helmCharts`.
        api_versions: Vec<String> = "apiVersions";
        /// Labels go into templates though not into selectors.
        label_include_templates: bool = "labelIncludeTemplates";
    }

    /// A replica override.
    pub struct KustomizeReplica {
        /// Name of the workload.
        name: String = "name" required;
        /// Number, or text that holds one.
        count: Value = "count" required => int_or_string;
    }

    /// A Kustomize patch.
    pub struct KustomizePatch {
        /// File with the patch.
        path: String = "path";
        /// The patch as text.
        patch: String = "patch";
        /// What it applies to.
        target: Option<KustomizeSelector> = "target";
        /// Patch options.
        options: BTreeMap<String, bool> = "options";
    }

    /// What a Kustomize patch applies to.
    pub struct KustomizeSelector {
        /// API group.
        group: String = "group";
        /// API version.
        version: String = "version";
        /// Kind.
        kind: String = "kind";
        /// Name pattern.
        name: String = "name";
        /// Namespace pattern.
        namespace: String = "namespace";
        /// Annotation selector.
        annotation_selector: String = "annotationSelector";
        /// Label selector.
        label_selector: String = "labelSelector";
    }

    /// Options of a plain directory.
    pub struct Directory {
        /// Whether sub-directories count.
        recurse: bool = "recurse";
        /// Jsonnet options.
        jsonnet: Jsonnet = "jsonnet";
        /// Glob of files left out.
        exclude: String = "exclude";
        /// Glob of files taken.
        include: String = "include";
    }

    /// Jsonnet options.
    pub struct Jsonnet {
        /// External variables.
        ext_vars: Vec<JsonnetVar> = "extVars";
        /// Top-level arguments.
        tlas: Vec<JsonnetVar> = "tlas";
        /// Library directories.
        libs: Vec<String> = "libs";
    }

    /// A Jsonnet variable.
    pub struct JsonnetVar {
        /// Name.
        name: String = "name" required;
        /// Text or code.
        value: String = "value" required;
        /// Whether the value is code.
        code: bool = "code";
    }

    /// A config management plugin.
    pub struct Plugin {
        /// Plugin name.
        name: String = "name";
        /// Environment.
        env: Vec<EnvEntry> = "env";
        /// Parameters, kept as they are.
        parameters: Vec<Value> = "parameters" => list_of::<PluginParameter>;
    }

    /// A parameter of a config management plugin: text, map or array.
    pub struct PluginParameter {
        /// Name.
        name: String = "name";
        /// Text value.
        string: Option<String> = "string";
        /// Map value; empty and absent are the same.
        map: Option<BTreeMap<String, String>> = "map";
        /// Array value; empty and absent are the same.
        array: Option<Vec<String>> = "array";
    }

    /// A name and value.
    pub struct EnvEntry {
        /// Name.
        name: String = "name" required;
        /// Value.
        value: String = "value" required;
    }

    /// A name and value that the UI shows.
    pub struct Info {
        /// Name.
        name: String = "name" required;
        /// Value.
        value: String = "value" required;
    }

    /// Where objects go: a cluster by server or name, and a namespace.
    pub struct Destination {
        /// API server URL.
        server: String = "server";
        /// Namespace for objects that name none.
        namespace: String = "namespace";
        /// Cluster name; excludes `server`.
        name: String = "name";
    }

    /// When and how to sync.
    pub struct SyncPolicy {
        /// Automated sync.
        automated: Option<Automated> = "automated";
        /// `Key=value` options.
        sync_options: Vec<String> = "syncOptions";
        /// Retry of automated operations.
        retry: Option<RetryStrategy> = "retry";
        /// Metadata of the destination namespace.
        managed_namespace_metadata: Option<ManagedNamespaceMetadata> = "managedNamespaceMetadata";
    }

    /// Automated sync; absent `enabled` is true, the others absent are false.
    pub struct Automated {
        /// Prunes what left the sources.
        prune: Option<bool> = "prune";
        /// Repairs live changes.
        self_heal: Option<bool> = "selfHeal";
        /// Allows an automated sync that leaves nothing.
        allow_empty: Option<bool> = "allowEmpty";
        /// Whether automated sync is on.
        enabled: Option<bool> = "enabled";
    }

    /// Metadata of the destination namespace.
    pub struct ManagedNamespaceMetadata {
        /// Labels.
        labels: BTreeMap<String, String> = "labels";
        /// Annotations.
        annotations: BTreeMap<String, String> = "annotations";
    }

    /// Fields of some objects that the comparison leaves out.
    pub struct ResourceIgnoreDifferences {
        /// Group glob.
        group: String = "group";
        /// Kind glob.
        kind: String = "kind" required;
        /// Name; empty matches all.
        name: String = "name";
        /// Namespace; empty matches all.
        namespace: String = "namespace";
        /// JSON pointers.
        json_pointers: Vec<String> = "jsonPointers";
        /// jq path expressions.
        jq_path_expressions: Vec<String> = "jqPathExpressions";
        /// Field managers whose fields are left out.
        managed_fields_managers: Vec<String> = "managedFieldsManagers";
    }

    /// Source hydrator settings.
    pub struct SourceHydrator {
        /// Where the dry manifests are.
        dry_source: DrySource = "drySource" required;
        /// Where hydrated manifests are synced from.
        sync_source: SyncSource = "syncSource" required;
        /// Where hydrated manifests are pushed to.
        hydrate_to: Option<HydrateTo> = "hydrateTo";
    }

    /// Where the dry manifests are.
    pub struct DrySource {
        /// Repository URL.
        repo_url: String = "repoURL" required;
        /// Revision.
        target_revision: String = "targetRevision" required;
        /// Directory.
        path: String = "path" required;
        /// Helm options.
        helm: Option<Helm> = "helm";
        /// Kustomize options.
        kustomize: Option<Kustomize> = "kustomize";
        /// Options of a plain directory.
        directory: Option<Directory> = "directory";
        /// Config management plugin.
        plugin: Option<Plugin> = "plugin";
    }

    /// Where hydrated manifests are synced from.
    pub struct SyncSource {
        /// Branch.
        target_branch: String = "targetBranch" required;
        /// Directory; the repository's root is refused.
        path: String = "path" required => relative_path;
        /// Repository URL; the dry source's when empty.
        repo_url: String = "repoURL";
    }

    /// Where hydrated manifests are pushed to.
    pub struct HydrateTo {
        /// Branch.
        target_branch: String = "targetBranch" required;
    }
}

impl ApplicationSource {
    /// Whether the source is a chart from a Helm repository.
    pub fn is_helm(&self) -> bool {
        !self.chart.is_empty()
    }
    /// Whether the source is an OCI artefact.
    pub fn is_oci(&self) -> bool {
        self.repo_url.starts_with("oci://")
    }
    /// Whether the source is only referred to by others.
    pub fn is_ref(&self) -> bool {
        !self.r#ref.is_empty()
    }
}

impl ApplicationSpec {
    /// Project name, `default` when none is given (APP-004).
    pub fn project_name(&self) -> &str {
        if self.project.is_empty() { "default" } else { &self.project }
    }
    /// Whether `sources` is used (APP-010).
    pub fn has_multiple_sources(&self) -> bool {
        self.source_hydrator.is_none() && !self.sources.is_empty()
    }
    /// The sources that are rendered, in order (APP-010, APP-011).
    pub fn effective_sources(&self) -> Vec<ApplicationSource> {
        if let Some(hydrator) = &self.source_hydrator {
            let sync = &hydrator.sync_source;
            let repo = if sync.repo_url.is_empty() { &hydrator.dry_source.repo_url } else { &sync.repo_url };
            return vec![ApplicationSource {
                repo_url: repo.clone(),
                path: sync.path.clone(),
                target_revision: sync.target_branch.clone(),
                ..ApplicationSource::default()
            }];
        }
        if self.sources.is_empty() { vec![self.source.clone().unwrap_or_default()] } else { self.sources.clone() }
    }
    /// Automated sync settings when automated sync is on (APP-013).
    pub fn automated(&self) -> Option<&Automated> {
        self.sync_policy.as_ref()?.automated.as_ref().filter(|automated| automated.enabled != Some(false))
    }
    /// Sync options of the spec.
    pub fn sync_options(&self) -> &[String] {
        self.sync_policy.as_ref().map_or(&[], |policy| &policy.sync_options)
    }
    /// Metadata that the destination namespace should carry.
    pub fn managed_namespace_metadata(&self) -> Option<&ManagedNamespaceMetadata> {
        self.sync_policy.as_ref()?.managed_namespace_metadata.as_ref()
    }
    /// How many history entries are kept (APP-019).
    pub fn history_limit(&self) -> usize {
        usize::try_from(self.revision_history_limit.unwrap_or(10)).unwrap_or(0)
    }
}

impl Application {
    /// Name under which objects are tracked: `name`, or `namespace_name` outside the controller's namespace (APP-234).
    pub fn instance_name(&self, controller_namespace: &str) -> String {
        if self.metadata.namespace == controller_namespace || self.metadata.namespace.is_empty() {
            self.metadata.name.clone()
        } else {
            format!("{}_{}", self.metadata.namespace, self.metadata.name)
        }
    }
    /// `namespace/name`.
    pub fn qualified_name(&self) -> String {
        format!("{}/{}", self.metadata.namespace, self.metadata.name)
    }
}
