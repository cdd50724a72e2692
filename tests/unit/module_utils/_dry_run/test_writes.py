# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who owns what after a simulated write."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import built_in_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.writes import Write

MAKER = {
    "manager": "kubectl-create",
    "operation": "Update",
    "apiVersion": "apps/v1",
    "fieldsType": "FieldsV1",
}


def test_a_null_of_an_old_server_is_no_value_that_a_write_changes() -> None:
    # Servers before 1.35 show the creation time of inner metadata, which has none.
    claim = {"metadata": {"name": "data", "creationTimestamp": None}, "spec": {"storageClassName": ""}}
    live: Object = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": "db",
            "namespace": "default",
            "uid": "1",
            "managedFields": [{**MAKER, "fieldsV1": {"f:spec": {"f:volumeClaimTemplates": {}}}}],
        },
        "spec": {"volumeClaimTemplates": [claim]},
    }
    kind = built_in_kinds()["apps/v1", "StatefulSet"]
    write = Write(kind, "kyma-lifecycle", "2026-11-30T00:00:00Z", lambda _ref: None)
    taken = {"manager": "kyma-lifecycle", "operation": "Apply", "apiVersion": "apps/v1"}
    managers = [{**live["metadata"]["managedFields"][0], **taken}]
    moved = write.patched(live, {"metadata": {"managedFields": managers}})
    assert [one["manager"] for one in moved["metadata"]["managedFields"]] == ["kyma-lifecycle"]
    assert moved["metadata"]["managedFields"][0]["operation"] == "Apply"
