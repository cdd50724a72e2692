# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of the measured tools."""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import version
from pathlib import Path

from tests.cluster.paths import BIN, BUILD


def versions() -> str:
    """Name the tools with their versions, as a part of a sentence."""
    kubectl = json.loads(_read(BIN / "kubectl", "version", "--client", "--output=json"))
    manifest = BUILD / "ansible_collections" / "kubernetes" / "core" / "MANIFEST.json"
    core = json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]["version"]
    tools = {
        "kubectl": kubectl["clientVersion"]["gitVersion"].removeprefix("v"),
        "Helm": _read(BIN / "helm", "version", "--template={{.Version}}").removeprefix("v"),
        "kubernetes.core": core,
        "the Python client": version("kubernetes"),
    }
    named = ", ".join(f"{name} {number}" for name, number in tools.items())
    return f"{named} and ansible-core {version('ansible-core')}"


def _read(program: Path, *words: str) -> str:
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout.strip()
