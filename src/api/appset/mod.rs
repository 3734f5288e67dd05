//! The ApplicationSet object: template, strategy and status; its generators are in the files beside.
//!
//! In:  an ApplicationSet as stored in the API server.
//! Out: typed views of spec and status.
//! Invariant: a matrix or merge holds generators that hold no typed matrix or merge: their third level stays JSON,
//! exactly as deep as Argo CD's CRD.
//! Source: `pkg/apis/application/v1alpha1/applicationset_types.go`.

mod generators;
mod pull_request;
mod scm;

use std::collections::BTreeMap;

use serde_json::Value;

pub use generators::*;
pub use pull_request::*;
pub use scm::*;

use super::application::{ApplicationSpec, ObjectMeta};
use super::schema::{any_object, atomic_list, int_or_string, one_of};
use super::status::{HealthStatus, ResourceStatus, Time};
use super::wire::wire;

wire! {
    /// An ApplicationSet as stored in the API server.
    pub struct ApplicationSet {
        /// Object metadata.
        metadata: ObjectMeta = "metadata" required => any_object;
        /// What to generate.
        spec: ApplicationSetSpec = "spec" required;
        /// What the controller observed.
        status: ApplicationSetStatus = "status" always;
    }

    /// Generators, template and how changes are rolled out.
    pub struct ApplicationSetSpec {
        /// Whether the template is a Go template; otherwise `{{name}}` is replaced.
        go_template: bool = "goTemplate";
        /// Where the parameters come from.
        generators: Vec<Generator> = "generators" required;
        /// The Application that is made for each set of parameters.
        template: ApplicationSetTemplate = "template" required;
        /// Which changes to Applications are allowed.
        sync_policy: Option<ApplicationSetSyncPolicy> = "syncPolicy";
        /// In which order changes reach the Applications.
        strategy: Option<ApplicationSetStrategy> = "strategy";
        /// Metadata of Applications that stays as it is.
        preserved_fields: Option<PreservedFields> = "preservedFields";
        /// Options of the Go template engine.
        go_template_options: Vec<String> = "goTemplateOptions";
        /// Whether selectors inside nested generators count.
        apply_nested_selectors: bool = "applyNestedSelectors";
        /// Fields of Applications that are left alone.
        ignore_application_differences: Vec<IgnoreApplicationDifferences> = "ignoreApplicationDifferences";
        /// A patch made from a template, merged over the result.
        template_patch: Option<String> = "templatePatch";
    }

    /// The Application to generate.
    pub struct ApplicationSetTemplate {
        /// Its metadata.
        metadata: ApplicationSetTemplateMeta = "metadata" required;
        /// Its spec; a generator's own template overrides it field by field.
        spec: ApplicationSpec = "spec" required;
    }

    /// Metadata of the Application to generate.
    pub struct ApplicationSetTemplateMeta {
        /// Name.
        name: String = "name";
        /// Namespace.
        namespace: String = "namespace";
        /// Labels.
        labels: BTreeMap<String, String> = "labels";
        /// Annotations.
        annotations: BTreeMap<String, String> = "annotations";
        /// Finalizers.
        finalizers: Vec<String> = "finalizers";
    }

    /// Which changes to Applications are allowed.
    pub struct ApplicationSetSyncPolicy {
        /// Keeps the objects when an Application is deleted.
        preserve_resources_on_deletion: bool = "preserveResourcesOnDeletion";
        /// `create-only`, `create-update`, `create-delete` or `sync`.
        applications_sync: Option<String> = "applicationsSync"
            => || one_of(&["create-only", "create-update", "create-delete", "sync"]);
    }

    /// In which order changes reach the Applications.
    pub struct ApplicationSetStrategy {
        /// `AllAtOnce` or `RollingSync`.
        r#type: String = "type";
        /// Steps of a rolling sync.
        rolling_sync: Option<RollingSync> = "rollingSync";
        /// `AllAtOnce` or `Reverse`.
        deletion_order: String = "deletionOrder";
    }

    /// Steps of a rolling sync.
    pub struct RollingSync {
        /// The steps, in order.
        steps: Vec<RolloutStep> = "steps";
    }

    /// One step: some Applications, and how many of them at once.
    pub struct RolloutStep {
        /// Which Applications, by labels.
        match_expressions: Vec<ApplicationMatchExpression> = "matchExpressions";
        /// Number or percentage at once.
        max_update: Option<Value> = "maxUpdate" => int_or_string;
    }

    /// A condition on a label of an Application.
    pub struct ApplicationMatchExpression {
        /// Label name.
        key: String = "key";
        /// `In` or `NotIn`.
        operator: String = "operator";
        /// Label values.
        values: Vec<String> = "values";
    }

    /// Metadata of Applications that stays as it is.
    pub struct PreservedFields {
        /// Annotation names.
        annotations: Vec<String> = "annotations";
        /// Label names.
        labels: Vec<String> = "labels";
    }

    /// Fields of Applications that are left alone.
    pub struct IgnoreApplicationDifferences {
        /// Application name; empty matches all.
        name: String = "name";
        /// JSON pointers.
        json_pointers: Vec<String> = "jsonPointers";
        /// jq path expressions.
        jq_path_expressions: Vec<String> = "jqPathExpressions";
    }

    /// A Kubernetes label selector.
    pub struct LabelSelector {
        /// Required label values.
        match_labels: BTreeMap<String, String> = "matchLabels";
        /// Further conditions.
        match_expressions: Vec<LabelSelectorRequirement> = "matchExpressions" => atomic_list::<LabelSelectorRequirement>;
    }

    /// A condition of a label selector.
    pub struct LabelSelectorRequirement {
        /// Label name.
        key: String = "key" required;
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        operator: String = "operator" required;
        /// Label values.
        values: Vec<String> = "values" => atomic_list::<String>;
    }

    /// Status of an ApplicationSet.
    pub struct ApplicationSetStatus {
        /// Conditions.
        conditions: Vec<ApplicationSetCondition> = "conditions";
        /// Progress of a rolling sync per Application.
        application_status: Vec<ApplicationSetApplicationStatus> = "applicationStatus";
        /// The Applications.
        resources: Vec<ResourceStatus> = "resources";
        /// Number of Applications, also beyond those listed.
        resources_count: i64 = "resourcesCount";
        /// Health of the set.
        health: HealthStatus = "health" always;
    }

    /// A condition of an ApplicationSet.
    pub struct ApplicationSetCondition {
        /// Type.
        r#type: String = "type" required;
        /// Text for people.
        message: String = "message" required;
        /// When the status changed.
        last_transition_time: Option<Time> = "lastTransitionTime";
        /// `True`, `False` or `Unknown`.
        status: String = "status" required;
        /// Reason in CamelCase.
        reason: String = "reason" required;
    }

    /// Progress of a rolling sync for one Application.
    pub struct ApplicationSetApplicationStatus {
        /// Application name.
        application: String = "application" required;
        /// When the status changed.
        last_transition_time: Option<Time> = "lastTransitionTime";
        /// Text for people.
        message: String = "message" required;
        /// `Waiting`, `Pending`, `Progressing` or `Healthy`.
        status: String = "status" required;
        /// Number of the step, as text.
        step: String = "step" required;
        /// Revisions the Application shall reach.
        target_revisions: Vec<String> = "targetRevisions" required;
    }
}
