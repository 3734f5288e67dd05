//! The generator over repositories of a source code host.
//!
//! In:  `scmProvider` of a generator.
//! Out: typed views; exactly one provider is meant to be set.
//! Invariant: tokens are only referred to, never held.
//! Source: `pkg/apis/application/v1alpha1/applicationset_types.go` `SCMProviderGenerator`.

use std::collections::BTreeMap;

use super::ApplicationSetTemplate;
use crate::api::wire::wire;

wire! {
    /// Repositories of an organisation.
    pub struct ScmProviderGenerator {
        /// GitHub.
        github: Option<ScmGithub> = "github";
        /// GitLab.
        gitlab: Option<ScmGitlab> = "gitlab";
        /// Bitbucket Cloud.
        bitbucket: Option<ScmBitbucket> = "bitbucket";
        /// Bitbucket Server.
        bitbucket_server: Option<ScmBitbucketServer> = "bitbucketServer";
        /// Gitea.
        gitea: Option<ScmGitea> = "gitea";
        /// Azure DevOps.
        azure_devops: Option<ScmAzureDevOps> = "azureDevOps";
        /// A repository is kept when any of these matches.
        filters: Vec<ScmFilter> = "filters";
        /// `ssh` or `https`.
        clone_protocol: String = "cloneProtocol";
        /// Seconds between looks.
        requeue_after_seconds: Option<i64> = "requeueAfterSeconds";
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
        /// AWS CodeCommit.
        aws_code_commit: Option<ScmAwsCodeCommit> = "awsCodeCommit";
    }

    /// A key of a Secret.
    pub struct SecretRef {
        /// Secret name.
        secret_name: String = "secretName" required;
        /// Key.
        key: String = "key" required;
    }

    /// A key of a ConfigMap.
    pub struct ConfigMapKeyRef {
        /// ConfigMap name.
        config_map_name: String = "configMapName" required;
        /// Key.
        key: String = "key" required;
    }

    /// User and password for a Bitbucket.
    pub struct BasicAuthBitbucketServer {
        /// User name.
        username: String = "username" required;
        /// Where the password is.
        password_ref: Option<SecretRef> = "passwordRef" required;
    }

    /// Token for a Bitbucket.
    pub struct BearerTokenBitbucket {
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef" required;
    }

    /// Repositories of a Gitea owner.
    pub struct ScmGitea {
        /// Organisation or user.
        owner: String = "owner" required;
        /// API URL.
        api: String = "api" required;
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Whether archived repositories are left out.
        exclude_archived_repos: bool = "excludeArchivedRepos";
    }

    /// Repositories of a GitHub organisation.
    pub struct ScmGithub {
        /// Organisation.
        organization: String = "organization" required;
        /// API URL.
        api: String = "api";
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Repository Secret that holds a GitHub App.
        app_secret_name: String = "appSecretName";
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
        /// Whether archived repositories are left out.
        exclude_archived_repos: bool = "excludeArchivedRepos";
    }

    /// Projects of a GitLab group.
    pub struct ScmGitlab {
        /// Group id or path.
        group: String = "group" required;
        /// Whether subgroups count.
        include_subgroups: bool = "includeSubgroups";
        /// API URL.
        api: String = "api";
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Whether shared projects count; absent is true.
        include_shared_projects: Option<bool> = "includeSharedProjects";
        /// Topic the projects must have.
        topic: String = "topic";
        /// Where the certificate authority is.
        ca_ref: Option<ConfigMapKeyRef> = "caRef";
        /// Whether archived projects count.
        include_archived_repos: bool = "includeArchivedRepos";
    }

    /// Repositories of a Bitbucket Cloud workspace.
    pub struct ScmBitbucket {
        /// Workspace.
        owner: String = "owner" required;
        /// User name.
        user: String = "user" required;
        /// Where the app password is.
        app_password_ref: Option<SecretRef> = "appPasswordRef" required;
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
    }

    /// Repositories of a Bitbucket Server project.
    pub struct ScmBitbucketServer {
        /// Project key.
        project: String = "project" required;
        /// API URL.
        api: String = "api" required;
        /// User and password.
        basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth";
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
        /// Token.
        bearer_token: Option<BearerTokenBitbucket> = "bearerToken";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Where the certificate authority is.
        ca_ref: Option<ConfigMapKeyRef> = "caRef";
    }

    /// Repositories of an Azure DevOps team project.
    pub struct ScmAzureDevOps {
        /// Organisation.
        organization: String = "organization" required;
        /// API URL.
        api: String = "api";
        /// Team project.
        team_project: String = "teamProject" required;
        /// Where the token is.
        access_token_ref: Option<SecretRef> = "accessTokenRef" required;
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
    }

    /// Repositories of AWS CodeCommit.
    pub struct ScmAwsCodeCommit {
        /// Tags the repositories must have.
        tag_filters: Vec<TagFilter> = "tagFilters";
        /// Role to assume.
        role: String = "role";
        /// Region.
        region: String = "region";
        /// Whether every branch counts.
        all_branches: bool = "allBranches";
    }

    /// A tag of a repository.
    pub struct TagFilter {
        /// Tag name.
        key: String = "key" required;
        /// Tag value; empty matches any.
        value: String = "value";
    }

    /// All given parts must match.
    pub struct ScmFilter {
        /// Regular expression for the repository's name.
        repository_match: Option<String> = "repositoryMatch";
        /// Paths that must exist.
        paths_exist: Vec<String> = "pathsExist";
        /// Paths that must not exist.
        paths_do_not_exist: Vec<String> = "pathsDoNotExist";
        /// Regular expression for a label.
        label_match: Option<String> = "labelMatch";
        /// Regular expression for the branch.
        branch_match: Option<String> = "branchMatch";
    }
}
