# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task of the module `kubernetes.core.k8s` with all objects."""

from __future__ import annotations

import json
from pathlib import Path

from ..measurements import Sample
from ..names import KUBERNETES_CORE
from ..running import ANSIBLE_PLAYBOOK
from .kubectl import apply_before
from .tool import Samples, Tool

AGENT = "OpenAPI-Generator/"
"""The name of the Python client that it is built on."""


class KubernetesCore(Tool):
    """It applies on the server, and doesn't wait."""

    row = KUBERNETES_CORE

    def first(self) -> Samples:
        """Apply the rest after namespaces and CRDs, whose kinds it doesn't see while it creates them."""
        before = apply_before(self.place, self.cluster, self.workload.before)
        return {KUBERNETES_CORE: before + self._apply(self.workload.rest)}

    def unchanged(self) -> Samples:
        """Apply everything again."""
        return {KUBERNETES_CORE: self._apply(self.workload.everything)}

    def changed(self) -> Samples:
        """Apply everything with one changed component."""
        self.workload.change()
        return self.unchanged()

    def _apply(self, file: Path) -> Sample:
        task = {
            "src": str(file),
            "apply": True,
            "server_side_apply": {"field_manager": "kubectl", "force_conflicts": False},
        }
        play = {"hosts": "localhost", "gather_facts": False, "tasks": [{"kubernetes.core.k8s": task}]}
        playbook = self.place.folder / "k8s.yml"
        playbook.write_text(json.dumps([play]), encoding="utf-8")
        return self.place.run([ANSIBLE_PLAYBOOK, playbook], self.cluster, AGENT).sample
