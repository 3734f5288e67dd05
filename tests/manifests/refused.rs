//! Manifests that Argo CD's CRDs refuse are refused by litecd's, for the same fault and for no other.

use litecd::api::schema::validate;
use serde_json::Value;

use crate::{reference_crds, reference_folder, schema_in};

/// `kind`, how the one fault starts, and the manifest below `apiVersion` and `kind`.
const REFUSED: &[(&str, &str, &str)] = &[
    ("Application", "metadata: Required value", "spec: {project: default, destination: {}}"),
    ("Application", "spec: Required value", "metadata: {name: a}"),
    ("Application", "spec.project: Required value", "metadata: {name: a}\nspec: {destination: {}}"),
    ("Application", "spec.project: Required value", "metadata: {name: a}\nspec: {project: null, destination: {}}"),
    ("Application", "spec.destination: Required value", "metadata: {name: a}\nspec: {project: default}"),
    ("Application", "spec.project: Invalid value", "metadata: {name: a}\nspec: {project: 7, destination: {}}"),
    ("Application", "spec.destination: Invalid value", "metadata: {name: a}\nspec: {project: '', destination: here}"),
    ("Application", "spec.source.repoURL: Required value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {path: apps}}"),
    ("Application", "spec.source.targetRevision: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {repoURL: x, targetRevision: 1.10}}"),
    ("Application", "spec.source.helm.valuesObject: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {repoURL: x, helm: {valuesObject: 'a: 1'}}}"),
    ("Application", "spec.source.helm.parameters[1].value: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {repoURL: x, helm: {parameters: [{name: a, value: '1'}, {name: b, value: 2}]}}}"),
    ("Application", "spec.sources[0].kustomize.commonLabels.on: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, sources: [{repoURL: x, kustomize: {commonLabels: {'on': true}}}]}"),
    ("Application", "spec.source.kustomize.replicas[0].count: Required value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {repoURL: x, kustomize: {replicas: [{name: web}]}}}"),
    ("Application", "spec.source.kustomize.replicas[0].count: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, source: {repoURL: x, kustomize: {replicas: [{name: web, count: true}]}}}"),
    ("Application", "spec.syncPolicy.automated.prune: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, syncPolicy: {automated: {prune: 'true'}}}"),
    ("Application", "spec.syncPolicy.automated: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, syncPolicy: {automated: true}}"),
    ("Application", "spec.syncPolicy.syncOptions: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, syncPolicy: {syncOptions: CreateNamespace=true}}"),
    ("Application", "spec.syncPolicy.retry.limit: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, syncPolicy: {retry: {limit: five}}}"),
    ("Application", "spec.revisionHistoryLimit: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}, revisionHistoryLimit: 1.5}"),
    ("Application", "spec.ignoreDifferences[0].kind: Required value", "
metadata: {name: a}
spec: {project: '', destination: {}, ignoreDifferences: [{group: apps, jsonPointers: [/spec]}]}"),
    ("Application", "spec.info[0].value: Required value", "
metadata: {name: a}
spec: {project: '', destination: {}, info: [{name: url}]}"),
    ("Application", "spec.sourceHydrator.syncSource.path: Invalid value", "
metadata: {name: a}
spec:
  project: ''
  destination: {}
  sourceHydrator: {drySource: {repoURL: x, targetRevision: main, path: a}, syncSource: {targetBranch: env, path: .}}"),
    ("Application", "operation.sync.resources[0].name: Required value", "
metadata: {name: a}
spec: {project: '', destination: {}}
operation: {sync: {resources: [{kind: Pod}]}}"),
    ("Application", "status.reconciledAt: Invalid value", "
metadata: {name: a}
spec: {project: '', destination: {}}
status: {reconciledAt: today}"),
    ("Application", "status.sourceHydrator.currentOperation.phase: Unsupported value", "
metadata: {name: a}
spec: {project: '', destination: {}}
status: {sourceHydrator: {currentOperation: {phase: Done, message: ''}}}"),
    ("AppProject", "spec.destinations: Invalid value", "metadata: {name: p}\nspec: {destinations: '*'}"),
    ("AppProject", "spec.clusterResourceWhitelist[0].group: Required value", "
metadata: {name: p}
spec: {clusterResourceWhitelist: [{kind: Namespace}]}"),
    ("AppProject", "spec.roles[0].name: Required value", "metadata: {name: p}\nspec: {roles: [{policies: []}]}"),
    ("AppProject", "spec.signatureKeys[0].keyID: Required value", "metadata: {name: p}\nspec: {signatureKeys: [{}]}"),
    ("AppProject", "spec.syncWindows[0].manualSync: Invalid value", "
metadata: {name: p}
spec: {syncWindows: [{kind: allow, manualSync: 'yes'}]}"),
    ("AppProject", "spec.sourceIntegrity.git.policies[0].gpg: Required value", "
metadata: {name: p}
spec: {sourceIntegrity: {git: {policies: [{repos: [{url: '*'}]}]}}}"),
    ("ApplicationSet", "spec.template: Required value", "metadata: {name: s}\nspec: {generators: []}"),
    ("ApplicationSet", "spec.template.spec.project: Required value", "
metadata: {name: s}
spec: {generators: [], template: {metadata: {}, spec: {destination: {}}}}"),
    ("ApplicationSet", "spec.syncPolicy.applicationsSync: Unsupported value", "
metadata: {name: s}
spec: {generators: [], syncPolicy: {applicationsSync: never}, template: {metadata: {}, spec: {project: '', destination: {}}}}"),
    ("ApplicationSet", "spec.generators[0].git.revision: Required value", "
metadata: {name: s}
spec: {generators: [{git: {repoURL: x}}], template: {metadata: {}, spec: {project: '', destination: {}}}}"),
    ("ApplicationSet", "spec.generators[0].merge.mergeKeys: Required value", "
metadata: {name: s}
spec: {generators: [{merge: {generators: []}}], template: {metadata: {}, spec: {project: '', destination: {}}}}"),
    ("ApplicationSet", "spec.generators[0].matrix.generators[0].clusters.selector.matchExpressions[0].operator: Required", "
metadata: {name: s}
spec:
  generators: [{matrix: {generators: [{clusters: {selector: {matchExpressions: [{key: env}]}}}]}}]
  template: {metadata: {}, spec: {project: '', destination: {}}}"),
    ("ApplicationSet", "spec.generators[0].list.template.metadata: Required value", "
metadata: {name: s}
spec:
  generators: [{list: {elements: [], template: {spec: {project: '', destination: {}}}}}]
  template: {metadata: {}, spec: {project: '', destination: {}}}"),
];

fn check(schema: &Value, (kind, fault, text): (&str, &str, &str), whose: &str) {
    let mut object: Value = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    object["apiVersion"] = "argoproj.io/v1alpha1".into();
    object["kind"] = kind.into();
    let found = validate(schema, &object);
    assert_eq!(found.len(), 1, "{whose} schema, {text}\n{found:?}");
    assert!(found[0].starts_with(fault), "{whose} schema, {text}\nexpected {fault}, found {}", found[0]);
}

#[test]
fn each_faulty_manifest_is_refused_for_its_fault() {
    assert!(REFUSED.len() >= 20);
    let crds = litecd::api::crds();
    for case in REFUSED {
        check(schema_in(&crds, case.0), *case, "litecd's");
    }
}

#[test]
fn argo_cds_own_schemas_refuse_the_same_manifests() {
    let Some(folder) = reference_folder() else { return };
    for case in REFUSED {
        check(schema_in(reference_crds(&folder), case.0), *case, "Argo CD's");
    }
}
