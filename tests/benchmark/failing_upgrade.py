# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.benchmark.failing_upgrade FOLDER`: the same failing upgrades with three tools.

It needs the cluster of ``make cluster`` and the programs of ``make build``. For each fault and tool it writes
the output, with the seconds since the start before each line. docs/failing_upgrade.md quotes it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.console import say
from tests.cluster.paths import KUBECONFIG
from tests.make.environments import MAIN

TIMEOUT = 60
"""Seconds that each tool may wait for a component."""
GOOD_IMAGE = "registry.k8s.io/pause:3.10"
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "image": {"image": "broken.invalid/checkout:2.0"},
    "scheduling": {"node_selector": {"disk": "ssd"}},
}
"""What is wrong with the second version of ``checkout``, by the name of the case."""
HELM, KUBECTL, OURS = "helm", "kubectl", "kyma.lifecycle"


def deployment(
    name: str, version: str, image: str = GOOD_IMAGE, node_selector: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A Deployment with two replicas, the same for all three tools."""
    labels = {"app": name}
    pod = {
        "containers": [{"name": "main", "image": image, "env": [{"name": "VERSION", "value": version}]}],
        "nodeSelector": dict(node_selector or {}),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


@dataclass(frozen=True)
class Shop:
    """Two Deployments in the forms of the tools; ``frontend`` needs ``checkout``.

    Attributes:
        folder: gets all files.
        namespace: for the tools that deploy into one.
    """

    folder: Path
    namespace: str

    def write(self, version: str, fault: Mapping[str, Any]) -> None:
        """Write one version of the shop."""
        objects = {
            "checkout": deployment("checkout", version, **fault),
            "frontend": deployment("frontend", version),
        }
        for name, obj in objects.items():
            for folder in (self.manifests, self.chart / "templates", self.release / name):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}.yaml").write_text(yaml.safe_dump(obj))
        chart = {"apiVersion": "v2", "name": "shop", "version": version}
        (self.chart / "Chart.yaml").write_text(yaml.safe_dump(chart))
        (self.release / "release.yaml").write_text(yaml.safe_dump({"version": version}))
        listed = [{"name": "checkout"}, {"name": "frontend", "needs": ["checkout"]}]
        content = {"defaultNamespace": self.namespace, "components": listed}
        (self.release / "components.yaml").write_text(yaml.safe_dump(content))

    @property
    def manifests(self) -> Path:
        """For kubectl."""
        return self.folder / "manifests"

    @property
    def chart(self) -> Path:
        """For Helm."""
        return self.folder / "chart"

    @property
    def release(self) -> Path:
        """For kyma.lifecycle."""
        return self.folder / "shop"

    def commands(self, tool: str) -> list[list[str]]:
        """The command to deploy it, with the same timeout for each tool."""
        limit = f"{TIMEOUT}s"
        into = f"--namespace={self.namespace}"
        if tool == HELM:
            return [["helm", "upgrade", "--install", "shop", "chart", into, "--wait", f"--timeout={limit}"]]
        if tool == KUBECTL:
            return [
                ["kubectl", "apply", into, "-f", "manifests"],
                ["kubectl", "rollout", "status", into, "deployment/checkout", f"--timeout={limit}"],
                ["kubectl", "rollout", "status", into, "deployment/frontend", f"--timeout={limit}"],
            ]
        variables = ["-e", "kyma_release=shop", "-e", f"kyma_component_timeout={TIMEOUT}"]
        return [["ansible-playbook", "kyma.lifecycle.deploy_kyma", *variables]]


def main(target: Path) -> None:
    """Let each tool deploy a version that works, and then one that does not."""
    shops = {tool: Shop(target / tool, f"shop-{tool.partition('.')[0]}") for tool in (HELM, KUBECTL, OURS)}
    for shop in shops.values():
        shop.folder.mkdir(parents=True)
        _call(["kubectl", "create", "namespace", shop.namespace], shop.folder)
    for number, (case, fault) in enumerate(FAULTS.items()):
        for tool, shop in shops.items():
            shop.write(f"1.{number}.0", {})
            for command in shop.commands(tool):
                _call(command, shop.folder)
            shop.write(f"1.{number + 1}.0", fault)
            lines = [line for command in shop.commands(tool) for line in _call(command, shop.folder)]
            (target / f"{case}-{tool}.txt").write_text("\n".join(lines) + "\n")


def _call(command: Sequence[str], folder: Path) -> list[str]:
    """The output of a command, each line with its time."""
    say(" ".join(command))
    started = time.monotonic()
    lines = ["$ " + " ".join(command)]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **MAIN.variables, "KUBECONFIG": str(KUBECONFIG)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            lines.append(f"{time.monotonic() - started:6.1f}  {line.rstrip()}")
    return [*lines, f"{time.monotonic() - started:6.1f}  (exit code {process.returncode})"]


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
