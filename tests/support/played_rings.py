# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts in rings by the playbook itself: what a cluster would answer is scripted, and all else is real."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.paths import ROOT

from .played_role import Played, Plays, begun, planned

DIGEST, OLD_DIGEST = "ab" * 32, "cd" * 32
NOW, BEFORE = "2026-11-27T12:00:00Z", "2026-11-26T12:00:00Z"
Answers = Mapping[str, Sequence[Mapping[str, Any]]]
SCRIPTED_STEP = """
from ansible_collections.kyma.lifecycle.plugins.action.real_{module} import ActionModule as Real
from ansible_collections.kyma.lifecycle.plugins.action.scripted import ActionModule as Scripted

class ActionModule(Real):
    def {method}(self, arguments, task_vars, *_more):
        answered = Scripted(
            self._task, self._connection, self._play_context, self._loader, self._templar,
            self._shared_loader_obj,
        )
        return answered.run(None, task_vars)
"""
STEPS = {"plan": "_planned_or_stored", "run": "carry"}
"""By module, the method whose result a cluster decides."""


def rollout_facts(**changed: Any) -> dict[str, Any]:
    """What a plan says for a rollout."""
    return {
        "release_digest": DIGEST,
        "installed_digest": OLD_DIGEST,
        "since": BEFORE,
        "run": {},
        "now": NOW,
        "healthy_since": BEFORE,
        "approvals": [],
        **changed,
    }


def to_deploy(**facts: Any) -> dict[str, Any]:
    """The plan of a cluster that has an older release."""
    plan = planned("2.12", previous="2.11", version="2.12", release_digest=DIGEST, unhealthy=[])
    return {**plan, "changed": True, "rollout": rollout_facts(**facts)}


def done(**facts: Any) -> dict[str, Any]:
    """The plan of a cluster that has the release since yesterday."""
    plan = planned("2.12", previous="2.12", version="2.12", release_digest=DIGEST, unhealthy=[], needed=False)
    return {**plan, "rollout": rollout_facts(**{"installed_digest": DIGEST, **facts})}


def unhealthy() -> dict[str, Any]:
    """The plan of a cluster that has the release, and whose workload is down."""
    answer = done()
    answer["plan"]["unhealthy"] = [
        {"component": "shop", "object": "Deployment shop/checkout", "reason": "no pod is ready"}
    ]
    return answer


def deployable(run: str, **finished: Any) -> dict[str, list[dict[str, Any]]]:
    """The answers of a cluster that is planned and then deployed."""
    return {
        "plan": [to_deploy(), to_deploy()],
        "run started": [begun(run)],
        "run finished": [{"state": "succeeded", "previous": "2.11", "version": "2.12", **finished}],
    }


class PlayedRings(Plays):
    """Plays ``deploy_kyma``, or another playbook, for an inventory of rings."""

    playbook = "kyma.lifecycle.deploy_kyma"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder
        actions = self.plugins / "action"
        (actions / "scripted.py").write_text((actions / "plan.py").read_text())
        for module in ("rollout", "report"):
            (actions / f"{module}.py").symlink_to(ROOT / "plugins" / "action" / f"{module}.py")
        for module in ("run_info", "errand_info", "approval"):
            (actions / f"{module}.py").write_text((actions / "plan.py").read_text())
        for module, method in STEPS.items():
            (actions / f"real_{module}.py").symlink_to(ROOT / "plugins" / "action" / f"{module}.py")
            (actions / f"{module}.py").write_text(SCRIPTED_STEP.format(module=module, method=method))
        (self.plugins.parent / "playbooks").symlink_to(ROOT / "playbooks")
        (folder / "release").mkdir()

    def roll_out(
        self,
        rings: Mapping[str, Mapping[str, Answers]],
        *options: str,
        hosts: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        **variables: Any,
    ) -> Played:
        """Play the playbook.

        Args:
            rings: by group, the answers of its hosts.
            options: of ``ansible-playbook``.
            hosts: variables of hosts, as in an inventory.
            files: beside the inventory, by name; what is written for the inventory comes after its groups.
            variables: extra ones.
        """
        lines = []
        for ring, members in rings.items():
            lines += [f"[{ring}]", *(f"{host} {(hosts or {}).get(host, '')}" for host in members)]
        inventory = self._folder / "fleet.ini"
        for name, text in (files or {}).items():
            (self._folder / name).parent.mkdir(exist_ok=True)
            (self._folder / name).write_text(text)
        inventory.write_text("\n".join([*lines, (files or {}).get(inventory.name, "")]) + "\n")
        given = {"kyma_rings": list(rings), "kyma_release": str(self._folder / "release"), **variables}
        extra = {name: value for name, value in given.items() if value is not None}
        answers = {host: own for members in rings.values() for host, own in members.items()}
        return self.play_book(self.playbook, answers, "-i", str(inventory), "-e", json.dumps(extra), *options)
