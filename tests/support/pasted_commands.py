# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the command of a message in the shell of a person whose default cluster is another one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.paths import BIN

_DEAD = {"server": "https://127.0.0.1:1"}


def paste(message: str, program: str, environment: Mapping[str, str], folder: Path) -> str:
    """The output of the one command of a program in a message. It must succeed.

    Args:
        message: with the command in backticks or on a line of its own.
        program: ``kubectl``, ``ansible`` or ``ansible-playbook``.
        environment: of the person; the kubeconfig is replaced.
        folder: for the kubeconfig of the other cluster, which does not answer.
    """
    [command] = re.findall(rf"(?:`|^\s*)({program} [^`\n]+)(?:`|$)", message, re.MULTILINE)
    kubeconfig = folder / "other-cluster.json"
    names = {"context": {"cluster": "other", "user": "other"}, "cluster": _DEAD, "user": {}}
    content = {f"{kind}s": [{"name": "other", kind: value}] for kind, value in names.items()}
    kubeconfig.write_text(json.dumps({**content, "current-context": "other"}))
    path = os.pathsep.join([str(Path(sys.executable).parent), str(BIN), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=True,
        env={**environment, "PATH": path, "KUBECONFIG": str(kubeconfig)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
