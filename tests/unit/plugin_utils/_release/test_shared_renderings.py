# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with the same chart render it once, each in a process of its own, as the workers of Ansible are."""

from __future__ import annotations

import multiprocessing
import tarfile
from collections import Counter
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.cache import ReleaseCache

from tests.unit.conftest import Write

HOSTS = 20
HELM = """#!/bin/sh
echo "$1 $2" >> {log}
if [ "$1" = version ]; then echo v4.0.0; exit; fi
cat > /dev/null
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: %s}}\\n' "$2"
"""
CHART = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
RELEASE = {
    "components.yaml": "components: [{name: same}, {name: own}, {name: random}, {name: packed}]\n",
    "resources/same/Chart.yaml": CHART,
    "resources/own/Chart.yaml": CHART,
    "resources/random/Chart.yaml": CHART,
    "resources/random/templates/secret.json": "{{ randAlphaNum 8 }}",
    "resources/packed/Chart.yaml": CHART,
}


def render(root: str, helm: str, cache: str, host: int) -> None:
    """Render as the task of one host does; its values differ from those of other hosts for one component."""
    override = f"own.domain={host}.example.com"
    request = ReleaseRequest(root, version="2.9", helm_binary=helm, overrides=(override,))
    release = ControllerMaterials(request, bundles=ReleaseCache(cache, print)).release()
    names = [obj["metadata"]["name"] for one in release.content.values() for obj in one.objects]
    assert sorted(names) == ["own", "packed", "random", "same"]


def test_a_chart_is_rendered_once_for_all_hosts(write: Write, tmp_path: Path) -> None:
    log, helm, cache = tmp_path / "log", tmp_path / "helm", tmp_path / "cache"
    cache.mkdir()
    helm.write_text(HELM.format(log=log))
    helm.chmod(0o755)
    root = write(RELEASE)
    charts = root / "resources" / "packed" / "charts"
    charts.mkdir()
    with tarfile.open(charts / "sub-1.0.0.tgz", "w:gz"):
        pass
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    hosts = [
        context.Process(target=render, args=(str(root), str(helm), str(cache), host)) for host in range(HOSTS)
    ]
    for process in hosts:
        process.start()
    for process in hosts:
        process.join()
    assert [process.exitcode for process in hosts] == [0] * HOSTS
    starts = Counter(log.read_text().splitlines())
    assert starts.pop("version --template") == 1
    # A chart with random values, or with a packed one that may have them, is rendered twice by each host.
    assert starts == {
        "template same": 1,
        "template own": HOSTS,
        "template random": 2 * HOSTS,
        "template packed": 2 * HOSTS,
    }
