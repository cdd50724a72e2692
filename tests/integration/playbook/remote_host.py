# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that is not this one, as far as Ansible knows: modules and releases are shipped to it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.cluster.paths import ROOT

CONNECTION = ROOT / "tests" / "integration" / "carrier" / "collection" / "plugins" / "connection"


def inventory_elsewhere(folder: Path, python: Path = Path(sys.executable)) -> list[str]:
    """Arguments that have the work done elsewhere, by files in ``async`` and ``remote`` of a folder.

    Args:
        folder: that ansible-playbook is called in.
        python: the interpreter of the host.
    """
    plugins = folder / "connection_plugins"
    plugins.mkdir(exist_ok=True)
    shutil.copy(CONNECTION / "elsewhere.py", plugins)
    inventory = folder / "elsewhere.ini"
    inventory.write_text(
        f"localhost ansible_connection=elsewhere ansible_python_interpreter={python}"
        f" ansible_async_dir={folder}/async ansible_remote_tmp={folder}/remote\n"
    )
    return ["-i", str(inventory)]
