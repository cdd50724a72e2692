# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid objects of the kinds that run jobs, written by hand with as many fields as fit together."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

_LABELS = {"app": "shop", "tier": "back"}
_SELECTOR = {"matchLabels": {"app": "shop"}}
_HTTP = {"path": "/healthz", "port": 8080}


def rich_container(name: str = "main", image: str = "registry.invalid:5000/shop") -> Object:
    """A container with every kind of environment variable, mount and resource."""
    field = {"fieldRef": {"fieldPath": "metadata.name"}}
    limit = {"resourceFieldRef": {"resource": "limits.memory", "containerName": name}}
    return {
        "name": name,
        "image": image,
        "command": ["sh", "-c", "run --all"],
        "args": ["--verbose"],
        "workingDir": "/srv",
        "env": [
            {"name": "B", "value": "2"},
            {"name": "A", "value": ""},
            {"name": "POD", "valueFrom": field},
            {"name": "LIMIT", "valueFrom": limit},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "login", "key": "key", "optional": True}}},
            {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
        ],
        "envFrom": [{"prefix": "X_", "configMapRef": {"name": "settings"}}, {"secretRef": {"name": "login"}}],
        "ports": [{"containerPort": 8080, "name": "http"}, {"containerPort": 53, "protocol": "UDP"}],
        "resources": {
            "limits": {"memory": "1024Mi", "cpu": "1.5", "ephemeral-storage": "1e3"},
            "requests": {"memory": "100M", "cpu": "0.1"},
        },
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": []},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {"name": "files", "mountPath": "/data"},
            {"name": "settings", "mountPath": "/etc/shop", "readOnly": True, "subPath": "shop"},
        ],
        "stdin": False,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def rich_pod(restart_policy: str = "") -> Object:
    """The spec of a pod with two containers, an init container, volumes, affinity and more."""
    probed = {
        **rich_container("probed", "docker.io/library/busybox:1.36"),
        "startupProbe": {"exec": {"command": ["true"]}, "failureThreshold": 30},
        "livenessProbe": {"httpGet": _HTTP, "periodSeconds": 10, "initialDelaySeconds": 3},
        "readinessProbe": {"grpc": {"port": 9090}, "successThreshold": 2},
        "lifecycle": {"preStop": {"httpGet": {"path": "/stop", "port": "http"}}},
        "ports": [{"containerPort": 8080, "name": "http"}],
    }
    term = {"labelSelector": _SELECTOR, "topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}}
    expression = {"key": "disk", "operator": "In", "values": ["ssd"]}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    pod: Object = {
        "initContainers": [{"name": "prepare", "image": f"busybox@sha256:{'0' * 64}", "resources": {}}],
        "containers": [rich_container(), probed],
        "volumes": [
            {"name": "files", "persistentVolumeClaim": {"claimName": "files"}},
            {
                "name": "settings",
                "configMap": {"name": "settings", "items": [{"key": "shop", "path": "shop"}]},
            },
            {"name": "login", "secret": {"secretName": "login", "defaultMode": 256, "optional": False}},
            {"name": "scratch", "emptyDir": {"sizeLimit": "0.5Gi"}},
            {"name": "memory", "emptyDir": {"medium": "Memory"}},
            {"name": "nothing"},
            {"name": "host", "hostPath": {"path": "/var/log"}},
            {"name": "nfs", "nfs": {"server": "files.invalid", "path": "/export"}},
            {"name": "all", "projected": {"sources": _projected_sources()}},
            {"name": "pod", "downwardAPI": {"items": _downward_items()}},
            {
                "name": "own",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {"labels": _LABELS, "creationTimestamp": None},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {"requests": {"storage": "2048Mi"}},
                        },
                    }
                },
            },
            {"name": "csi", "csi": {"driver": "files.invalid", "volumeAttributes": {"a": "b"}}},
            {
                "name": "iscsi",
                "iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.x:a", "lun": 0},
            },
            {"name": "azure", "azureDisk": {"diskName": "a", "diskURI": "https://disks.invalid/a"}},
            {"name": "fc", "fc": {"targetWWNs": ["500a0982991b8dc5"], "lun": 2}},
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [expression]}]
                }
            },
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            },
        },
        "topologySpreadConstraints": [{**spread, "labelSelector": _SELECTOR}],
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        "nodeSelector": {"disk": "ssd"},
        "serviceAccountName": "runner",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "imagePullSecrets": [{"name": "registry"}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
        "hostNetwork": False,
        "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
        "priorityClassName": "system-node-critical",
        "securityContext": {"fsGroup": 1000, "sysctls": []},
        "shareProcessNamespace": False,
        "terminationGracePeriodSeconds": 30,
    }
    return {**pod, "restartPolicy": restart_policy} if restart_policy else pod


def rich_template(restart_policy: str = "") -> Object:
    """A pod template with labels and annotations."""
    metadata = {"labels": _LABELS, "annotations": {"note": "n"}, "creationTimestamp": None}
    return {"metadata": metadata, "spec": rich_pod(restart_policy)}


def rich_job(namespace: str = "shop", name: str = "rich") -> Object:
    """A Job of two parallel pods."""
    spec = {
        "template": rich_template("Never"),
        "backoffLimit": 6,
        "parallelism": 2,
        "completions": 4,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": 1,
        "maxFailedIndexes": 2,
        "activeDeadlineSeconds": 600,
        "ttlSecondsAfterFinished": 3600,
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
            ]
        },
        "suspend": True,
    }
    return _object("batch/v1", "Job", name, namespace, spec)


def rich_cron_job(namespace: str = "shop", name: str = "rich") -> Object:
    """A CronJob."""
    job = rich_job()["spec"]
    spec = {
        "schedule": "*/5 * * * *",
        "timeZone": "Europe/Berlin",
        "concurrencyPolicy": "Replace",
        "startingDeadlineSeconds": 30,
        "failedJobsHistoryLimit": 1,
        "successfulJobsHistoryLimit": 0,
        "suspend": True,
        "jobTemplate": {"metadata": {"labels": _LABELS, "annotations": {"a": "b"}}, "spec": job},
    }
    return _object("batch/v1", "CronJob", name, namespace, spec)


def rich_deployment(namespace: str = "shop", name: str = "rich") -> Object:
    """A Deployment without replicas, which so starts nothing."""
    spec = {
        "replicas": 0,
        "selector": {**_SELECTOR, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        "strategy": {"rollingUpdate": {"maxSurge": 1}},
        "minReadySeconds": 5,
        "progressDeadlineSeconds": 700,
        "revisionHistoryLimit": 3,
        "paused": True,
        "template": rich_template(),
    }
    return _object("apps/v1", "Deployment", name, namespace, spec)


def rich_service(namespace: str = "shop", name: str = "rich") -> Object:
    """A Service of the type NodePort with two ports."""
    spec = {
        "type": "NodePort",
        "selector": _LABELS,
        "ports": [
            {"name": "http", "port": 80, "targetPort": "http", "appProtocol": "http"},
            {"name": "dns", "port": 53, "protocol": "UDP"},
        ],
        "sessionAffinity": "ClientIP",
        "externalTrafficPolicy": "Local",
        "publishNotReadyAddresses": True,
    }
    return _object("v1", "Service", name, namespace, spec)


def _object(api_version: str, kind: str, name: str, namespace: str, spec: Object) -> Object:
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {**_LABELS, "team": "a"},
        "annotations": {"contact": "a@shop.invalid"},
        "finalizers": ["shop.invalid/hold"],
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _projected_sources() -> list[Object]:
    return [
        {"secret": {"name": "login"}},
        {"configMap": {"name": "settings", "optional": True}},
        {"downwardAPI": {"items": _downward_items()}},
        {"serviceAccountToken": {"path": "token", "audience": "shop"}},
    ]


def _downward_items() -> list[Object]:
    limit = {"resource": "limits.cpu", "containerName": "main", "divisor": "1m"}
    return [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "cpu", "resourceFieldRef": limit},
        {"path": "memory", "resourceFieldRef": {"resource": "limits.memory", "containerName": "main"}},
    ]
