# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment with nothing to do loads few of our files, as each costs time in every run."""

from __future__ import annotations

import re

import pytest

from tests.cluster.paths import ROOT
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

PREFIX = "ansible_collections.kyma.lifecycle."
MOST = 160
"""Files that are no package. Load one where it is needed, or only for types, before this rises."""


def files_in(printed: str) -> set[str]:
    """The files of the collection that Python has loaded, as ``PYTHONPROFILEIMPORTTIME`` prints them."""
    modules = re.findall(rf"import time:[ \d|]*\| +{re.escape(PREFIX)}([\w.]+)", printed)
    files = {f"{module.replace('.', '/')}.py" for module in modules}
    return {file for file in files if (ROOT / file).is_file()}


def test_a_deployment_with_nothing_to_do_loads_few_files(playbook: Playbook, small: SmallRelease) -> None:
    small.component("one", config_map("one"))
    playbook.deploy(small.folder).succeeded()
    playbook.settings["PYTHONPROFILEIMPORTTIME"] = "1"
    outcome = playbook.deploy(small.folder).succeeded()
    assert outcome.recap["changed"] == 0
    loaded = files_in(outcome.text)
    assert "plugins/module_utils/_tasks/plan.py" in loaded
    assert len(loaded) <= MOST, "\n".join(sorted(loaded))
