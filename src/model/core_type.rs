//! Recognises Kubernetes core types that a CRD embeds, by their fields.
//!
//! A generated schema doesn't name the types it contains. A new release of `k8s.io/api` changes them wherever they are embedded,
//! and that should be reported as one change.

use super::schema::Schema;

/// A type is recognised by fields that it always has, and by having few others: a spec that offers some fields of a pod isn't a
/// pod.
struct CoreType {
    name: &'static str,
    marks: &'static [&'static str],
    fields: &'static [&'static str],
}

/// Outer types first, because the first match is used.
const TYPES: &[CoreType] = &[
    CoreType {
        name: "PodSpec",
        marks: &["containers", "restartPolicy", "nodeSelector"],
        fields: &[
            "activeDeadlineSeconds",
            "affinity",
            "automountServiceAccountToken",
            "dnsConfig",
            "dnsPolicy",
            "enableServiceLinks",
            "ephemeralContainers",
            "hostAliases",
            "hostIPC",
            "hostNetwork",
            "hostPID",
            "hostUsers",
            "hostname",
            "hostnameOverride",
            "imagePullSecrets",
            "initContainers",
            "nodeName",
            "os",
            "overhead",
            "preemptionPolicy",
            "priority",
            "priorityClassName",
            "readinessGates",
            "resourceClaims",
            "resources",
            "runtimeClassName",
            "schedulerName",
            "schedulingGates",
            "securityContext",
            "serviceAccount",
            "serviceAccountName",
            "setHostnameAsFQDN",
            "shareProcessNamespace",
            "subdomain",
            "terminationGracePeriodSeconds",
            "tolerations",
            "topologySpreadConstraints",
            "volumes",
        ],
    },
    CoreType {
        name: "Container",
        marks: &["image", "command", "volumeMounts", "imagePullPolicy"],
        fields: &[
            "args",
            "env",
            "envFrom",
            "lifecycle",
            "livenessProbe",
            "name",
            "ports",
            "readinessProbe",
            "resizePolicy",
            "resources",
            "restartPolicy",
            "restartPolicyRules",
            "securityContext",
            "startupProbe",
            "stdin",
            "stdinOnce",
            "terminationMessagePath",
            "terminationMessagePolicy",
            "tty",
            "volumeDevices",
            "workingDir",
        ],
    },
    CoreType {
        name: "Volume",
        marks: &["configMap", "emptyDir", "hostPath", "secret"],
        fields: &[
            "awsElasticBlockStore",
            "azureDisk",
            "azureFile",
            "cephfs",
            "cinder",
            "csi",
            "downwardAPI",
            "ephemeral",
            "fc",
            "flexVolume",
            "flocker",
            "gcePersistentDisk",
            "gitRepo",
            "glusterfs",
            "image",
            "iscsi",
            "name",
            "nfs",
            "persistentVolumeClaim",
            "photonPersistentDisk",
            "portworxVolume",
            "projected",
            "quobyte",
            "rbd",
            "scaleIO",
            "storageos",
            "vsphereVolume",
        ],
    },
    CoreType {
        name: "JobSpec",
        marks: &["completions", "parallelism", "backoffLimit"],
        fields: &[
            "activeDeadlineSeconds",
            "backoffLimitPerIndex",
            "completionMode",
            "managedBy",
            "manualSelector",
            "maxFailedIndexes",
            "podFailurePolicy",
            "podReplacementPolicy",
            "selector",
            "successPolicy",
            "suspend",
            "template",
            "ttlSecondsAfterFinished",
        ],
    },
    CoreType {
        name: "DeploymentSpec",
        marks: &["paused", "progressDeadlineSeconds", "template"],
        fields: &["minReadySeconds", "replicas", "revisionHistoryLimit", "selector", "strategy"],
    },
    CoreType {
        name: "ServiceSpec",
        marks: &["clusterIP", "externalTrafficPolicy", "sessionAffinity"],
        fields: &[
            "allocateLoadBalancerNodePorts",
            "clusterIPs",
            "externalIPs",
            "externalName",
            "healthCheckNodePort",
            "internalTrafficPolicy",
            "ipFamilies",
            "ipFamilyPolicy",
            "loadBalancerClass",
            "loadBalancerIP",
            "loadBalancerSourceRanges",
            "ports",
            "publishNotReadyAddresses",
            "selector",
            "sessionAffinityConfig",
            "trafficDistribution",
            "type",
        ],
    },
    CoreType {
        name: "PersistentVolumeClaimSpec",
        marks: &["accessModes", "storageClassName", "volumeName"],
        fields: &["dataSource", "dataSourceRef", "resources", "selector", "volumeAttributesClassName", "volumeMode"],
    },
    CoreType { name: "Affinity", marks: &["nodeAffinity", "podAffinity", "podAntiAffinity"], fields: &[] },
    CoreType {
        name: "PodSecurityContext",
        marks: &["fsGroup", "runAsUser", "sysctls"],
        fields: &[
            "appArmorProfile",
            "fsGroupChangePolicy",
            "runAsGroup",
            "runAsNonRoot",
            "seLinuxChangePolicy",
            "seLinuxOptions",
            "seccompProfile",
            "supplementalGroups",
            "supplementalGroupsPolicy",
            "windowsOptions",
        ],
    },
    CoreType {
        name: "SecurityContext",
        marks: &["privileged", "capabilities", "runAsUser"],
        fields: &[
            "allowPrivilegeEscalation",
            "appArmorProfile",
            "procMount",
            "readOnlyRootFilesystem",
            "runAsGroup",
            "runAsNonRoot",
            "seLinuxOptions",
            "seccompProfile",
            "windowsOptions",
        ],
    },
    CoreType {
        name: "Probe",
        marks: &["httpGet", "periodSeconds", "failureThreshold"],
        fields: &[
            "exec",
            "grpc",
            "initialDelaySeconds",
            "successThreshold",
            "tcpSocket",
            "terminationGracePeriodSeconds",
            "timeoutSeconds",
        ],
    },
    CoreType {
        name: "TopologySpreadConstraint",
        marks: &["maxSkew", "topologyKey", "whenUnsatisfiable"],
        fields: &["labelSelector", "matchLabelKeys", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"],
    },
    CoreType { name: "EnvVar", marks: &["name", "value", "valueFrom"], fields: &[] },
    CoreType { name: "ResourceRequirements", marks: &["limits", "requests"], fields: &["claims"] },
    CoreType { name: "Toleration", marks: &["effect", "operator", "tolerationSeconds"], fields: &["key", "value"] },
    CoreType { name: "LabelSelector", marks: &["matchExpressions", "matchLabels"], fields: &[] },
    CoreType {
        name: "ObjectReference",
        marks: &["fieldPath", "resourceVersion", "uid"],
        fields: &["apiVersion", "kind", "name", "namespace"],
    },
    CoreType { name: "Condition", marks: &["lastTransitionTime", "observedGeneration", "reason", "status", "type"], fields: &["message"] },
];

/// One in this many fields may be unknown, because types grow and projects add to them.
const FIELDS_PER_UNKNOWN: usize = 4;

/// The Kubernetes core type that a schema embeds, if any.
pub fn core_type(schema: &Schema<'_>) -> Option<&'static str> {
    let count = schema.property_count();
    let has = |mark: &&str| schema.property(mark).is_some();
    let known = |core: &CoreType, name: &str| core.marks.contains(&name) || core.fields.contains(&name);
    let fits = |core: &&CoreType| {
        core.marks.len() <= count
            && core.marks.iter().all(has)
            && schema.properties().filter(|(entry, _)| !known(core, entry.name())).count() <= count / FIELDS_PER_UNKNOWN
    };
    TYPES.iter().find(fits).map(|core| core.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Documents;

    fn of(fields: &[&str]) -> Option<&'static str> {
        let properties: Vec<String> = fields.iter().map(|name| format!("{name}: {{type: string}}")).collect();
        let documents = Documents::of_text("schema.yaml", &format!("properties: {{{}}}\n", properties.join(", ")));
        let (_, document) = documents.documents.first()?;
        core_type(&Schema::new(document.tree.as_ref().ok()?.root()))
    }

    #[test]
    fn a_type_may_have_new_fields_but_not_be_part_of_another() {
        let pod = ["containers", "restartPolicy", "nodeSelector", "tolerations", "volumes"];
        assert_eq!(of(&pod), Some("PodSpec"));
        assert_eq!(of(&[&pod[..], &["brandNew"]].concat()), Some("PodSpec"));
        assert_eq!(of(&[&pod[..], &["replicas", "retention", "remoteWrite", "shards"]].concat()), None);
        assert_eq!(of(&["limits", "requests", "claims"]), Some("ResourceRequirements"));
        assert_eq!(of(&["limits"]), None);
    }
}
