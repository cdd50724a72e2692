# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of real containers: what is shown while they run and after they failed, and what never is."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_logs import last_lines
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import errand, job_store, stored_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import call_in_threads

from tests.cluster.certificates import write_private
from tests.support.containers import BUSYBOX, container, job_template, pod_spec
from tests.support.task_call import call_task

pytestmark = pytest.mark.containers

PASSWORD = "swordfish-4711"
KEY = "\n".join(["-----BEGIN KEY-----", *(f"{number}kqzvwxjfu{number}" * 3 for number in range(9))])
SECRET = {"password": PASSWORD, "key": KEY, "settings.ini": "mode = fast\ntoken = 'hunter-2222'\n"}
READ = {"envFrom": [{"secretRef": {"name": "login"}}]}
MOUNT = {"volumeMounts": [{"name": "files", "mountPath": "/files", "readOnly": True}]}
VOLUMES = [{"name": "files", "projected": {"sources": [{"secret": {"name": "login"}}]}}]
SLOW = """
echo "login $password"
echo "first half ${password%-*}"
sleep 3
echo "-${password#*-} second half"
cat /files/key
printf 'user:%s' "$password" | base64
base64 /files/key | head -c 300 | fold -w 20; echo
echo "{\\"password\\": \\"$password\\"}"
printf '\\033[31mred\\033[0m\\r\\007 $ hunter-2222\\n'
seq 60
echo over
exit 3
"""
GENERATED = "geheim-4711"
"""A value that the container puts together, so that no object has it in the command."""
OUTPUT = """
word=geheim; word=$word-4711
echo "{\\"password\\": \\"$word\\"}" > /mnt/quarks/output.json
echo "generated $word"
exit 3
"""


@dataclass
class User:
    """An administrator of kind.

    Attributes:
        kubeconfig: of kind.
        namespace: of all that it creates.
        shown: the lines of progress.
    """

    kubeconfig: str
    namespace: str
    shown: list[str] = field(default_factory=list)

    def call(self, definition: TaskDefinition, **options: Any) -> Result:
        """Call a task."""
        given = {"kubeconfig": self.kubeconfig, **options}

        def progress(subject: str, state: str, *_rest: object) -> None:
            if "| " in state:
                self.shown.append(f"{subject.partition('/')[2]}: {state}")

        return call_task(
            definition, given, lambda params, warn: connect(params, on_warning=warn), progress=progress
        )

    def run(self, name: str, script: str, **options: Any) -> Result:
        """Run an errand, and follow it."""
        fields = {**READ, **MOUNT, **options.pop("container", {})}
        return self.call(
            errand.DEFINITION,
            name=name,
            namespace=self.namespace,
            template=job_template(pod_spec(container("main", script, **fields), volumes=VOLUMES)),
            trigger="now",
            timeout=60,
            holder_image=BUSYBOX,
            logs=True,
            follow=True,
            **options,
        )

    def store(self) -> Result:
        """Create a one-off job, and follow it."""
        self.call(job_store.DEFINITION)
        spec = pod_spec()
        del spec["containers"]
        return self.call(
            stored_job.DEFINITION,
            name="stored",
            namespace=self.namespace,
            type="one-off",
            retry=0,
            image=BUSYBOX,
            command="echo login $password; exit 4",
            pod={"spec": spec},
            container=READ,
            show_logs=True,
            follow=True,
        )


def secret(namespace: str) -> Object:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in SECRET.items()}
    meta = {"name": "login", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}


def limited(kubeconfig: str, folder: Path, namespace: str, name: str) -> LiveCluster:
    """A connection as another user."""
    config = yaml.safe_load(Path(kubeconfig).read_text())
    for one in config["users"]:
        one["user"]["as"] = f"system:serviceaccount:{namespace}:{name}"
    write_private(folder / name, yaml.safe_dump(config))
    return connect({"kubeconfig": str(folder / name)})


def grant(cluster: LiveCluster, namespace: str, name: str, *rules: Mapping[str, Any]) -> None:
    """Give a ServiceAccount some rights in its namespace."""
    group, meta = "rbac.authorization.k8s.io", {"name": name, "namespace": namespace}
    cluster.create({"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta, "rules": list(rules)})
    cluster.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", **meta}],
        }
    )


def test_logs_of_real_containers_are_shown_with_masked_values_and_only_with_all_rights(
    live_cluster: LiveCluster, kind_kubeconfig: str, namespace: str, tmp_path: Path
) -> None:
    live_cluster.create(secret(namespace))
    users = [User(kind_kubeconfig, namespace) for _number in range(3)]
    output = {"outputMap": {"main": {"output.json": {"name": "result"}}}}
    slow, with_output, stored = call_in_threads(
        lambda: users[0].run("slow", SLOW),
        lambda: users[1].run("output", OUTPUT, output=output),
        users[2].store,
    )

    # A run that lasts: each line once, in its order, and no piece of a value.
    lines = [one.partition("| ")[2] for one in users[0].shown]
    assert lines[:4] == ["login ***", "first half ***", "*** second half", "***"], users[0].shown
    assert lines[-61:] == [*map(str, range(1, 61)), "over"]
    shown = "".join("\n".join(lines).split())
    for value in (PASSWORD, "hunter-2222", *KEY.splitlines()):
        assert value not in shown
        encoded = base64.b64encode(f"user:{value}".encode()).decode()
        assert encoded[8:-4] not in shown
    assert '{"password": "***"}' in lines
    assert "red" in lines
    assert " ***" in "\n".join(lines)
    [log] = slow["logs"]
    assert (log["container"], log["lines"]) == ("main", [*map(str, range(12, 61)), "over"])
    assert slow["msg"].endswith("\n  59\n  60\n  over")

    # A run with output that became no Secret.
    [log] = with_output["logs"]
    assert (log["lines"], log["problem"]) == (["generated ***"], "")
    assert users[1].shown == ["output main: | generated ***"]
    assert GENERATED not in str(with_output)

    # A stored job.
    [log] = stored["logs"]
    assert (log["name"], log["lines"]) == ("stored", ["login ***"])
    assert users[2].shown == ["stored job: | login ***"]
    assert "its run failed: ContainerFailed: Container job exited with code 4." in stored["msg"]

    # Each right that is missing hides it.
    [pod] = live_cluster.list(
        "v1", "Pod", namespace, label_selector="lifecycle.kyma-project.io/errand=slow"
    ).items
    get_log = {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}
    get_secret = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["login"]}
    grant(live_cluster, namespace, "both", get_log, get_secret)
    grant(live_cluster, namespace, "log-only", get_log)
    grant(live_cluster, namespace, "secret-only", get_secret)
    problems = {
        name: last_lines(limited(kind_kubeconfig, tmp_path, namespace, name), pod, "main", tuple).problem
        for name in ("both", "log-only", "secret-only")
    }
    assert problems == {
        "both": "",
        "log-only": "values of Secret login can't be masked, as the right to get secrets in"
        f" {namespace} is missing",
        "secret-only": f"the right to get pods/log in {namespace} is missing",
    }

    # The Secret is not what it was when the pod started.
    live_cluster.patch("v1", "Secret", "login", namespace, {"stringData": {"password": "another-one"}})
    assert "was changed after the pod had started" in last_lines(live_cluster, pod, "main", tuple).problem
