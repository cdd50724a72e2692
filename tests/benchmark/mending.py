# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that users of other tools would have to make in Kyma's manifests, as these tools fail on them.

In Kyma 2.9, a Deployment names an environment variable twice. ServiceMonitors have a field that their schema
lacks. ClusterRoles that a controller fills have `rules: []`. Dashboards have characters that the Python
client sends as JSON's surrogate pairs, which the server refuses in an apply.
"""

from __future__ import annotations

import re
from typing import Any

from tests.support.manifests import Object

BEYOND_FIRST_PLANE = re.compile("[\U00010000-\U0010ffff]")


def mended(original: Object) -> Object:
    """Return a copy that every server-side apply accepts, the first time and later."""
    made: Object = _with_plain_text(original)
    spec = made.get("spec") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    for container in pod.get("containers") or ():
        if container.get("env"):
            container["env"] = _last_of_each_name(container["env"])
    if made["kind"] == "ServiceMonitor":
        spec.pop("path", None)
    if "aggregationRule" in made:
        made.pop("rules", None)
    return made


def _with_plain_text(value: Any) -> Any:
    """Return a deep copy with a question mark for each character beyond Unicode's first plane."""
    if isinstance(value, dict):
        return {key: _with_plain_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_plain_text(one) for one in value]
    if isinstance(value, str):
        return BEYOND_FIRST_PLANE.sub("?", value)
    return value


def _last_of_each_name(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({entry["name"]: entry for entry in entries}.values())
