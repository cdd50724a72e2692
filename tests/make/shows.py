# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Demonstrations for newcomers, and measurements."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cluster.paths import BIN, BUILD, GIVEN, KUBECONFIG, ROOT

from . import cluster, setup
from .command import run
from .environments import MAIN
from .outcome import Outcome, failed, passed

EXAMPLE = "examples/deploy.yml"
DEFINITIONS = (
    *(
        f"{kind}.lifecycle.kyma-project.io"
        for kind in ("kymaapprovals", "kymaholds", "kymainstallations", "kymainventories")
    ),
    *(f"{kind}.lifecycle.kyma-project.io" for kind in ("kymajournalentries", "kymamodules", "kymaruns")),
    "offers.shop.example.com",
)
"""The CRDs that the example release writes to an empty cluster: those of records, and its own."""
NAMESPACES = ("kyma-lifecycle", "shop")
"""The namespaces that it writes: that of the lease, and its own."""
BENCHMARKS = ROOT / "docs" / "benchmarks.md"


def demo(kubeconfig: str = "") -> Outcome:
    """Deploy the example release on its own Kubernetes, or on that of a kubeconfig."""
    cluster.up(kubeconfig)
    if GIVEN.exists():
        print(written(KUBECONFIG), flush=True)
    code = run(
        [MAIN.bin / "ansible-playbook", EXAMPLE],
        env={**MAIN.variables, "K8S_AUTH_KUBECONFIG": str(KUBECONFIG)},
    )
    if code:
        return failed("the example release was not deployed")
    listed = "\n".join(f"\n{what}:\n  {command}" for what, command in next_commands(KUBECONFIG).items())
    return passed(f"\nThe example release runs. Three commands to try, from this folder:\n{listed}\n")


def written(kubeconfig: Path) -> str:
    """What the demo writes to the cluster of a user, and the command that deletes it."""
    return (
        f"The demo writes to this cluster:\n"
        f"  CRDs: {', '.join(DEFINITIONS)}\n"
        f"  records: objects of the CRDs of lifecycle.kyma-project.io, and ClusterRole kyma-lifecycle-view\n"
        f"  namespaces: {', '.join(NAMESPACES)}\n"
        f"To delete all of it:\n  {delete_command(kubeconfig)}\n"
    )


def delete_command(kubeconfig: Path) -> str:
    """The command that deletes all that the demo has written, CRDs and records included."""
    return f"{_playbook(kubeconfig)} kyma.lifecycle.delete_kyma"


def next_commands(kubeconfig: Path) -> dict[str, str]:
    """The next commands for a newcomer after the demo: each a line for a shell in the root of the repository.

    Args:
        kubeconfig: of the cluster that has the example release.
    """
    playbook = _playbook(kubeconfig)
    return {
        "See what is deployed, and the record of the run": (
            f"{_short(_kubectl())} --kubeconfig {_short(kubeconfig)}"
            " get --all-namespaces deployments,kymaruns.lifecycle.kyma-project.io"
        ),
        "Rehearse the same deployment again, which has nothing to do": (
            f"{playbook} {EXAMPLE} --check --diff"
        ),
        "Write a report of the run, as one HTML file": f"{playbook} kyma.lifecycle.report",
    }


def _playbook(kubeconfig: Path) -> str:
    environment = f"KUBECONFIG={_short(kubeconfig)} ANSIBLE_COLLECTIONS_PATH={_short(BUILD)}"
    return f"{environment} {_short(MAIN.bin / 'ansible-playbook')}"


def _kubectl() -> Path:
    """Ours; on a cluster of the user, it may be the user's."""
    ours = BIN / "kubectl"
    return ours if ours.exists() else Path(shutil.which("kubectl") or ours)


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def pictures() -> Outcome:
    """Create the pictures of the documentation again, from real runs on their own clusters."""
    setup.for_tests()
    setup.for_browsers()
    cluster.build()
    code = run([MAIN.python, "-m", "tests.pictures"], env=MAIN.variables)
    return failed("there are no new pictures") if code else passed()


def bench() -> Outcome:
    """Measure how long deployments take, on their own clusters, and write it to the documentation."""
    cluster.build()
    code = run([MAIN.python, "-m", "tests.benchmark", "--write", BENCHMARKS], env=MAIN.variables, minutes=150)
    return failed("it takes longer than it may, or could not be measured") if code else passed()
