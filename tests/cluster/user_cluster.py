# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own cluster, from KUBECONFIG as an argument of make. It is never ended."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import yaml

from . import certificates, paths, provision
from .command import output
from .console import say
from .errors import ClusterError
from .programs import KUBERNETES


def up(kubeconfig: str) -> None:
    """Check that it answers, and write its kubeconfig where everything else reads it."""
    source = os.pathsep.join(str(Path(part).expanduser()) for part in kubeconfig.split(os.pathsep) if part)
    environment = {"KUBECONFIG": source}
    kubectl = _any_kubectl()
    try:
        output([kubectl, "version", "--request-timeout=10s"], env=environment)
    except ClusterError as error:
        raise ClusterError(f"The cluster of KUBECONFIG={source} doesn't answer: {error}") from error
    text = output([kubectl, "config", "view", "--minify", "--flatten", "--raw"], env=environment)
    certificates.write_private(paths.KUBECONFIG, text)
    paths.GIVEN.write_text(source, encoding="utf-8")
    config = yaml.safe_load(text)
    server = config["clusters"][0]["cluster"]["server"]
    say(f"The cluster answers: context {config['current-context']}, at {server}")
    say(f"{paths.KUBECONFIG} is a copy of its kubeconfig. `make cluster-down` deletes only this copy.")


def forget() -> None:
    """Remove the copy of the kubeconfig, and nothing else."""
    if paths.GIVEN.exists():
        paths.KUBECONFIG.unlink(missing_ok=True)
        paths.GIVEN.unlink()


def _any_kubectl() -> Path:
    """Return ours if it exists, else one of the PATH in any version, else get ours."""
    ours = paths.BIN / "kubectl"
    users = shutil.which("kubectl")
    if users and not ours.exists():
        return Path(users)
    if not ours.exists():
        provision.provide((KUBERNETES,), only=("kubectl",))
    return ours
