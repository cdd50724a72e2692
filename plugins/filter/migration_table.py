# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter kyma.lifecycle.migration_table."""

from __future__ import annotations

DOCUMENTATION = r"""
name: migration_table
short_description: Formats the migrations of several clusters as a table
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Formats the results of M(kyma.lifecycle.migration_info) of several clusters as one table. At its end it
    lists the clusters that still need each migration.
  - A cluster that did not answer is listed, because its needs are unknown.
options:
  _input:
    description:
      - The result of the task of each cluster, or its failure, by the name of the cluster.
    type: dict
    required: true
seealso:
  - module: kyma.lifecycle.migration_info
"""

EXAMPLES = r"""
- name: Show the migrations of all clusters
  run_once: true
  vars:
    names: "{{ ansible_play_hosts_all }}"
    told: "{{ names | map('extract', hostvars, 'found') }}"
  ansible.builtin.debug:
    msg: "{{ dict(names | zip(told)) | kyma.lifecycle.migration_table }}"
"""

RETURN = r"""
_value:
  description: The lines of the table.
  type: list
  elements: str
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..module_utils._text import one_line

Result = Mapping[str, Any]

HEAD = ("migration", "removal", "cluster", "verdict", "last ran", "seconds", "undone", "why")
UNDONE = {"undone": "yes", "partly": "in part", "failed": "failed"}
LONGEST_REASON = 120
"""Characters of an evidence in the table."""


def migration_table(clusters: Mapping[str, Result]) -> list[str]:
    """See the documentation above.

    Args:
        clusters: results of ``migration_info`` by the cluster's name. Where the cluster could not be read,
            they are ``failed``, ``unreachable`` or without ``migrations``.
    """
    silent = {name: info for name, info in clusters.items() if not _has_answered(info)}
    entries = sorted(
        ((one, name) for name, info in clusters.items() if name not in silent for one in info["migrations"]),
        key=lambda pair: (pair[0]["id"], pair[1]),
    )
    rows = [HEAD, *(_row(one, name) for one, name in entries)]
    rows += [("?", "", name, "not known", "", "", "", _reason(info)) for name, info in silent.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [*(line.rstrip() for line in lines), "", *_ends(entries, list(silent))]


def _has_answered(result: Result) -> bool:
    return "migrations" in result and not result.get("failed") and not result.get("unreachable")


def _row(migration: Result, cluster: str) -> tuple[str, ...]:
    verdict = str(migration["verdict"] or "not known").replace("_", " ")
    seconds = f"{migration['last_seconds']:.1f}" if migration["last_run"] else ""
    removal = migration["remove_in"] or "stays"
    why = _short(str(migration["evidence"] or migration["error"]))
    ran = migration["last_run_at"] or "not recorded"
    return migration["id"], removal, cluster, verdict, ran, seconds, _undo_state(migration), why


def _undo_state(migration: Result) -> str:
    """How far the writes of a migration are undone; empty if no known run has written."""
    if not migration["last_run"]:
        return ""
    return UNDONE.get(migration["undone"]) or ("not all can be" if migration["irreversible"] else "no")


def _reason(result: Result) -> str:
    return _short(str(result.get("msg") or "it was not asked"))


def _short(text: str) -> str:
    return one_line(text, LONGEST_REASON)


def _ends(entries: Sequence[tuple[Result, str]], silent: Sequence[str]) -> Iterator[str]:
    """For each migration, which clusters still need it, so whether it may be removed."""
    for identity in dict.fromkeys(one["id"] for one, _cluster in entries):
        states = [(one, cluster) for one, cluster in entries if one["id"] == identity]
        needing = [cluster for one, cluster in states if one["verdict"] in ("needed", "blocked")]
        unknown = [*(cluster for one, cluster in states if not one["verdict"]), *silent]
        parts = [f"needed by {', '.join(needing)}"] if needing else []
        parts += [f"unknown for {', '.join(unknown)}"] if unknown else []
        yield f"{identity}: {'; '.join(parts) or 'no cluster needs it'}"


class FilterModule:
    """Provides the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file, by name."""
        return {"migration_table": migration_table}
