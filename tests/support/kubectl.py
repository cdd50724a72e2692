# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubectl and Helm, as a user of a cluster calls them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

from tests.cluster.paths import BIN


def kubectl(
    kubeconfig: str | Path, *arguments: str, namespace: str = "", text: str = "", fine: Collection[int] = (0,)
) -> str:
    """The output of kubectl. It must end with one of some exit codes.

    Args:
        kubeconfig: of the cluster, which says who calls.
        arguments: of kubectl.
        namespace: of the call; empty for the one of the kubeconfig.
        text: its input.
        fine: exit codes.
    """
    place = ("--namespace", namespace) if namespace else ()
    return _printed("kubectl", kubeconfig, (*place, *arguments), text, fine)


def helm(kubeconfig: str | Path, *arguments: str) -> str:
    """The output of Helm. It must succeed."""
    return _printed("helm", kubeconfig, arguments)


def _printed(
    program: str,
    kubeconfig: str | Path,
    arguments: Collection[str],
    text: str = "",
    fine: Collection[int] = (0,),
) -> str:
    done = subprocess.run(
        [BIN / program, *arguments],
        input=text,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in fine, done.stderr
    return done.stdout
