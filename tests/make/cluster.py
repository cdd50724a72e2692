# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes to test on, started by tests.cluster."""

from __future__ import annotations

from tests.cluster.paths import BUILD, VERSIONS

from . import setup
from .command import must, read
from .environments import MAIN
from .outcome import Outcome, passed

COMMAND = (MAIN.python, "-m", "tests.cluster")


def build() -> Outcome:
    """Build the programs that a cluster consists of."""
    setup.for_running()
    must([*COMMAND, "build"], env=MAIN.variables, minutes=30)
    return passed()


def build_oldest() -> None:
    """Build the oldest Kubernetes and Helm that the collection supports."""
    must([*COMMAND, "build"], env={**MAIN.variables, VERSIONS: "oldest"}, minutes=60)


def up(kubeconfig: str = "") -> Outcome:
    """Start or reuse a cluster, or use the one of a kubeconfig."""
    setup.for_running()
    must([*COMMAND, "up", "--kubeconfig", kubeconfig], env=MAIN.variables, minutes=30)
    return passed()


def down() -> Outcome:
    """End all that was started."""
    setup.for_running()
    must([*COMMAND, "down"], env=MAIN.variables)
    return passed()


def prepare_kind() -> None:
    """Prepare kind so that it starts quickly: the first time, its node image is built, which takes minutes.

    Molecule shows nothing of that before it is over.
    """
    if not (BUILD / "kind" / "node-image.stamp").exists():
        kind_up()


def is_kind_up() -> bool:
    """Return whether a kind cluster runs."""
    _code, printed = read([*COMMAND, "status"], env=MAIN.variables)
    return "kind: ready" in printed


def kind_up() -> None:
    """Start kind, or reuse the cluster that runs."""
    must([*COMMAND, "up", "--provider", "kind"], env=MAIN.variables, minutes=40)


def kind_down() -> None:
    """End the running parts of it."""
    must([*COMMAND, "down", "--provider", "kind"], env=MAIN.variables)


def why_no_kind() -> str:
    """Return why kind can't run on this machine, or nothing if it can."""
    code, printed = read([*COMMAND, "can-kind"], env=MAIN.variables)
    return "" if code == 0 else printed.strip() or "kind can't run here"
