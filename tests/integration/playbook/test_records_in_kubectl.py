# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records as ``kubectl`` shows and awaits them."""

from __future__ import annotations

import json
import re
import subprocess
from functools import partial
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cancellation import cancellation_in
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import RunBegin
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import create_run, read_run
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.paths import BIN
from tests.support.eventually import eventually
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

WIDTH = 100
WIDTH_BEFORE_MESSAGE = 120
"""Of kinds whose last column is their message."""
LONG = "It waits for a Deployment whose image can't be pulled. " * 10
TIME = "2026-11-21T13:18:54Z"
READY = [{"type": "Ready", "status": "Unknown", "reason": "Running", "lastTransitionTime": TIME}]
RAN = {
    "number": 12,
    "reason": "Once",
    "generation": 1,
    "templateDigest": "0",
    "job": "rotate-12",
    "noted": TIME,
    "outcome": {"succeeded": False, "reason": "BackoffLimitExceeded", "finished": TIME},
}
SAMPLES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "kyin": (
        "kyma",
        {},
        {
            "version": "2.10.2",
            "target": "2.11.0",
            "profile": "production",
            "lastRun": "20261121-131854-a1b2c3",
            "conditions": [
                {"type": "Deployed", "status": "False", "reason": "Incomplete", "lastTransitionTime": TIME}
            ],
        },
    ),
    "kyrun": (
        "20261121-131854-a1b2c3",
        {},
        {
            "state": "succeeded",
            "seconds": 1234.567,
            "message": LONG,
            "begin": {"action": "modules", "version": "2.11.0", "startedBy": "jane@bastion"},
        },
    ),
    "kyinv": (
        "application-connectivity-validator.1",
        {
            "owner": "application-connectivity-validator",
            "ownerKind": "component",
            "details": {"version": "2.11.0"},
        },
        {},
    ),
    "kymod": (
        "application-connector",
        {"state": "unmanaged", "channel": "experimental", "policy": "create_and_delete"},
        {"state": "NotInstalled", "version": "1.53.0-experimental", "message": LONG},
    ),
    "kyje": (
        "20261121-131854-a1b2c3-1f-a1b2",
        {
            "migration": "logging/grow-loki-volume",
            "sequence": 1,
            "verb": "delete",
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "loki",
        },
        {"undoneAt": TIME},
    ),
    "kyap": (
        "production-eu-3f2a9c01b7de",
        {
            "ring": "production-eu",
            "releaseDigest": "4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce",
            "reason": "see CHG-1234",
            "user": "system:serviceaccount:ci:approver",
            "by": "jane",
        },
        {},
    ),
    "kyhold": ("kyma", {"by": "jane@bastion", "reason": "the auditors are here", "until": TIME}, {}),
    "kyerr": (
        "rotate-the-certificates",
        {"trigger": {"strategy": "manual"}, "template": {}},
        {"phase": "Succeeded", "run": RAN, "message": LONG},
    ),
    "ooj": (
        "rotate-the-certificates",
        {"image": "x" * 80},
        {"run": 12, "history": [{"succeeded": False}], "reason": "Running", "conditions": READY},
    ),
    "scj": (
        "rotate-the-certificates",
        {"image": "x" * 80, "schedule": "*/15 8-18 * * 1-5", "suspend": False},
        {"reason": "Running", "conditions": READY},
    ),
    "coj": (
        "rotate-the-certificates",
        {"image": "x" * 80, "replicas": 3, "port": 8080},
        {"reason": "Running", "conditions": READY},
    ),
    "kyjc": ("jobs", {"onlyInKubernetes": 12, "onlyInStorage": 3}, {}),
    "kyjs": ("job-store", {"sourceOfTruth": "kubernetes", "unknownJobs": "ignore"}, {}),
}
"""Records with long usual values, by the short name of their kind: name, spec, status."""


def apply(cluster: OwnCluster, record: dict[str, Any]) -> bool:
    command = [str(BIN / "kubectl"), "--kubeconfig", str(cluster.kubeconfig), "apply", "--server-side"]
    command += ["--force-conflicts", "--field-manager=test", "-f", "-"]
    done = subprocess.run(command, input=json.dumps(record), capture_output=True, text=True, check=False)
    return done.returncode == 0


def events_in(described: str) -> list[tuple[str, str]]:
    """The type and the reason of each Event at the end of what ``kubectl describe`` prints."""
    lines = described.partition("\nEvents:\n")[2].splitlines()
    return sorted((words[0], words[1]) for line in lines[2:] if (words := line.split()))


def test_a_run_is_awaited_by_its_condition(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    show = partial(kubectl, own_cluster.kubeconfig)
    small.component("shop", config_map("shop"))
    run = playbook.deploy(small.folder).succeeded().run["run"]
    for condition in ("Succeeded", "Finished"):
        show("wait", f"--for=condition={condition}", f"kyrun/{run}", "--timeout=5s")
    show("wait", "--for=condition=Deployed", "kyin/kyma", "--timeout=5s")
    began_and_ended = [("Normal", "Started"), ("Normal", "Succeeded")]
    for record in (f"kyrun/{run}", "kyin/kyma"):
        assert events_in(show("describe", record)) == began_and_ended
    small.component("broken", deployment("broken", image="broken.invalid/x", progressDeadlineSeconds=2))
    run = playbook.deploy(small.folder, component_timeout=20).failed().run["run"]
    for condition in ("Succeeded=False", "Finished"):
        show("wait", f"--for=condition={condition}", f"kyrun/{run}", "--timeout=5s")
    described = show("describe", f"kyrun/{run}")
    failed = [("Normal", "Started"), ("Warning", "ComponentFailed"), ("Warning", "Failed")]
    assert events_in(described) == failed
    assert events_in(show("describe", "kyin/kyma")) == sorted([*failed, *began_and_ended])
    # The state and the first reason come before clocks and digests.
    before = described.partition("\nStatus:\n")[0]
    assert "summary" in before
    assert "failed after" in before
    assert "component broken: Deployment" in before
    shown = kubectl(
        own_cluster.kubeconfig, "get", "kyrun", run, "-o", "jsonpath={.status.conditions[0].message}"
    )
    assert "component broken:" in shown


def test_each_kind_fits_a_terminal_but_for_a_message_at_the_end_of_a_line(own_cluster: OwnCluster) -> None:
    definitions = (*RECORD_KINDS.definitions, ERRAND_RESOURCE.definition, *STORE_KINDS.definitions)
    by_short_name = {one["spec"]["names"]["shortNames"][0]: one for one in definitions}
    assert {*by_short_name} == {*SAMPLES}
    for short, definition in by_short_name.items():
        own_cluster.api.apply(definition, force=True)
        name, spec, status = SAMPLES[short]
        record = {
            "apiVersion": API_VERSION,
            "kind": definition["spec"]["names"]["kind"],
            "metadata": {"name": name},
            **({"spec": spec} if spec else {}),
        }
        # The API server serves a new kind after a moment.
        eventually(partial(apply, own_cluster, record))
        if "subresources" in definition["spec"]["versions"][0]:
            patch = ("patch", short, name, "--subresource=status", "--type=merge")
            kubectl(own_cluster.kubeconfig, *patch, f"--patch={json.dumps({'status': status})}")
        lines = kubectl(own_cluster.kubeconfig, "get", short).splitlines()
        assert name in "".join(lines)
        shows_message = lines[0].split()[-1] == "MESSAGE"
        assert shows_message is (short in ("kymod", "kyerr"))
        widths = [len(line.partition(LONG.strip())[0].removesuffix("MESSAGE")) for line in lines]
        assert max(widths) <= (WIDTH_BEFORE_MESSAGE if shows_message else WIDTH), "\n".join(lines)
        wide = kubectl(own_cluster.kubeconfig, "get", short, "-o", "wide")
        assert (LONG.strip() in wide) is ("message" in status)
        # The order of columns and the age are what kubectl's users know.
        assert lines[0].split()[0] == "NAME"


@pytest.mark.parametrize(
    ("kind", "content", "missing"),
    [
        ("KymaInventory", {}, "spec"),
        ("KymaInventory", {"spec": {"owner": "shop"}}, "spec.ownerKind"),
        (
            "KymaInventory",
            {
                "spec": {
                    "owner": "shop",
                    "ownerKind": "component",
                    "objects": [{"apiVersion": "v1", "kind": "A"}],
                }
            },
            "spec.objects[0].name",
        ),
        ("KymaJournalEntry", {}, "spec"),
        (
            "KymaJournalEntry",
            {"spec": {"migration": "a/b", "sequence": 1, "verb": "delete"}},
            "spec.apiVersion",
        ),
    ],
)
def test_a_record_that_no_run_could_read_is_refused(
    own_cluster: OwnCluster, kind: str, content: dict[str, Any], missing: str
) -> None:
    for definition in RECORD_KINDS.definitions:
        own_cluster.api.apply(definition, force=True)
    record = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "by-hand"}, **content}
    with pytest.raises(Invalid, match=f"{re.escape(missing)}: Required value"):
        own_cluster.api.create(record)


def test_a_right_to_change_a_record_is_none_to_change_its_status(own_cluster: OwnCluster) -> None:
    for definition in RECORD_KINDS.definitions:
        own_cluster.api.apply(definition, force=True)
    create_run(own_cluster.api, "real", RunBegin(started_at=TIME))
    metadata = {"name": "kyma"}
    own_cluster.api.apply({"apiVersion": API_VERSION, "kind": "KymaInstallation", "metadata": metadata})
    for record, forged in (("kyrun/real", {"state": "failed"}), ("kyin/kyma", {"version": "9.9"})):
        show = ("get", record, "-o", "jsonpath={.status}")
        before = kubectl(own_cluster.kubeconfig, *show)
        patch = json.dumps({"status": forged})
        kubectl(own_cluster.kubeconfig, "patch", record, "--type=merge", "-p", patch)
        assert kubectl(own_cluster.kubeconfig, *show) == before


def test_kubectl_requests_to_cancel_a_run_by_its_spec(own_cluster: OwnCluster) -> None:
    create_run(own_cluster.api, "asked", RunBegin(started_at=TIME))
    patch = json.dumps({"spec": {"cancel": {"by": "jane: enough"}}})
    kubectl(own_cluster.kubeconfig, "patch", "kyrun", "asked", "--type=merge", "-p", patch)
    assert cancellation_in(read_run(own_cluster.api, "asked")) == "jane: enough"
