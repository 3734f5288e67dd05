//! The generator over open pull requests.
//!
//! In:  `pullRequest` of a generator.
//! Out: typed views; exactly one provider is meant to be set.
//! Invariant: tokens are only referred to, never held.
//! Source: `pkg/apis/application/v1alpha1/applicationset_types.go` `PullRequestGenerator`.

use std::collections::BTreeMap;

use super::{ApplicationSetTemplate, BasicAuthBitbucketServer, BearerTokenBitbucket, ConfigMapKeyRef, SecretRef};
use crate::api::wire::wire;

wire! {
    /// Open pull requests of a repository.
    pub struct PullRequestGenerator {
        /// GitHub.
        github: Option<PullRequestGithub> = "github";
        /// GitLab.
        gitlab: Option<PullRequestGitlab> = "gitlab";
        /// Gitea.
        gitea: Option<PullRequestGitea> = "gitea";
        /// Bitbucket Server.
        bitbucket_server: Option<PullRequestBitbucketServer> = "bitbucketServer";
        /// A pull request is kept when any of these matches.
        filters: Vec<PullRequestFilter> = "filters";
        /// Seconds between looks.
        requeue_after_seconds: Option<i64> = "requeueAfterSeconds";
        /// Overrides of the template.
        template: ApplicationSetTemplate = "template" always;
        /// Bitbucket Cloud.
        bitbucket: Option<PullRequestBitbucket> = "bitbucket";
        /// Azure DevOps.
        azure_devops: Option<PullRequestAzureDevOps> = "azuredevops";
        /// Further parameters.
        values: BTreeMap<String, String> = "values";
        /// Whether a missing repository gives no pull requests instead of an error.
        continue_on_repo_not_found_error: bool = "continueOnRepoNotFoundError";
    }

    /// Pull requests of a Gitea repository.
    pub struct PullRequestGitea {
        /// Organisation or user.
        owner: String = "owner" required;
        /// Repository.
        repo: String = "repo" required;
        /// API URL.
        api: String = "api" required;
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Labels a pull request must have.
        labels: Vec<String> = "labels";
    }

    /// Pull requests of an Azure DevOps repository.
    pub struct PullRequestAzureDevOps {
        /// Organisation.
        organization: String = "organization" required;
        /// Project.
        project: String = "project" required;
        /// Repository.
        repo: String = "repo" required;
        /// API URL.
        api: String = "api";
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Labels a pull request must have.
        labels: Vec<String> = "labels";
    }

    /// Pull requests of a GitHub repository.
    pub struct PullRequestGithub {
        /// Organisation or user.
        owner: String = "owner" required;
        /// Repository.
        repo: String = "repo" required;
        /// API URL.
        api: String = "api";
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Repository Secret that holds a GitHub App.
        app_secret_name: String = "appSecretName";
        /// Labels a pull request must have.
        labels: Vec<String> = "labels";
    }

    /// Merge requests of a GitLab project.
    pub struct PullRequestGitlab {
        /// Project id or path.
        project: String = "project" required;
        /// API URL.
        api: String = "api";
        /// Where the token is.
        token_ref: Option<SecretRef> = "tokenRef";
        /// Labels a merge request must have.
        labels: Vec<String> = "labels";
        /// `opened`, `closed`, `merged`, `locked`, or empty for all.
        pull_request_state: String = "pullRequestState";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Where the certificate authority is.
        ca_ref: Option<ConfigMapKeyRef> = "caRef";
    }

    /// Pull requests of a Bitbucket Server repository.
    pub struct PullRequestBitbucketServer {
        /// Project key.
        project: String = "project" required;
        /// Repository.
        repo: String = "repo" required;
        /// API URL.
        api: String = "api" required;
        /// User and password.
        basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth";
        /// Token.
        bearer_token: Option<BearerTokenBitbucket> = "bearerToken";
        /// Whether the certificate is not verified.
        insecure: bool = "insecure";
        /// Where the certificate authority is.
        ca_ref: Option<ConfigMapKeyRef> = "caRef";
    }

    /// Pull requests of a Bitbucket Cloud repository.
    pub struct PullRequestBitbucket {
        /// Workspace.
        owner: String = "owner" required;
        /// Repository.
        repo: String = "repo" required;
        /// API URL.
        api: String = "api";
        /// User and password.
        basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth";
        /// Token.
        bearer_token: Option<BearerTokenBitbucket> = "bearerToken";
    }

    /// All given parts must match.
    pub struct PullRequestFilter {
        /// Regular expression for the source branch.
        branch_match: Option<String> = "branchMatch";
        /// Regular expression for the target branch.
        target_branch_match: Option<String> = "targetBranchMatch";
        /// Regular expression for the title.
        title_match: Option<String> = "titleMatch";
    }
}
