# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubectl, as a user of a cluster calls it."""

from __future__ import annotations

import os
import subprocess

from tests.cluster.paths import BIN


def kubectl(kubeconfig: str, namespace: str, *arguments: str, text: str = "") -> str:
    """What kubectl prints. It must succeed.

    Args:
        kubeconfig: of the cluster, which says who calls.
        namespace: that is meant.
        arguments: of kubectl.
        text: what it reads.
    """
    done = subprocess.run(
        [BIN / "kubectl", "--namespace", namespace, *arguments],
        input=text,
        env={**os.environ, "KUBECONFIG": kubeconfig},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
