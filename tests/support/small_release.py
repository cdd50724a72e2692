# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small releases, created for one test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Object = dict[str, Any]


def config_map(name: str, **data: str) -> Object:
    """A ConfigMap in its component's namespace."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str, image: str = "example.com/fine", ready_after: str = "", **spec: Any) -> Object:
    """A Deployment of one pod; the cluster's README has the effects of images and of the annotation."""
    labels = {"app": name}
    annotations = {"kyma.local/ready-after": ready_after} if ready_after else {}
    pod = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": pod, **spec},
    }


NAMESPACE = "small"
"""Where the components of small releases live."""

MARK = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, MigrationError, Phase, Verdict, needed, not_needed,
)


class {name}(Migration):
    '''It leaves a mark.'''

    component = "{component}"
    phase = Phase.{phase}
    keep = "it is for a test"
    {more}

    def check(self, ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", "{mark}", "default")
        return not_needed("it has run") if done else needed("it has not run")

    def run(self, ctx: Context) -> None:
        import time
        began = time.time()
        {body}
        ctx.cluster.create({{
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {{"name": "{mark}", "namespace": "default"}},
            "data": {{"began": str(began), "ended": str(time.time())}},
        }})
"""


def marking(name: str, component: str, phase: str, *, body: str = "", more: str = "") -> str:
    """The code of a migration that leaves a ConfigMap ``default/<component>-<phase>-<name>`` behind.

    Args:
        name: of its class.
        component: of the migration.
        phase: ``pre`` or ``post``.
        body: a line of its code before it creates the ConfigMap.
        more: a line for its class.
    """
    mark = mark_of(name, component, phase)
    values = {"name": name, "component": component, "phase": phase.upper(), "mark": mark}
    return MARK.format(**values, body=body or "pass", more=more)


def mark_of(name: str, component: str, phase: str) -> str:
    """The name of the ConfigMap that such a migration leaves behind."""
    return f"{component}-{phase}-{name}".lower()


class SmallRelease:
    """A release in a folder, version 1.0; its components are in :data:`NAMESPACE`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        folder.mkdir(parents=True)
        (folder / "release.yaml").write_text("version: '1.0'\n")

    def component(
        self, name: str, *objects: Object, prerequisite: bool = False, **entry: Any
    ) -> SmallRelease:
        """Add a component; ``entry`` has further keys of its entry in the component list."""
        self._list(prerequisite, {"name": name, **entry})
        self.write(name, *objects)
        return self

    def chart(self, name: str, values: str, **templates: str) -> SmallRelease:
        """Add a component that is a Helm chart, of some values and templates."""
        self._list(False, {"name": name})
        place = self.folder / name / "templates"
        place.mkdir(parents=True)
        (place.parent / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n")
        (place.parent / "values.yaml").write_text(values)
        for file, text in templates.items():
            (place / f"{file}.yaml").write_text(text)
        return self

    def _list(self, prerequisite: bool, entry: dict[str, Any]) -> None:
        self._entries[prerequisite].append(entry)
        listed = {
            "defaultNamespace": NAMESPACE,
            "prerequisites": self._entries[True],
            "components": self._entries[False],
        }
        (self.folder / "components.yaml").write_text(json.dumps(listed))

    def write(self, name: str, *objects: Object) -> None:
        """Write a component's manifests, or rewrite them."""
        place = self.folder / name / "all.yaml"
        place.parent.mkdir(exist_ok=True)
        place.write_text("\n---\n".join(json.dumps(obj) for obj in objects))
