# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requirements of an execution environment, in a Python without other libraries, deploy a Helm chart."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cluster.paths import BIN, ROOT
from tests.make.environments import BARE
from tests.support.needs import skip
from tests.support.own_cluster import new_cluster
from tests.support.small_release import NAMESPACE, SmallRelease

# All of it is for the suite that provides the bare Python.
pytestmark = pytest.mark.control_plane

META = ROOT / "meta" / "execution-environment.yml"
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-settings"}
data: {colour: "{{ .Values.colour }}"}
"""


def programs_of(platform: str) -> set[str]:
    """The programs that bindep installs into the environment on a platform."""
    lines = (ROOT / yaml.safe_load(META.read_text())["dependencies"]["system"]).read_text().splitlines()
    matches = (re.fullmatch(r"(\S+) \[platform:(\w+)\]", line) for line in lines if not line.startswith("#"))
    return {one[1] for one in matches if one and one[2] == platform}


@pytest.fixture
def bare_python() -> Path:
    """The folder of the programs of a Python that has only the requirements."""
    if not BARE.python.exists():
        skip(f"There is no bare Python, because {BARE.python} does not exist. To create it: make integration")
    return BARE.bin


@pytest.fixture
def search_path(bare_python: Path, tmp_path: Path) -> str:
    """A PATH with the programs of the environment, and those of the operating system."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in programs_of("fedora"):
        (programs / name).symlink_to(BIN / name)
    return f"{bare_python}:{programs}:/usr/bin:/bin"


def test_the_environment_has_no_library_of_the_tests(bare_python: Path) -> None:
    pip = [str(bare_python / "python"), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]
    done = subprocess.run(pip, capture_output=True, text=True, check=True, timeout=60)
    installed = {line.partition("==")[0].lower() for line in done.stdout.splitlines()}
    required = {
        re.split(r"[<>=]", line)[0].lower()
        for line in (ROOT / yaml.safe_load(META.read_text())["dependencies"]["python"]).read_text().split()
    }
    assert required <= installed
    assert not installed & {"pytest", "ansible", "mypy"}


def test_the_environment_deploys_a_chart(bare_python: Path, search_path: str, tmp_path: Path) -> None:
    release = SmallRelease(tmp_path / "release")
    release.chart("shop", "colour: blue\n", settings=CONFIG_MAP)
    (tmp_path / "cluster").mkdir()
    with new_cluster(tmp_path / "cluster") as cluster:
        done = subprocess.run(
            [
                *(str(bare_python / "ansible-playbook"), "kyma.lifecycle.deploy_kyma"),
                *("-e", f"kyma_release={release.folder}", "-e", "kyma_overrides=shop.colour=green"),
            ],
            env={
                "PATH": search_path,
                "HOME": str(tmp_path),
                "LANG": os.environ.get("LANG", "C.UTF-8"),
                "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".build"),
                "KUBECONFIG": str(cluster.kubeconfig),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        settings = cluster.api.get("v1", "ConfigMap", "shop-settings", NAMESPACE)
    assert settings is not None
    assert settings["data"] == {"colour": "green"}
