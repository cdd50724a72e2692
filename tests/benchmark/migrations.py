# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations of a user, in any number, none of which has anything to do."""

from __future__ import annotations

from pathlib import Path

COUNT = 100
COMPONENTS = ("istio", "certificates", "logging", "monitoring", "eventing", "tracing", "ory", "serverless")
LISTED = (
    ("v1", "PersistentVolumeClaim"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("apps/v1", "Deployment"),
    ("v1", "ConfigMap"),
)
"""What most of them look at; each fifth looks at an object of its own."""

CODE = '''"""One of many."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)


class Number{number}(Migration):
    """What is old and has this number is gone."""

    component = "{component}"
    phase = Phase.{phase}
    remove_in = "9.9"

    def check(self, ctx: Context) -> Verdict:
        """Needed where there is any of it."""
        found = {read}
        old = [one for one in found if one and one["metadata"]["name"].startswith("old-{number}-")]
        if not old:
            return not_needed(f"none of {{len(found)}} is old")
        return needed(f"{{old[0]['metadata']['name']}} is old")

    def run(self, ctx: Context) -> None:
        """Delete it."""
        for one in {read}:
            if one and one["metadata"]["name"].startswith("old-{number}-"):
                ctx.cluster.delete("{api_version}", "{kind}", one["metadata"]["name"], "kyma-system")
'''


def write_migrations(folder: Path, count: int = COUNT) -> None:
    """Write a file for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        api_version, kind = LISTED[number % len(LISTED)]
        read = f'ctx.cluster.list("{api_version}", "{kind}", "kyma-system").items'
        if number % 5 == 4:
            api_version, kind = "v1", "Service"
            read = f'[ctx.cluster.get("v1", "Service", "old-{number}-", "kyma-system")]'
        code = CODE.format(
            number=number,
            component=COMPONENTS[number % len(COMPONENTS)],
            phase=("PRE", "POST")[number % 2],
            read=read,
            api_version=api_version,
            kind=kind,
        )
        (folder / f"number_{number:03}.py").write_text(code, encoding="utf-8")
