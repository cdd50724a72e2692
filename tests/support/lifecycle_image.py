# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of the example's Containerfile, built without pulling anything, for kind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import yaml

from tests.cluster import debian, engine, kind, paths

FOLDER = paths.ROOT / "examples" / "image"
NAME = "kyma.local/lifecycle"
BASE = "kyma.local/python:1"
HELM = "kyma.local/helm:1"
SUITE = "trixie"
"""The release of Debian of the slim image of Python that users get."""
PYTHON = "3.13"
"""Its Python."""
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
LOCK = paths.ROOT / "tests" / "requirements" / "locked" / "image.txt"


def build(context: Path, *tags: str) -> None:
    """Build the image, and load it into kind under each tag.

    Args:
        context: a new folder.
        tags: the first one is built; the others are other names of it.
    """
    running = engine.running()
    assert running is not None
    _fill(context)
    _import_bases(running, context)
    arguments = {
        "BASE": BASE,
        "HELM": HELM,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "/context",
    }
    given = [f"--build-arg={name}={value}" for name, value in arguments.items()]
    name = f"{NAME}:{tags[0]}"
    running.docker("build", "--network=none", *given, "--tag", name, context)
    for tag in tags:
        running.docker("tag", name, f"{NAME}:{tag}")
        kind.load(running, f"{NAME}:{tag}")


def _fill(context: Path) -> None:
    """Put beside the Containerfile what a build without a network needs."""
    context.mkdir()
    shutil.copy(FOLDER / "Containerfile", context / "Dockerfile")
    for collection in (paths.ROOT, _sources_of_kubernetes_core(context)):
        galaxy = (sys.executable, "-m", "ansible.cli.galaxy", "collection", "build")
        _run(*galaxy, "--output-path", str(context), folder=collection)
    platforms = [word for one in PLATFORMS for word in ("--platform", one)]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    wheels = [
        "--require-hashes",
        "--only-binary=:all:",
        "--python-version",
        PYTHON,
        *platforms,
        "--dest",
        str(context),
    ]
    _run(*pip, *wheels, "--requirement", str(LOCK), folder=context)


def _sources_of_kubernetes_core(context: Path) -> Path:
    """A folder of which the tarball of the installed collection can be built."""
    installed = paths.BUILD / "ansible_collections" / "kubernetes" / "core"
    folder = context.with_name(f"{context.name}-kubernetes-core")
    shutil.copytree(installed, folder)
    manifest = yaml.safe_load((folder / "MANIFEST.json").read_text())["collection_info"]
    (folder / "galaxy.yml").write_text(yaml.safe_dump({k: v for k, v in manifest.items() if v}))
    return folder


def _import_bases(running: engine.Engine, context: Path) -> None:
    """Give the engine a base with Python, and an image of Helm."""
    base = debian.base_system(SUITE, ("ca-certificates", "python3", "python3-venv"))
    running.docker("import", str(base), BASE)
    helm = context.with_name(f"{context.name}-helm.tar")
    with tarfile.open(helm, "w") as archive:
        archive.add(paths.BIN / "helm", "usr/bin/helm")
    running.docker("import", str(helm), HELM)


def _run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
