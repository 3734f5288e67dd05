//! The AppProject object: what applications of a project may do.
//!
//! Source: `pkg/apis/application/v1alpha1/types.go` `AppProjectSpec`, `app_project_types.go`.

use std::collections::BTreeMap;

use super::application::{Destination, ObjectMeta};
use super::schema::{any_object, list_of, short_text};
use super::wire::wire;

wire! {
    /// An AppProject as stored in the API server.
    pub struct AppProject {
        /// Object metadata.
        metadata: ObjectMeta = "metadata" required => any_object;
        /// Restrictions.
        spec: AppProjectSpec = "spec" required;
        /// Tokens that Argo CD's API server issued; litecd neither reads nor writes them.
        status: AppProjectStatus = "status" always;
    }

    /// Restrictions of a project.
    pub struct AppProjectSpec {
        /// Repository patterns.
        source_repos: Vec<String> = "sourceRepos";
        /// Destination patterns.
        destinations: Vec<Destination> = "destinations";
        /// Text for people.
        description: String = "description" => short_text;
        /// Roles of Argo CD's API server; not used here.
        roles: Vec<serde_json::Value> = "roles" => list_of::<ProjectRole>;
        /// Cluster-scoped kinds allowed; none when absent.
        cluster_resource_whitelist: Vec<ClusterResource> = "clusterResourceWhitelist";
        /// Namespaced kinds refused.
        namespace_resource_blacklist: Vec<GroupKindPattern> = "namespaceResourceBlacklist";
        /// Monitoring of objects that no application owns.
        orphaned_resources: Option<OrphanedResources> = "orphanedResources";
        /// When syncs are allowed.
        sync_windows: Vec<SyncWindow> = "syncWindows";
        /// Namespaced kinds allowed; all when absent, none when present but empty (APP-215).
        namespace_resource_whitelist: Option<Vec<GroupKindPattern>> = "namespaceResourceWhitelist";
        /// Keys that commits must be signed with.
        signature_keys: Vec<SignatureKey> = "signatureKeys";
        /// Cluster-scoped kinds refused.
        cluster_resource_blacklist: Vec<ClusterResource> = "clusterResourceBlacklist";
        /// Namespaces whose Applications may use the project.
        source_namespaces: Vec<String> = "sourceNamespaces";
        /// Only clusters of this project.
        permit_only_project_scoped_clusters: bool = "permitOnlyProjectScopedClusters";
        /// Service accounts to impersonate.
        destination_service_accounts: Vec<DestinationServiceAccount> = "destinationServiceAccounts";
        /// Source integrity policies, kept as they are.
        source_integrity: Option<serde_json::Value> = "sourceIntegrity" => SourceIntegrity::schema;
    }

    /// Tokens per role.
    pub struct AppProjectStatus {
        /// Tokens by role name.
        jwt_tokens_by_role: BTreeMap<String, JwtTokens> = "jwtTokensByRole";
    }

    /// A role of Argo CD's API server.
    pub struct ProjectRole {
        /// Role name.
        name: String = "name" required;
        /// Text for people.
        description: String = "description";
        /// Casbin policies.
        policies: Vec<String> = "policies";
        /// Issued tokens.
        jwt_tokens: Vec<JwtToken> = "jwtTokens";
        /// Groups of the identity provider that hold the role.
        groups: Vec<String> = "groups";
    }

    /// A list of tokens.
    pub struct JwtTokens {
        /// The tokens.
        items: Vec<JwtToken> = "items";
    }

    /// What identifies an issued token; never the token itself.
    pub struct JwtToken {
        /// When it was issued, seconds since the epoch.
        issued_at: i64 = "iat" required;
        /// When it expires, seconds since the epoch.
        expires_at: i64 = "exp";
        /// Id.
        id: String = "id";
    }

    /// Policies that commits must meet.
    pub struct SourceIntegrity {
        /// Policies for Git repositories.
        git: Option<SourceIntegrityGit> = "git" required;
    }

    /// Policies for Git repositories.
    pub struct SourceIntegrityGit {
        /// The policies, first match wins.
        policies: Vec<SourceIntegrityGitPolicy> = "policies" required;
    }

    /// What commits of some repositories must be signed with.
    pub struct SourceIntegrityGitPolicy {
        /// Repositories the policy is for.
        repos: Vec<SourceIntegrityGitRepo> = "repos" required;
        /// GnuPG rule.
        gpg: Option<SourceIntegrityGpg> = "gpg" required;
    }

    /// A repository pattern of a policy.
    pub struct SourceIntegrityGitRepo {
        /// URL pattern.
        url: String = "url" required;
    }

    /// GnuPG rule of a policy.
    pub struct SourceIntegrityGpg {
        /// How much of the history is verified.
        mode: String = "mode" required;
        /// Allowed key ids.
        keys: Vec<String> = "keys" required;
    }

    /// A cluster-scoped kind, optionally one name pattern.
    pub struct ClusterResource {
        /// Group pattern.
        group: String = "group" required;
        /// Kind pattern.
        kind: String = "kind" required;
        /// Name pattern; empty matches all.
        name: String = "name";
    }

    /// A namespaced kind.
    pub struct GroupKindPattern {
        /// Group pattern.
        group: String = "group" required;
        /// Kind pattern.
        kind: String = "kind" required;
    }

    /// Monitoring of objects that no application owns.
    pub struct OrphanedResources {
        /// Whether to warn; absent means no.
        warn: Option<bool> = "warn";
        /// Objects left out.
        ignore: Vec<OrphanedResourceKey> = "ignore";
    }

    /// An object left out of orphan monitoring.
    pub struct OrphanedResourceKey {
        /// Group pattern; empty matches core only.
        group: String = "group";
        /// Kind pattern; empty matches all.
        kind: String = "kind";
        /// Name pattern; empty matches all.
        name: String = "name";
    }

    /// A sync window.
    pub struct SyncWindow {
        /// `allow` or `deny`.
        kind: String = "kind";
        /// Five-field cron.
        schedule: String = "schedule";
        /// Go duration.
        duration: String = "duration";
        /// Application name patterns.
        applications: Vec<String> = "applications";
        /// Namespace patterns.
        namespaces: Vec<String> = "namespaces";
        /// Cluster patterns.
        clusters: Vec<String> = "clusters";
        /// Whether manual syncs are allowed regardless.
        manual_sync: bool = "manualSync";
        /// IANA zone; UTC when empty or unknown.
        time_zone: String = "timeZone";
        /// Whether all given lists must match.
        use_and_operator: bool = "andOperator";
        /// Text for people.
        description: String = "description";
        /// Whether a running sync may continue.
        sync_overrun: bool = "syncOverrun";
    }

    /// A GnuPG key id.
    pub struct SignatureKey {
        /// Key id.
        key_id: String = "keyID" required;
    }

    /// A service account to impersonate for a destination.
    pub struct DestinationServiceAccount {
        /// Server pattern.
        server: String = "server" required;
        /// Namespace pattern.
        namespace: String = "namespace";
        /// `name` or `namespace:name`.
        default_service_account: String = "defaultServiceAccount" required;
    }
}
