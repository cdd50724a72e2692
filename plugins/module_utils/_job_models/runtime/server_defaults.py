# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server's defaults, as tables: by field, the values that are equal to no value.

A table has the shape of an object; the items of a list have the table of the list. ``false``, ``0`` and
``""`` are in a table where the API server never returns such a value. Volumes of drivers that Kubernetes has
removed are in none: no pod can mount them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Defaults = Mapping[str, Any]
"""By field, a tuple of values, or the table of what is below the field."""

_FALSE, _ZERO, _EMPTY = (False,), (0,), ("",)

_FIELD_REF: Defaults = {"apiVersion": ("v1", "")}
_RESOURCE_FIELD_REF: Defaults = {"containerName": _EMPTY, "divisor": ("0", 0)}
_HTTP_GET: Defaults = {"host": _EMPTY, "path": ("/", ""), "scheme": ("HTTP", "")}
_TCP_SOCKET: Defaults = {"host": _EMPTY}
_HANDLER: Defaults = {"httpGet": _HTTP_GET, "tcpSocket": _TCP_SOCKET}
_PROBE: Defaults = {
    **_HANDLER,
    "grpc": {"service": _EMPTY},
    "failureThreshold": (3, 0),
    "initialDelaySeconds": _ZERO,
    "periodSeconds": (10, 0),
    "successThreshold": (1, 0),
    "timeoutSeconds": (1, 0),
}
_CONTAINER: Defaults = {
    "env": {
        "value": _EMPTY,
        "valueFrom": {
            "fieldRef": _FIELD_REF,
            "fileKeyRef": {"optional": _FALSE},
            "resourceFieldRef": _RESOURCE_FIELD_REF,
        },
    },
    "envFrom": {"prefix": _EMPTY},
    "lifecycle": {"postStart": _HANDLER, "preStop": _HANDLER},
    "livenessProbe": _PROBE,
    "ports": {"hostIP": _EMPTY, "hostPort": _ZERO, "name": _EMPTY, "protocol": ("TCP", "")},
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "stdin": _FALSE,
    "stdinOnce": _FALSE,
    "terminationMessagePath": ("/dev/termination-log", ""),
    "terminationMessagePolicy": ("File", ""),
    "tty": _FALSE,
    "volumeMounts": {"readOnly": _FALSE, "subPath": _EMPTY, "subPathExpr": _EMPTY},
    "workingDir": _EMPTY,
}
_DOWNWARD_ITEMS: Defaults = {"fieldRef": _FIELD_REF, "resourceFieldRef": _RESOURCE_FIELD_REF}
_FILE_MODE: Defaults = {"defaultMode": (420,)}
_READ_ONLY: Defaults = {"readOnly": _FALSE}
_VOLUME: Defaults = {
    "awsElasticBlockStore": {**_READ_ONLY, "fsType": _EMPTY, "partition": _ZERO},
    "azureDisk": {
        "cachingMode": ("ReadWrite",),
        "fsType": ("ext4",),
        "kind": ("Shared",),
        "readOnly": _FALSE,
    },
    "azureFile": _READ_ONLY,
    "cinder": {**_READ_ONLY, "fsType": _EMPTY},
    "configMap": _FILE_MODE,
    "downwardAPI": {**_FILE_MODE, "items": _DOWNWARD_ITEMS},
    "emptyDir": {"medium": _EMPTY},
    "ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": ("Filesystem",), "volumeName": _EMPTY}}},
    "fc": {**_READ_ONLY, "fsType": _EMPTY},
    "flexVolume": {**_READ_ONLY, "fsType": _EMPTY},
    "gcePersistentDisk": {**_READ_ONLY, "fsType": _EMPTY, "partition": _ZERO},
    "hostPath": {"type": _EMPTY},
    "iscsi": {**_READ_ONLY, "fsType": _EMPTY, "iscsiInterface": ("default", ""), "lun": _ZERO},
    "nfs": _READ_ONLY,
    "persistentVolumeClaim": _READ_ONLY,
    "portworxVolume": {**_READ_ONLY, "fsType": _EMPTY},
    "projected": {
        **_FILE_MODE,
        "sources": {
            "downwardAPI": {"items": _DOWNWARD_ITEMS},
            "serviceAccountToken": {"audience": _EMPTY, "expirationSeconds": (3600,)},
        },
    },
    "secret": {**_FILE_MODE, "secretName": _EMPTY},
    "vsphereVolume": {"fsType": _EMPTY},
}
_POD_SPEC: Defaults = {
    "containers": _CONTAINER,
    "dnsPolicy": ("ClusterFirst", ""),
    "hostIPC": _FALSE,
    "hostNetwork": _FALSE,
    "hostPID": _FALSE,
    "hostname": _EMPTY,
    "initContainers": _CONTAINER,
    "nodeName": _EMPTY,
    "priorityClassName": _EMPTY,
    "schedulerName": ("default-scheduler", ""),
    "serviceAccountName": _EMPTY,
    "subdomain": _EMPTY,
    "terminationGracePeriodSeconds": (30,),
    "volumes": _VOLUME,
}
_POD_TEMPLATE: Defaults = {"spec": _POD_SPEC}
_JOB_SPEC: Defaults = {
    "completionMode": ("NonIndexed",),
    "manualSelector": _FALSE,
    "suspend": _FALSE,
    "template": _POD_TEMPLATE,
}

DEFAULTS_BY_KIND: Mapping[str, Defaults] = {
    "Job": {"spec": _JOB_SPEC},
    "CronJob": {
        "spec": {
            "concurrencyPolicy": ("Allow", ""),
            "failedJobsHistoryLimit": (1,),
            "jobTemplate": {"spec": _JOB_SPEC},
            "successfulJobsHistoryLimit": (3,),
            "suspend": _FALSE,
        }
    },
    "Deployment": {
        "spec": {
            "minReadySeconds": _ZERO,
            "paused": _FALSE,
            "progressDeadlineSeconds": (600,),
            "replicas": (1,),
            "revisionHistoryLimit": (10,),
            "strategy": {
                "type": ("RollingUpdate", ""),
                "rollingUpdate": {"maxSurge": ("25%",), "maxUnavailable": ("25%",)},
            },
            "template": {"spec": {**_POD_SPEC, "restartPolicy": ("Always", "")}},
        }
    },
    "Service": {
        "spec": {
            "allocateLoadBalancerNodePorts": (True,),
            "clusterIP": _EMPTY,
            "externalName": _EMPTY,
            "externalTrafficPolicy": ("Cluster", ""),
            "internalTrafficPolicy": ("Cluster", ""),
            "loadBalancerIP": _EMPTY,
            "ports": {"name": _EMPTY, "protocol": ("TCP", "")},
            "publishNotReadyAddresses": _FALSE,
            "sessionAffinity": ("None", ""),
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": (10800,)}},
            "type": ("ClusterIP", ""),
        }
    },
}
"""The defaults of the kinds that run jobs."""

FIELDS_WITHOUT_EMPTY_MAPS = frozenset(
    {
        "annotations",
        "clientIP",
        "labels",
        "limits",
        "matchLabels",
        "metadata",
        "nodeSelector",
        "options",
        "overhead",
        "requests",
        "resources",
        "rollingUpdate",
        "securityContext",
        "selector",
        "sessionAffinityConfig",
        "strategy",
        "volumeAttributes",
    }
)
"""Fields in which ``{}`` means the same as no value. In others, such as ``emptyDir``, it says something."""
