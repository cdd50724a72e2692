# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server assigned to a Service is no part of its normal form; what its author chose is."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)

PORT = {"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30080}
ADDRESS = {
    "clusterIP": "10.0.0.1",
    "clusterIPs": ["10.0.0.1"],
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
    "healthCheckNodePort": 30081,
}


def service(spec: Object, **metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", **metadata}, "spec": spec}


def managed(fields: Object) -> list[Object]:
    return [{"manager": "other"}, {"manager": "kubectl", "fieldsV1": {"f:spec": fields}}]


def test_fields_of_a_service_that_the_server_assigned_are_removed() -> None:
    live = service({**ADDRESS, "ports": [PORT]}, uid="1", managedFields=managed({"f:selector": {}}))
    assert normal_form(live) == service({"ports": [{"port": 80}]})


def test_fields_of_a_service_that_its_author_chose_stay() -> None:
    chosen = {"f:clusterIP": {}, "f:ports": {'k:{"port":80,"protocol":"TCP"}': {"f:nodePort": {}}}}
    live = service({**ADDRESS, "ports": [PORT]}, uid="1", managedFields=managed(chosen))
    form = service({"clusterIP": "10.0.0.1", "ports": [{"port": 80, "nodePort": 30080}]})
    assert normal_form(live) == form
    assert normal_form(form) == form


def test_a_headless_service_stays_headless() -> None:
    spec = {"clusterIP": "None", "clusterIPs": ["None"]}
    assert normal_form(service(spec, uid="1")) == service({"clusterIP": "None"})
    assert normal_form(service(spec)) == service({"clusterIP": "None"})


def test_a_target_port_by_name_stays() -> None:
    ports = [{"port": 80, "targetPort": "http"}, {"port": 81, "targetPort": 8081}]
    assert normal_form(service({"ports": ports}))["spec"]["ports"] == ports
