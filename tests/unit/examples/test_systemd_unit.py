# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit of systemd that runs the engine of errands. test_watch.py stops an engine by its signal."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import END_SECONDS

from tests.cluster.paths import ROOT
from tests.support.systemd_unit import read_unit

UNIT = ROOT / "examples" / "errands" / "kyma-errands.service"
PROGRAM = "/opt/kyma/bin/ansible-playbook"


def settings() -> configparser.SectionProxy:
    """The section ``Service`` of the unit."""
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser.read(UNIT)
    return parser["Service"]


def test_the_command_has_a_playbook_and_variables_that_exist() -> None:
    program, playbook, *arguments = shlex.split(settings()["ExecStart"].replace("\\\n", " "))
    assert program == PROGRAM
    namespace, collection, name = playbook.split(".")
    assert (namespace, collection) == ("kyma", "lifecycle")
    text = (ROOT / "playbooks" / f"{name}.yml").read_text()
    assert arguments[::2] == ["-e"] * (len(arguments) // 2)
    variables = dict(word.split("=", 1) for word in arguments[1::2])
    assert variables.keys() == {"kyma_kubeconfig", "kyma_errand_http"}
    assert variables.keys() <= set(re.findall(r"(kyma_\w+) \| default", text))
    credential = settings()["LoadCredential"].partition(":")[0]
    assert variables["kyma_kubeconfig"] == f"${{CREDENTIALS_DIRECTORY}}/{credential}"


def test_the_unit_ends_as_an_engine_needs_it() -> None:
    service = settings()
    assert (service["KillSignal"], service["KillMode"]) == ("SIGINT", "mixed")
    assert int(service["TimeoutStopSec"]) > END_SECONDS
    # What Ansible ends with by SIGINT, whatever it was doing.
    assert {"1", "2", "4", "99", "130"} == set(service["SuccessExitStatus"].split())


def test_the_unit_restarts_without_end_and_with_growing_pauses() -> None:
    unit = read_unit(UNIT)
    assert unit["Unit"]["StartLimitIntervalSec"] == ["0"]
    assert "StartLimitBurst" not in unit["Unit"]
    service = {name: values[-1] for name, values in unit["Service"].items()}
    assert service["Restart"] == "always"
    assert int(service["RestartSec"]) < int(service["RestartMaxDelaySec"])
    assert int(service["RestartSteps"]) > 1


def test_systemd_knows_all_settings(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return  # a machine without systemd
    # It warns of programs that are missing, and of other units of this machine.
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace(PROGRAM, "/bin/true"))
    done = subprocess.run(
        [analyze, "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    # systemd before 254 restarts at the same pause.
    lines = (done.stdout + done.stderr).splitlines()
    unknown = [
        one for one in lines if UNIT.name in one and not re.search("'Restart(Steps|MaxDelaySec)'", one)
    ]
    assert unknown == []
