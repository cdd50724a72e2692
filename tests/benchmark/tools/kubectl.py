# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`kubectl apply --server-side` and `kubectl diff`, each with all objects at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..measurements import Sample, typical
from ..names import KUBECTL_APPLY, KUBECTL_DIFF, ROLLOUT
from ..running import Cluster, Place
from .tool import Samples, Tool

AGENT = "kubectl/"
ROLLOUTS = 7
"""How often a rollout is timed, as it varies by a quarter; what is typical counts."""
DIFFERENCES = 1
"""The exit code of a diff that finds some."""


ESTABLISHED = '{.status.conditions[?(@.type=="Established")].status}'
"""`--for=condition=Established` fails on a definition that is so new that it has no conditions."""


class Kubectl(Tool):
    """It waits for nothing but new CRDs."""

    row = KUBECTL_APPLY

    def first(self) -> Samples:
        """Apply namespaces and CRDs, wait for them, apply the rest."""
        before = apply_before(self.place, self.cluster, self.workload.before)
        return {KUBECTL_APPLY: before + self._apply(self.workload.rest)}

    def unchanged(self) -> Samples:
        """Apply everything again, and check for differences."""
        return {KUBECTL_APPLY: self._apply(self.workload.everything), KUBECTL_DIFF: self._diff()}

    def changed(self) -> Samples:
        """Time the rollouts of some changes, then check for the differences of another one, and apply it."""
        rollout = typical(self._rollout() for _each in range(ROLLOUTS))
        self.workload.change()
        diff = self._diff(good=(DIFFERENCES,))
        return {ROLLOUT: rollout, KUBECTL_APPLY: self._apply(self.workload.everything), KUBECTL_DIFF: diff}

    def _rollout(self) -> Sample:
        """Apply a change, and wait until its rollout is complete."""
        self.workload.change()
        # A rollout begins with its change, not when the last of several has been written.
        applied = self._apply(self.workload.rollout)
        return applied + self._run("rollout", "status", "--filename", self.workload.rollout)

    def _apply(self, file: Path) -> Sample:
        return self._run("apply", "--server-side", "--filename", file)

    def _diff(self, good: Sequence[int] = (0,)) -> Sample:
        return self._run("diff", "--server-side", "--filename", self.workload.everything, good=good)

    def _run(self, *words: str | Path, good: Sequence[int] = (0,)) -> Sample:
        return self.place.run(["kubectl", *words], self.cluster, AGENT, good=good).sample


def apply_before(place: Place, cluster: Cluster, file: Path) -> Sample:
    """Apply namespaces and CRDs and wait until the CRDs are served; other tools begin in the same way."""
    applied = place.run(["kubectl", "apply", "--server-side", "--filename", file], cluster, AGENT)
    waiting = ["kubectl", "wait", f"--for=jsonpath={ESTABLISHED}=True", "crd", "--all"]
    return applied.sample + place.run(waiting, cluster, AGENT).sample
