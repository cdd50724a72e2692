# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a newcomer sees first, and what is measured."""

from __future__ import annotations

from tests.cluster.paths import KUBECONFIG, ROOT

from . import cluster
from .command import run
from .environments import MAIN
from .outcome import Outcome, failed, passed

EXAMPLE = "examples/deploy.yml"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"


def demo() -> Outcome:
    """Deploy the example release on a Kubernetes of its own."""
    cluster.up()
    code = run(
        [MAIN.bin / "ansible-playbook", EXAMPLE],
        env={**MAIN.variables, "K8S_AUTH_KUBECONFIG": str(KUBECONFIG)},
    )
    return failed("the example release was not deployed") if code else passed()


def bench() -> Outcome:
    """Measure how long deployments take, on clusters of their own, and write it to the documentation."""
    cluster.build()
    code = run([MAIN.python, "-m", "tests.benchmark", "--write", BENCHMARKS], env=MAIN.variables, minutes=150)
    return failed("it takes longer than it may, or could not be measured") if code else passed()
