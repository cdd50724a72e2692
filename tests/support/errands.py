# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands on kind: a site where tests create them, and that reconciles them with the rights of the engine."""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ENGINE_ROLE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_index import (
    JOB,
    POD,
    ErrandIndex,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ERRAND_LABEL,
    KIND,
    Errand,
    ErrandKey,
    ErrandPhase,
    errand_from,
    label_value,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_view import RunOptions
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Failure,
    Outcome,
    Reconciled,
    Reconciler,
    read_index,
    reconcile_all,
)

from tests.cluster.certificates import write_private

from .containers import BUSYBOX, job_template, pod_spec
from .eventually import eventually
from .kubectl import kubectl

ACCOUNT = "engine"
"""The ServiceAccount with the rights of the engine, in the namespace of a site."""
OPTIONS = RunOptions(holder_image=BUSYBOX)
GATE = "until test -e /gate; do sleep 0.1; done"
"""A script that waits until a test opens the gate, for a container that runs as root."""


def errand(
    name: str,
    *containers: Object,
    strategy: str = "once",
    output: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    reruns: bool = False,
    job: Mapping[str, Any] | None = None,
    **pod_fields: Any,
) -> Object:
    """An errand that runs on the real node; a test may change it before it creates it.

    Args:
        name: its name.
        containers: of its pods; see :func:`tests.support.containers.container`.
        strategy: of its trigger.
        output: its `spec.output`.
        labels: of its pods.
        reruns: whether it has `updateOnConfigChange`.
        job: more fields of the spec of its Jobs.
        pod_fields: more fields of the spec of its pods.
    """
    template = job_template(pod_spec(*containers, **pod_fields), labels=labels)
    template["spec"].update(job or {})
    spec: Object = {"trigger": {"strategy": strategy}, "template": template}
    if output is not None:
        spec["output"] = dict(output)
    if reruns:
        spec["updateOnConfigChange"] = True
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}


def output_map(container: str = "main", file: str = "output.json", **secret: Any) -> Object:
    """A `spec.output` with one file of one container.

    Args:
        container: its name.
        file: the name of the file.
        secret: the fields of the Secret, at least `name`.
    """
    return {"outputMap": {container: {file: secret}}}


class ErrandSite:
    """A namespace with errands, and their reconciler, with only the rights of the engine.

    Each reconciliation starts from new lists, as a newly started process would.

    Attributes:
        cluster: an administrator's connection.
        kubeconfig: the administrator's.
        folder: for files of tests.
        engine_kubeconfig: that of the account with the rights of the engine.
        namespace: of the errands, unless a test says otherwise.
        outcomes: that were reported.
        failures: of reconciliations, all of them.
        records: what was logged.
    """

    def __init__(self, kubeconfig: str, folder: Path, namespace: str) -> None:
        self.kubeconfig = kubeconfig
        self.folder = folder
        self.cluster = connect({"kubeconfig": kubeconfig})
        self.namespace = namespace
        self.outcomes: list[Outcome] = []
        self.failures: list[Failure] = []
        self.records: list[str] = []
        self._namespaces: list[str] = []
        self._left_namespaces: list[str] = []
        self._paused: set[ErrandKey] = set()
        self._options: dict[ErrandKey, RunOptions] = {}
        self._last: dict[ErrandKey, Reconciled | Failure] = {}
        self._errands: dict[ErrandKey, Errand] = {}
        self.add_namespace(namespace)
        self.engine_kubeconfig = str(self._write_engine_kubeconfig(folder))
        self._grant_volumes()
        self._engine = connect({"kubeconfig": self.engine_kubeconfig})
        self._log = _Records(self.records)
        logging.getLogger().addHandler(self._log)

    def close(self) -> None:
        """Delete the namespaces."""
        logging.getLogger().removeHandler(self._log)
        for namespace in [*self._namespaces, *self._left_namespaces]:
            self.cluster.delete("v1", "Namespace", namespace)
        for kind in ("ClusterRoleBinding", "ClusterRole"):
            self.cluster.delete("rbac.authorization.k8s.io/v1", kind, self.namespace)

    # Namespaces, and those that are reconciled.

    def add_namespace(self, namespace: str, labels: Mapping[str, str] | None = None) -> None:
        """Create another namespace with reconciled errands.

        Args:
            namespace: its name.
            labels: of the namespace.
        """
        metadata = {"name": namespace, "labels": dict(labels or {})}
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        eventually(lambda: self.cluster.get("v1", "ServiceAccount", "default", namespace))
        group = "rbac.authorization.k8s.io"
        account = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": self.namespace}
        self.cluster.create(
            {
                "apiVersion": f"{group}/v1",
                "kind": "RoleBinding",
                "metadata": {"name": ACCOUNT, "namespace": namespace},
                "roleRef": {
                    "apiGroup": group,
                    "kind": "ClusterRole",
                    "name": ENGINE_ROLE["metadata"]["name"],
                },
                "subjects": [account],
            }
        )
        self._namespaces.append(namespace)

    def leave_namespace(self, namespace: str) -> None:
        """Stop reconciling the errands of a namespace; it is deleted with the others."""
        self._namespaces.remove(namespace)
        self._left_namespaces.append(namespace)

    def _write_engine_kubeconfig(self, folder: Path) -> Path:
        metadata = {"name": ACCOUNT, "namespace": self.namespace}
        self.cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        token = self.kubectl("create", "token", ACCOUNT, "--duration=2h").strip()
        config = yaml.safe_load(Path(self.kubeconfig).read_text())
        config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        path = folder / "engine.kubeconfig"
        write_private(path, yaml.safe_dump(config))
        return path

    def _grant_volumes(self) -> None:
        """Grant the engine, which is bound in single namespaces, what the guide says for old versions."""
        resources = "--resource=persistentvolumes,storageclasses"
        self.kubectl("create", "clusterrole", self.namespace, "--verb=list", resources)
        account = f"--serviceaccount={self.namespace}:{ACCOUNT}"
        self.kubectl(
            "create", "clusterrolebinding", self.namespace, f"--clusterrole={self.namespace}", account
        )

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """The output of kubectl for the administrator, in the namespace of the site.

        Args:
            arguments: of kubectl.
            text: its input.
        """
        return kubectl(self.kubeconfig, *arguments, namespace=self.namespace, text=text)

    # Reconciling.

    def reconcile(self) -> None:
        """Reconcile all errands once, except paused ones."""
        index = read_index(self._engine, self._namespaces)
        known = index.keys()
        keys = [key for key in known if key not in self._paused]
        done, failed = reconcile_all(
            self._reconciler(index), [key for key in keys if key not in self._options]
        )
        for key in self._options.keys() & set(keys):
            more, other = reconcile_all(self._reconciler(index, self._options[key]), [key])
            done, failed = [*done, *more], [*failed, *other]
        self.failures += failed
        self._last = {one.key: one for one in done} | {one.key: one for one in failed}
        self._errands = {key: one for key in known if (one := index.errand(key))}

    def reconcile_by(self, count: int, name: str) -> list[Reconciled | Failure]:
        """Let several reconcilers act on an errand at the same moment, each with its own view of the cluster.

        Args:
            count: how many.
            name: of the errand.
        """
        key = self.key(name)
        indexes = [read_index(self._engine, self._namespaces) for _one in range(count)]
        barrier = threading.Barrier(count)
        results: list[Reconciled | Failure] = []

        def act(position: int) -> None:
            reconciler = self._reconciler(indexes[position], self._options.get(key, OPTIONS))
            barrier.wait()
            done, failed = reconcile_all(reconciler, [key])
            results.extend([*done, *failed])

        threads = [threading.Thread(target=act, args=(one,)) for one in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def _reconciler(self, index: ErrandIndex, options: RunOptions = OPTIONS) -> Reconciler:
        return Reconciler(self._engine, index, options=options, on_outcome=self.outcomes.append)

    def use_options(self, name: str, **options: Any) -> None:
        """Reconcile an errand with other options of runs; see :class:`RunOptions`."""
        self._options[self.key(name)] = replace(OPTIONS, **options)

    def pause(self, *names: str) -> None:
        """Stop reconciling some errands, as if no engine ran."""
        self._paused |= {self.key(name) for name in names}

    def resume(self, *names: str) -> None:
        """Reconcile them again."""
        self._paused -= {self.key(name) for name in names}

    def take_defects(self) -> list[str]:
        """The failures of reconciliations that must never occur, each once."""
        defects = {one.message for one in self.failures if "defect" in one.message}
        self.failures = [one for one in self.failures if one.message not in defects]
        return sorted(defects)

    # Conditions that a story waits for.

    def is_settled(self, *names: str, runs: int = 0) -> Callable[[], bool]:
        """Whether nothing is left to do for errands, now and later.

        Args:
            names: of the errands.
            runs: how many runs each must have had; 0 for any number.
        """

        def is_so() -> bool:
            return all(self._is_settled(self.key(name), runs) for name in names)

        return is_so

    def _is_settled(self, key: ErrandKey, runs: int) -> bool:
        last, known = self._last.get(key), self._errands.get(key)
        if (
            known is None
            or not isinstance(last, Reconciled)
            or last.steps
            or last.recheck_seconds is not None
        ):
            return False
        run = known.status.run
        return known.status.open_run is None and (not runs or (run is not None and run.number == runs))

    def is_in(self, phase: ErrandPhase, *names: str) -> Callable[[], bool]:
        """Whether errands are in a phase."""

        def is_so() -> bool:
            known = [self._errands.get(self.key(name)) for name in names]
            return all(one is not None and one.status.phase is phase for one in known)

        return is_so

    def has_ended(self, *names: str, container: str = "main", run: int = 1) -> Callable[[], bool]:
        """Whether a container has ended in the pods of errands.

        Args:
            names: of the errands.
            container: its name.
            run: whose pod counts.
        """

        def is_so() -> bool:
            return all(
                any("terminated" in self._state(pod, container) for pod in self.pods(name, run=run))
                for name in names
            )

        return is_so

    def is_running(self, *names: str, container: str = "main", run: int = 1) -> Callable[[], bool]:
        """Whether a container runs in the pods of errands."""

        def is_so() -> bool:
            return all(
                any("running" in self._state(pod, container) for pod in self.pods(name, run=run))
                for name in names
            )

        return is_so

    def open_gate(self, *names: str, run: int = 1) -> None:
        """Let the containers `main` of errands continue that wait at :data:`GATE`.

        Args:
            names: of the errands; the containers must run.
            run: whose pod counts.
        """
        for name in names:
            [pod] = self.pods(name, run=run)
            metadata = pod["metadata"]
            opened = self.cluster.exec(
                metadata["name"], metadata["namespace"], ["touch", "/gate"], container="main"
            )
            assert opened.exit_code == 0, opened

    @staticmethod
    def _state(pod: Object, container: str) -> Mapping[str, Any]:
        statuses = pod.get("status", {}).get("containerStatuses", ())
        return next((one["state"] for one in statuses if one["name"] == container), {})

    @staticmethod
    def after(seconds: float) -> Callable[[], bool]:
        """Whether some seconds have passed."""
        end = time.monotonic() + seconds
        return lambda: time.monotonic() > end

    # Objects.

    def key(self, name: str) -> ErrandKey:
        """The key of an errand: its name, after its namespace and a slash if that is another one."""
        namespace, _slash, own = name.rpartition("/")
        return ErrandKey(namespace or self.namespace, own)

    def create(self, *objects: Object) -> None:
        """Create objects in the namespace of the site, unless they name another one."""
        for obj in objects:
            metadata = {"namespace": self.namespace, **obj["metadata"]}
            self.cluster.create({**obj, "metadata": metadata})

    def apply(self, obj: Object) -> None:
        """Apply an object as `kubectl apply` does, on the client."""
        self.kubectl("apply", "--filename", "-", text=json.dumps(obj))

    def patch(self, name: str, **spec: Any) -> None:
        """Change fields of an errand's spec, as `kubectl patch` or `kubectl edit` do."""
        key = self.key(name)
        self.cluster.patch(API_VERSION, KIND, key.name, key.namespace, {"spec": spec})

    def set_strategy(self, name: str, strategy: str) -> None:
        """Change the strategy of an errand by a patch."""
        self.patch(name, trigger={"strategy": strategy})

    def errand(self, name: str) -> Errand:
        """An errand as it is now."""
        return errand_from(self.object(name))

    def object(self, name: str) -> Object:
        """The object of an errand as it is now."""
        key = self.key(name)
        live = self.cluster.get(API_VERSION, KIND, key.name, key.namespace)
        assert live is not None, f"{key} is gone"
        return live

    def pods(self, name: str, *, run: int = 0) -> list[Object]:
        """The pods of an errand; of one run, or of all."""
        return [one for one in self._owned(POD, name) if not run or _run_of(one) == run]

    def jobs(self, name: str) -> list[Object]:
        """The Jobs of an errand."""
        return self._owned(JOB, name)

    def _owned(self, kind: tuple[str, str], name: str) -> list[Object]:
        key = self.key(name)
        selector = f"{ERRAND_LABEL}={label_value(key.name)}"
        return self.cluster.list(*kind, key.namespace, label_selector=selector).items

    def created_jobs(self, name: str) -> set[str]:
        """The names of all Jobs that an errand has ever had, from the Events of their pods' creation."""
        key = self.key(name)
        selector = "reason=SuccessfulCreate,involvedObject.kind=Job"
        events = self.cluster.list("v1", "Event", key.namespace, field_selector=selector).items
        names = [str(one["involvedObject"]["name"]) for one in events]
        return {one for one in names if one.rpartition("-")[0] == key.name}

    def secret(self, name: str) -> dict[str, str] | None:
        """The values of a Secret, or None if there is none."""
        live = self.secret_object(name)
        data = (live.get("data") or {}) if live else {}
        return None if live is None else {one: base64.b64decode(data[one]).decode() for one in data}

    def secret_object(self, name: str) -> Object | None:
        """A Secret, or None if there is none."""
        key = self.key(name)
        return self.cluster.get("v1", "Secret", key.name, key.namespace)

    def public_texts(self) -> str:
        """All texts that people may read without a right to Secrets: objects, outcomes, failures and logs."""
        kinds = (("v1", "Event"), (API_VERSION, KIND), JOB, POD, ("v1", "ConfigMap"))
        objects = [one for kind in kinds for space in self._namespaces for one in self._list(kind, space)]
        texts = [json.dumps(one) for one in [*objects, *self.outcomes]]
        return "\n".join([*texts, *(str(one) for one in self.failures), *self.records])

    def _list(self, kind: tuple[str, str], namespace: str) -> Sequence[Object]:
        return self.cluster.list(*kind, namespace).items

    def report(self) -> str:
        """The remaining steps of errands, and the last failures; for a test that fails."""
        lines = [
            f"{key}: {known.status.phase}: {known.status.message}; last: {_short(self._last.get(key))}"
            for key, known in self._errands.items()
            if not self._is_settled(key, 0)
        ]
        failures = {f"{one.key}: {one.message}" for one in self.failures[-20:]}
        return "\n".join([*lines, *sorted(failures)])


def _short(result: Reconciled | Failure | None) -> str:
    if not isinstance(result, Reconciled):
        return "failed" if result else "never"
    return ", ".join(type(step).__name__ for step in result.steps) or "nothing to do"


def _run_of(obj: Object) -> int:
    labels = obj["metadata"].get("labels") or {}
    return int(labels.get(f"{API_VERSION.partition('/')[0]}/run") or 0)


class _Records(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record.getMessage())
