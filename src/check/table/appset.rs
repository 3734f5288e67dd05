//! Features of an ApplicationSet.
//!
//! In:  nothing. Out: rows. Source: `applicationset_types.go`, SET-001 onwards.

use super::{Row, features};
use crate::check::Support::{self, No};

/// One reason for all, until ApplicationSets are read.
const NOT_YET: Support = No("ApplicationSets are not read yet");

pub static ROWS: &[Row] = features! {
    Generate "appset.list" NOT_YET, ["Generator.list", "Generator.list.elements", "Generator.list.elementsYaml"],
        "List generator", "Parameters that are written down.";
    Generate "appset.clusters" NOT_YET,
        ["Generator.clusters", "Generator.clusters.selector.**", "Generator.clusters.flatList"],
        "Cluster generator", "One set of parameters per known cluster.";
    Generate "appset.git" NOT_YET,
        ["Generator.git", "Generator.git.repoURL", "Generator.git.revision", "Generator.git.pathParamPrefix"],
        "Git generator", "Parameters from a Git repository.";
    Generate "appset.git.directories" NOT_YET, ["Generator.git.directories.**"],
        "Git directories", "One set of parameters per directory.";
    Generate "appset.git.files" NOT_YET, ["Generator.git.files.**"],
        "Git files", "Parameters from files.";
    Generate "appset.scm-provider" NOT_YET,
        ["Generator.scmProvider", "Generator.scmProvider.github.**", "Generator.scmProvider.gitlab.**",
         "Generator.scmProvider.bitbucket.**", "Generator.scmProvider.bitbucketServer.**",
         "Generator.scmProvider.gitea.**", "Generator.scmProvider.azureDevOps.**",
         "Generator.scmProvider.awsCodeCommit.**", "Generator.scmProvider.filters.**",
         "Generator.scmProvider.cloneProtocol"],
        "SCM provider generator", "One set of parameters per repository of an organisation.";
    Generate "appset.pull-request" NOT_YET,
        ["Generator.pullRequest", "Generator.pullRequest.github.**", "Generator.pullRequest.gitlab.**",
         "Generator.pullRequest.bitbucket.**", "Generator.pullRequest.bitbucketServer.**",
         "Generator.pullRequest.gitea.**", "Generator.pullRequest.azuredevops.**", "Generator.pullRequest.filters.**",
         "Generator.pullRequest.continueOnRepoNotFoundError"],
        "Pull request generator", "One set of parameters per open pull request.";
    Generate "appset.cluster-decision-resource" NOT_YET,
        ["Generator.clusterDecisionResource", "Generator.clusterDecisionResource.configMapRef",
         "Generator.clusterDecisionResource.name", "Generator.clusterDecisionResource.labelSelector.**"],
        "Cluster decision resource generator", "Clusters that another controller chose.";
    Generate "appset.plugin" NOT_YET, ["Generator.plugin", "Generator.plugin.configMapRef.**", "Generator.plugin.input.**"],
        "Plugin generator", "Parameters from an HTTP service.";
    Generate "appset.matrix" NOT_YET, ["Generator.matrix"],
        "Matrix generator", "Every combination of two generators.";
    Generate "appset.merge" NOT_YET, ["Generator.merge", "Generator.merge.mergeKeys"],
        "Merge generator", "Generators joined by keys.";
    Generate "appset.selector" NOT_YET, ["Generator.selector.**", "ApplicationSet.spec.applyNestedSelectors"],
        "Generator selector", "Only some sets of parameters are kept.";
    Generate "appset.values" NOT_YET,
        ["Generator.clusters.values", "Generator.git.values", "Generator.scmProvider.values",
         "Generator.pullRequest.values", "Generator.clusterDecisionResource.values", "Generator.plugin.values"],
        "Generator values", "Further parameters of a generator.";
    Generate "appset.requeue" NOT_YET,
        ["Generator.git.requeueAfterSeconds", "Generator.scmProvider.requeueAfterSeconds",
         "Generator.pullRequest.requeueAfterSeconds", "Generator.clusterDecisionResource.requeueAfterSeconds",
         "Generator.plugin.requeueAfterSeconds"],
        "Generator interval", "Time between looks.";
    Generate "appset.generator-template" NOT_YET,
        ["Generator.list.template.**", "Generator.clusters.template.**", "Generator.git.template.**",
         "Generator.scmProvider.template.**", "Generator.pullRequest.template.**", "Generator.matrix.template.**",
         "Generator.merge.template.**", "Generator.clusterDecisionResource.template.**", "Generator.plugin.template.**"],
        "Template of a generator", "Overrides of the template for one generator.";

    Generate "appset.template" NOT_YET,
        ["ApplicationSet.spec.template", "ApplicationSet.spec.template.metadata.name",
         "ApplicationSet.spec.template.metadata.namespace", "ApplicationSet.spec.template.metadata.labels"],
        "Template", "The Application that is made for each set of parameters.";
    Generate "appset.template.annotations" NOT_YET, ["ApplicationSet.spec.template.metadata.annotations"],
        "Template annotations", "Annotations of the Applications.";
    Generate "appset.template.finalizers" NOT_YET, ["ApplicationSet.spec.template.metadata.finalizers"],
        "Template finalizers", "Finalizers of the Applications.";
    Generate "appset.template-patch" NOT_YET, ["ApplicationSet.spec.templatePatch"],
        "Template patch", "A patch made from a template, merged over the result.";
    Generate "appset.go-template" NOT_YET, ["ApplicationSet.spec.goTemplate", "ApplicationSet.spec.goTemplateOptions"],
        "Go templates", "The template is a Go template.";
    Generate "appset.sync-policy" NOT_YET,
        ["ApplicationSet.spec.syncPolicy.applicationsSync", "ApplicationSet.spec.syncPolicy.preserveResourcesOnDeletion"],
        "Application policy", "Which changes to Applications are allowed.";
    Generate "appset.strategy" NOT_YET,
        ["ApplicationSet.spec.strategy.type", "ApplicationSet.spec.strategy.rollingSync.**",
         "ApplicationSet.spec.strategy.deletionOrder"],
        "Progressive sync", "In which order changes reach the Applications.";
    Generate "appset.preserved" NOT_YET,
        ["ApplicationSet.spec.preservedFields.**", "ApplicationSet.spec.ignoreApplicationDifferences.**"],
        "Preserved fields", "Fields of Applications that are left alone.";
    Report "appset.status" NOT_YET, ["ApplicationSet.status.**"],
        "ApplicationSet status", "What the ApplicationSet controller observed.";
};
