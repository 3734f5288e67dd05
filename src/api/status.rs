//! The Application's status, and whole-second times.
//!
//! Source: APP-024 to APP-048 (`pkg/apis/application/v1alpha1/types.go`).

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::application::{ApplicationSource, Destination, ResourceIgnoreDifferences};
use super::hydrator::SourceHydratorStatus;
use super::operation::{OperationInitiator, OperationState};
use super::wire::{Zero, wire};

/// A time in whole seconds, written as RFC 3339 in UTC (APP-046).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(i64);

impl Time {
    /// Truncates to whole seconds.
    pub fn from_timestamp(at: Timestamp) -> Self {
        Self(at.as_second())
    }
    /// Seconds since the epoch.
    pub fn unix(self) -> i64 {
        self.0
    }
    /// As a timestamp; out-of-range values become the epoch.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_second(self.0).unwrap_or(Timestamp::UNIX_EPOCH)
    }
    /// Parses RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<Timestamp>().ok().map(Self::from_timestamp)
    }
}

impl Zero for Time {
    fn is_zero(&self) -> bool {
        false
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, ser: S) -> Result<S::Ok, S::Error> {
        ser.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        let text = String::deserialize(de)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("not an RFC 3339 time: {text:?}")))
    }
}

wire! {
    /// Status of an Application.
    pub struct ApplicationStatus {
        /// One entry per compared object.
        resources: Vec<ResourceStatus> = "resources";
        /// Sync status.
        sync: SyncStatus = "sync" always;
        /// Health.
        health: AppHealth = "health" always;
        /// Successful syncs, oldest first.
        history: Vec<RevisionHistory> = "history";
        /// Conditions, sorted.
        conditions: Vec<Condition> = "conditions";
        /// Start of the last full refresh.
        reconciled_at: Option<Time> = "reconciledAt";
        /// Running or last operation.
        operation_state: Option<OperationState> = "operationState";
        /// Deprecated; never written.
        observed_at: Option<Time> = "observedAt";
        /// Type of the single source.
        source_type: String = "sourceType";
        /// URLs, images.
        summary: Summary = "summary" always;
        /// Where resource health is kept.
        resource_health_source: String = "resourceHealthSource";
        /// Types of the sources; empty text for a reference.
        source_types: Vec<String> = "sourceTypes";
        /// Namespace of the controller.
        controller_namespace: String = "controllerNamespace";
        /// Source hydrator's status, kept as it is.
        source_hydrator: Value = "sourceHydrator" => SourceHydratorStatus::schema;
    }

    /// Sync status.
    pub struct SyncStatus {
        /// `Synced`, `OutOfSync`, `Unknown`, empty before the first comparison.
        status: String = "status" required;
        /// What the comparison used.
        compared_to: ComparedTo = "comparedTo" always;
        /// Resolved revision of the single source.
        revision: String = "revision";
        /// Resolved revisions of the sources.
        revisions: Vec<String> = "revisions";
    }

    /// What a comparison used.
    pub struct ComparedTo {
        /// The single source.
        source: ApplicationSource = "source" always;
        /// Destination as written.
        destination: Destination = "destination" required;
        /// The sources.
        sources: Vec<ApplicationSource> = "sources";
        /// Ignore rules.
        ignore_differences: Vec<ResourceIgnoreDifferences> = "ignoreDifferences";
    }

    /// Health of the Application.
    pub struct AppHealth {
        /// Health code.
        status: String = "status";
        /// Deprecated; never written.
        message: String = "message";
        /// When the code changed.
        last_transition_time: Option<Time> = "lastTransitionTime";
    }

    /// Health of one object.
    pub struct HealthStatus {
        /// Health code.
        status: String = "status";
        /// Text for people.
        message: String = "message";
        /// When the code changed; not written per object.
        last_transition_time: Option<Time> = "lastTransitionTime";
    }

    /// One compared object.
    pub struct ResourceStatus {
        /// API group.
        group: String = "group";
        /// Version.
        version: String = "version";
        /// Kind.
        kind: String = "kind";
        /// Namespace.
        namespace: String = "namespace";
        /// Name.
        name: String = "name";
        /// `Synced`, `OutOfSync`, `Unknown`, or empty.
        status: String = "status";
        /// Health, only when it is persisted.
        health: Option<HealthStatus> = "health";
        /// Whether the object is a hook.
        hook: bool = "hook";
        /// Whether the object left the sources.
        requires_pruning: bool = "requiresPruning";
        /// Sync wave.
        sync_wave: i64 = "syncWave";
        /// Whether pruning or deletion waits for approval.
        requires_deletion_confirmation: bool = "requiresDeletionConfirmation";
    }

    /// URLs and images.
    pub struct Summary {
        /// URLs, sorted.
        external_urls: Vec<String> = "externalURLs";
        /// Images of Pods, sorted.
        images: Vec<String> = "images";
        /// Whether a managed object is an Application.
        is_app_of_apps: bool = "isAppOfApps";
    }

    /// A successful sync.
    pub struct RevisionHistory {
        /// Revision of the single source.
        revision: String = "revision";
        /// When it ended.
        deployed_at: Time = "deployedAt" required;
        /// Running number.
        id: i64 = "id" required;
        /// The single source.
        source: ApplicationSource = "source" always;
        /// When it started.
        deploy_started_at: Option<Time> = "deployStartedAt";
        /// The sources.
        sources: Vec<ApplicationSource> = "sources";
        /// Revisions of the sources.
        revisions: Vec<String> = "revisions";
        /// Who asked.
        initiated_by: OperationInitiator = "initiatedBy" always;
    }

    /// A condition.
    pub struct Condition {
        /// Type; an `…Error` is an error.
        r#type: String = "type" required;
        /// Text.
        message: String = "message" required;
        /// When it appeared.
        last_transition_time: Option<Time> = "lastTransitionTime";
    }
}

impl Condition {
    /// A condition without a time; the time is given when it is stored.
    pub fn new(r#type: &str, message: impl Into<String>) -> Self {
        Self { r#type: r#type.to_owned(), message: message.into(), last_transition_time: None }
    }
    /// Whether the type names an error (APP-102).
    pub fn is_error(&self) -> bool {
        self.r#type.ends_with("Error")
    }
}

impl ResourceStatus {
    /// Identity of the object.
    pub fn key(&self) -> super::ResourceKey {
        super::ResourceKey {
            group: self.group.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}
