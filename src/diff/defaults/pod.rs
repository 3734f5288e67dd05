//! Defaults of pods and pod templates.
//!
//! In:  a Pod, or an object with a template.
//! Out: the object with the API server's defaults.
//! Source: DIFF-069, DIFF-070 (Kubernetes 1.36.1 `pkg/apis/core/v1/defaults.go`).

use serde_json::{Value, json};

use super::access::Fill;

/// A Pod, which gets more than a template does.
pub fn pod(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
            for list in ["containers", "initContainers"] {
                spec.each(list, host_ports);
            }
        }
        for list in ["containers", "initContainers"] {
            spec.each(list, |container| container.within("resources", requests_from_limits));
        }
        spec.set("enableServiceLinks", true);
        pod_spec(spec);
    });
}

fn requests_from_limits(resources: &mut Fill<'_>) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    if let Some(mut requests) = resources.make("requests") {
        limits.into_iter().for_each(|(name, limit)| requests.set(&name, limit));
    }
}

/// On the host network a container's port is the host's.
fn host_ports(container: &mut Fill<'_>) {
    container.each("ports", |port| {
        if let Some(number) = port.int("containerPort") {
            port.set_nonzero("hostPort", number);
        }
    });
}

/// The pod template in a field.
pub fn template(object: &mut Fill<'_>, field: &str) {
    object.within(field, |template| template.within("spec", pod_spec));
}

fn pod_spec(spec: &mut Fill<'_>) {
    spec.set_all(&[("dnsPolicy", "ClusterFirst"), ("restartPolicy", "Always"), ("schedulerName", "default-scheduler")]);
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for list in ["containers", "initContainers"] {
            spec.each(list, host_ports);
        }
    }
    spec.set("securityContext", json!({}));
    spec.set("terminationGracePeriodSeconds", 30);
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        spec.each(list, container);
    }
    spec.each("volumes", volume);
}

fn container(container: &mut Fill<'_>) {
    let policy = if pulls_always(container.text("image")) { "Always" } else { "IfNotPresent" };
    container.set_all(&[
        ("imagePullPolicy", policy),
        ("terminationMessagePath", "/dev/termination-log"),
        ("terminationMessagePolicy", "File"),
    ]);
    container.each("ports", |port| port.set("protocol", "TCP"));
    container.each("env", |variable| {
        variable.within("valueFrom", |from| from.within("fieldRef", |field| field.set("apiVersion", "v1")));
    });
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        container.within(name, probe);
    }
    container.within("lifecycle", |lifecycle| {
        for name in ["postStart", "preStop"] {
            lifecycle.within(name, |handler| handler.within("httpGet", http_get));
        }
    });
}

/// Whether an image reference has the tag `latest`, or neither tag nor digest.
fn pulls_always(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_empty(),
    }
}

fn probe(probe: &mut Fill<'_>) {
    for (name, value) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        probe.set_nonzero(name, value);
    }
    probe.within("httpGet", http_get);
    probe.within("grpc", |grpc| {
        if grpc.get("service").is_none_or(Value::is_null) {
            grpc.set("service", "");
        }
    });
}

fn http_get(action: &mut Fill<'_>) {
    action.set_all(&[("path", "/"), ("scheme", "HTTP")]);
}

/// Volume sources; a volume without any is an empty directory.
const SOURCES: [&str; 31] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
    "podCertificate",
];

fn volume(volume: &mut Fill<'_>) {
    if !SOURCES.iter().any(|source| volume.has(source)) {
        volume.set("emptyDir", json!({}));
    }
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        volume.within(source, |source| source.set("defaultMode", 0o644));
    }
    volume.within("image", |image| {
        let policy = if pulls_always(image.text("reference")) { "Always" } else { "IfNotPresent" };
        image.set("pullPolicy", policy);
    });
    volume.within("downwardAPI", downward_items);
    volume.within("projected", |projected| {
        projected.each("sources", |source| {
            source.within("serviceAccountToken", |token| token.set("expirationSeconds", 3600));
            source.within("downwardAPI", downward_items);
        });
    });
    volume.within("hostPath", |path| {
        if path.get("type").is_none_or(Value::is_null) {
            path.set("type", "");
        }
    });
    volume.within("iscsi", |iscsi| iscsi.set("iscsiInterface", "default"));
    volume.within("rbd", |rbd| {
        rbd.set_all(&[("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")]);
    });
    volume.within("azureDisk", |disk| {
        disk.set_all(&[("cachingMode", "ReadWrite"), ("kind", "Shared"), ("fsType", "ext4")]);
        disk.set("readOnly", false);
    });
    volume.within("scaleIO", |disk| {
        disk.set_all(&[("storageMode", "ThinProvisioned"), ("fsType", "xfs")]);
    });
    volume.within("ephemeral", |source| {
        source.within("volumeClaimTemplate", |template| {
            template.within("spec", |spec| spec.set("volumeMode", "Filesystem"));
        });
    });
}

fn downward_items(source: &mut Fill<'_>) {
    source.each("items", |item| item.within("fieldRef", |field| field.set("apiVersion", "v1")));
}
