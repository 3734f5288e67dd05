//! Features of an ApplicationSet.
//!
//! In:  nothing. Out: rows. Source: `applicationset_types.go`, SET-001 onwards.

use super::{Row, features};
use crate::check::Support::{No, Partial, Yes};

pub static ROWS: &[Row] = features! {
    Generate "appset.list" Yes, ["Generator.list", "Generator.list.elements", "Generator.list.elementsYaml"],
        "List generator", "Parameters that are written down.";
    Generate "appset.clusters" Yes,
        ["Generator.clusters", "Generator.clusters.selector.**", "Generator.clusters.flatList"],
        "Cluster generator", "One set of parameters per known cluster.";
    Generate "appset.git" Yes,
        ["Generator.git", "Generator.git.repoURL", "Generator.git.revision", "Generator.git.pathParamPrefix"],
        "Git generator", "Parameters from a Git repository.";
    Generate "appset.git.directories" Yes, ["Generator.git.directories.**"],
        "Git directories", "One set of parameters per directory.";
    Generate "appset.git.files" Yes, ["Generator.git.files.**"],
        "Git files", "Parameters from files.";
    Generate "appset.scm-provider" Yes,
        ["Generator.scmProvider", "Generator.scmProvider.github.**", "Generator.scmProvider.gitlab.**",
         "Generator.scmProvider.bitbucket.**", "Generator.scmProvider.bitbucketServer.**",
         "Generator.scmProvider.gitea.**", "Generator.scmProvider.azureDevOps.**",
         "Generator.scmProvider.filters.**", "Generator.scmProvider.cloneProtocol"],
        "SCM provider generator", "One set of parameters per repository of an organisation.";
    Generate "appset.codecommit" No("AWS CodeCommit is not asked; the set's condition says so, and nothing is deleted"),
        ["Generator.scmProvider.awsCodeCommit.**"],
        "AWS CodeCommit", "Repositories of AWS CodeCommit.";
    Generate "appset.pull-request" Yes,
        ["Generator.pullRequest", "Generator.pullRequest.github.**", "Generator.pullRequest.gitlab.**",
         "Generator.pullRequest.bitbucket.**", "Generator.pullRequest.bitbucketServer.**",
         "Generator.pullRequest.gitea.**", "Generator.pullRequest.azuredevops.**", "Generator.pullRequest.filters.**",
         "Generator.pullRequest.continueOnRepoNotFoundError"],
        "Pull request generator", "One set of parameters per open pull request.";
    Generate "appset.cluster-decision-resource" Yes,
        ["Generator.clusterDecisionResource", "Generator.clusterDecisionResource.configMapRef",
         "Generator.clusterDecisionResource.name", "Generator.clusterDecisionResource.labelSelector.**"],
        "Cluster decision resource generator", "Clusters that another controller chose.";
    Generate "appset.plugin" Yes, ["Generator.plugin", "Generator.plugin.configMapRef.**", "Generator.plugin.input.**"],
        "Plugin generator", "Parameters from an HTTP service.";
    Generate "appset.matrix" Yes, ["Generator.matrix"],
        "Matrix generator", "Every combination of two generators.";
    Generate "appset.merge" Yes, ["Generator.merge", "Generator.merge.mergeKeys"],
        "Merge generator", "Generators joined by keys.";
    Generate "appset.selector" Yes, ["Generator.selector.**", "ApplicationSet.spec.applyNestedSelectors"],
        "Generator selector", "Only some sets of parameters are kept.";
    Generate "appset.values" Yes,
        ["Generator.clusters.values", "Generator.git.values", "Generator.scmProvider.values",
         "Generator.pullRequest.values", "Generator.clusterDecisionResource.values", "Generator.plugin.values"],
        "Generator values", "Further parameters of a generator.";
    Generate "appset.requeue" Yes,
        ["Generator.git.requeueAfterSeconds", "Generator.scmProvider.requeueAfterSeconds",
         "Generator.pullRequest.requeueAfterSeconds", "Generator.clusterDecisionResource.requeueAfterSeconds",
         "Generator.plugin.requeueAfterSeconds"],
        "Generator interval", "Time between looks.";
    Generate "appset.generator-template" Yes,
        ["Generator.list.template.**", "Generator.clusters.template.**", "Generator.git.template.**",
         "Generator.scmProvider.template.**", "Generator.pullRequest.template.**", "Generator.matrix.template.**",
         "Generator.merge.template.**", "Generator.clusterDecisionResource.template.**", "Generator.plugin.template.**"],
        "Template of a generator", "Overrides of the template for one generator.";

    Generate "appset.template" Yes,
        ["ApplicationSet.spec.template", "ApplicationSet.spec.template.metadata.name",
         "ApplicationSet.spec.template.metadata.namespace", "ApplicationSet.spec.template.metadata.labels"],
        "Template", "The Application that is made for each set of parameters.";
    Generate "appset.template.annotations" Yes, ["ApplicationSet.spec.template.metadata.annotations"],
        "Template annotations", "Annotations of the Applications.";
    Generate "appset.template.finalizers" Yes, ["ApplicationSet.spec.template.metadata.finalizers"],
        "Template finalizers", "Finalizers of the Applications.";
    Generate "appset.template-patch" Yes, ["ApplicationSet.spec.templatePatch"],
        "Template patch", "A patch made from a template, merged over the result.";
    Generate "appset.go-template" Partial("functions that need the time, chance or cryptography fail, in the set's condition"),
        ["ApplicationSet.spec.goTemplate", "ApplicationSet.spec.goTemplateOptions"],
        "Go templates", "The template is a Go template.";
    Generate "appset.sync-policy" Yes,
        ["ApplicationSet.spec.syncPolicy.applicationsSync", "ApplicationSet.spec.syncPolicy.preserveResourcesOnDeletion"],
        "Application policy", "Which changes to Applications are allowed.";
    Generate "appset.strategy" Yes,
        ["ApplicationSet.spec.strategy.type", "ApplicationSet.spec.strategy.rollingSync.**",
         "ApplicationSet.spec.strategy.deletionOrder"],
        "Progressive sync", "In which order changes reach the Applications.";
    Generate "appset.preserved" Yes,
        ["ApplicationSet.spec.preservedFields.**", "ApplicationSet.spec.ignoreApplicationDifferences.**"],
        "Preserved fields", "Fields of Applications that are left alone.";
    Report "appset.status" Yes, ["ApplicationSet.status.**"],
        "ApplicationSet status", "What the ApplicationSet controller observed.";
};
