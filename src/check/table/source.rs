//! Features of a source: where it is and how it is rendered.
//!
//! In:  nothing. Out: rows. Source: APP-005 to APP-009.

use super::{Row, features};
use crate::check::Support::{No, Yes};

pub static ROWS: &[Row] = features! {
    Render "source.repository" Yes, ["Source.repoURL"],
        "Repository", "The repository that holds the manifests.";
    Render "source.path" Yes, ["Source.path"],
        "Path", "The directory in the repository.";
    Render "source.revision" Yes, ["Source.targetRevision"],
        "Revision", "Branch, tag, commit or version constraint.";
    Render "source.tag-prefix" Yes, ["Source.tagPrefix"],
        "Tag prefix", "The tags that a version constraint is matched against.";
    Render "source.ref" Yes, ["Source.ref"],
        "Reference source", "A source whose files other sources use as `$name/…`.";
    Report "source.name" Yes, ["Source.name"],
        "Source name", "A name for people.";
    Render "source.oci" Yes, ["repository:oci"],
        "OCI source", "Manifests or a chart in an OCI registry.";
    Render "source.ssh" Yes, ["repository:ssh"],
        "Git over SSH", "A repository that is reached over SSH.";
    Render "source.chart" Yes, ["Source.chart"],
        "Chart from a Helm repository", "A chart by name and version.";

    Render "helm.value-files" Yes, ["Source.helm.valueFiles"],
        "Helm value files", "Value files from the repository or a reference source.";
    Render "helm.ignore-missing-value-files" Yes, ["Source.helm.ignoreMissingValueFiles"],
        "Missing value files", "A missing value file is no error.";
    Render "helm.parameters" Yes,
        ["Source.helm.parameters.**"],
        "Helm parameters", "Single values, as with `--set`.";
    Render "helm.file-parameters" Yes, ["Source.helm.fileParameters.**"],
        "Helm file parameters", "Single values from files, as with `--set-file`.";
    Render "helm.values" Yes, ["Source.helm.values"],
        "Helm values as text", "Values as YAML text.";
    Render "helm.values-object" Yes, ["Source.helm.valuesObject"],
        "Helm values as object", "Values as an object.";
    Render "helm.release" Yes, ["Source.helm.releaseName", "Source.helm.namespace"],
        "Helm release", "Release name and namespace that the chart sees.";
    Render "helm.version" Yes, ["Source.helm.version"],
        "Helm version", "`v3`, accepted and without effect.";
    Render "helm.pass-credentials" Yes, ["Source.helm.passCredentials"],
        "Helm credentials everywhere", "Credentials go to every domain a chart is fetched from.";
    Render "helm.skip" Yes, ["Source.helm.skipCrds", "Source.helm.skipTests", "Source.helm.skipSchemaValidation"],
        "Helm parts left out", "CRDs, tests or the values' schema are left out.";
    Render "helm.capabilities" Yes, ["Source.helm.kubeVersion", "Source.helm.apiVersions"],
        "Helm capabilities", "Kubernetes and API versions that the chart sees.";

    Render "kustomize.names" Yes,
        ["Source.kustomize.namePrefix", "Source.kustomize.nameSuffix", "Source.kustomize.namespace"],
        "Kustomize names", "Prefix, suffix and namespace for everything.";
    Render "kustomize.images" Yes, ["Source.kustomize.images"],
        "Kustomize images", "Image overrides.";
    Render "kustomize.replicas" Yes, ["Source.kustomize.replicas.**"],
        "Kustomize replicas", "Replica overrides.";
    Render "kustomize.labels" Yes,
        ["Source.kustomize.commonLabels", "Source.kustomize.forceCommonLabels",
         "Source.kustomize.labelWithoutSelector", "Source.kustomize.labelIncludeTemplates"],
        "Kustomize labels", "Labels for everything.";
    Render "kustomize.annotations" Yes,
        ["Source.kustomize.commonAnnotations", "Source.kustomize.forceCommonAnnotations",
         "Source.kustomize.commonAnnotationsEnvsubst"],
        "Kustomize annotations", "Annotations for everything.";
    Render "kustomize.patches" Yes, ["Source.kustomize.patches.**"],
        "Kustomize patches", "Patches written in the Application.";
    Render "kustomize.components" Yes, ["Source.kustomize.components", "Source.kustomize.ignoreMissingComponents"],
        "Kustomize components", "Components added to the kustomization.";
    Render "kustomize.version" Yes, ["Source.kustomize.version"],
        "Kustomize version", "One of several registered Kustomize binaries.";
    Render "kustomize.capabilities" Yes, ["Source.kustomize.kubeVersion", "Source.kustomize.apiVersions"],
        "Kustomize capabilities", "Kubernetes and API versions for charts inside a kustomization.";

    Render "directory.selection" Yes,
        ["Source.directory.recurse", "Source.directory.include", "Source.directory.exclude"],
        "Directory selection", "Which files of a plain directory are taken.";
    Render "directory.jsonnet" Yes, ["Source.directory.jsonnet.**"],
        "Jsonnet", "Variables, arguments and libraries for Jsonnet files.";
    Render "source.plugin" No("config management plugins are not run"),
        ["Source.plugin", "Source.plugin.name", "Source.plugin.env.**", "Source.plugin.parameters.**"],
        "Config management plugin", "A sidecar that renders the source.";
};
