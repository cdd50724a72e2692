# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definitions that serve some of their versions, and an aggregated API that nothing serves."""

from __future__ import annotations

from copy import deepcopy

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object


def with_versions(crd: Object, **served: bool) -> Object:
    """The definition with these versions, which are served or not; the last one is stored."""
    template = crd["spec"]["versions"][0]
    versions = [
        {**deepcopy(template), "name": name, "served": one, "storage": False} for name, one in served.items()
    ]
    versions[-1]["storage"] = True
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def silent_api(group: str, version: str = "v1") -> Object:
    """An APIService that points to a Service without endpoints."""
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}"},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"namespace": "default", "name": "nobody"},
        },
    }
