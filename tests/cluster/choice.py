# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way leads to a cluster, and to each program: decided from facts that others have read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

GIVEN = "given"
KIND = "kind"
PROCESSES = "processes"
LONGEST = "kube-apiserver"
"""The program whose build takes most of the time."""


@dataclass(frozen=True)
class Facts:
    """What the choice of a cluster depends on.

    Attributes:
        argument: KUBECONFIG as an argument of make; empty without one.
        exported: KUBECONFIG as an exported variable that names another cluster; empty without one.
        lacking: the programs of a control plane that this machine doesn't have.
        why_no_kind: why kind isn't at hand; empty if it is.
    """

    argument: str = ""
    exported: str = ""
    lacking: Sequence[str] = ()
    why_no_kind: str = ""


@dataclass(frozen=True)
class Way:
    """A way to a cluster, and a line of why."""

    name: str
    why: str


def ways(facts: Facts) -> list[Way]:
    """Return the ways to a cluster, the shortest first."""
    possible = []
    if facts.argument:
        why = "it is an argument of make."
        possible.append(Way(GIVEN, f"Using the cluster of KUBECONFIG={facts.argument}: {why}"))
    if not facts.lacking:
        possible.append(
            Way(PROCESSES, "Using a Kubernetes of plain processes: this machine has its programs.")
        )
        return possible
    missing = ", ".join(facts.lacking)
    if not facts.why_no_kind:
        why = f"there is no {missing} here, but an engine that has kind's node image."
        possible.append(Way(KIND, f"Using kind: {why}"))
    no_kind = f" and {facts.why_no_kind}" if facts.why_no_kind else ""
    why = f"there is no {missing} here{no_kind}."
    possible.append(Way(PROCESSES, f"Getting the programs of a Kubernetes of plain processes: {why}"))
    return possible


def exported_line(facts: Facts) -> str:
    """Return a line on an exported KUBECONFIG, which isn't used; nothing without one."""
    if not facts.exported or facts.argument:
        return ""
    return (
        f"The exported KUBECONFIG={facts.exported} is not used. To use its cluster, make it an argument of "
        f"make: KUBECONFIG={facts.exported}"
    )


@dataclass(frozen=True)
class Sources:
    """Where each program comes from, and the lines that say so."""

    installed: Mapping[str, Path] = field(default_factory=dict)
    downloads: Sequence[str] = ()
    builds: Sequence[str] = ()
    lines: Sequence[str] = ()


def sources(missing: Iterable[str], installed: Mapping[str, Path], refusals: Mapping[str, str]) -> Sources:
    """Choose for each missing program: one of this machine, an official one, or one built from source.

    Args:
        missing: the programs that aren't in `.build`.
        installed: those of this machine that have the right version.
        refusals: for the others, why a download is impossible; an empty text where it is possible.
    """
    rest = [name for name in missing if name not in installed]
    downloads = [name for name in rest if not refusals[name]]
    builds = [name for name in rest if refusals[name]]
    lines = [f"Using {program}: it has the right version." for program in installed.values()]
    if downloads:
        lines.append(f"Downloading {', '.join(downloads)}: this machine doesn't have the right version.")
    if builds:
        lines.append(_build_line(builds, bool(downloads), [refusals[name] for name in builds]))
    return Sources(installed, downloads, builds, lines)


def _build_line(builds: Sequence[str], others_are_downloaded: bool, reasons: Iterable[str]) -> str:
    which = f" of {', '.join(builds)}" if others_are_downloaded else ""
    minutes = ", 5 to 10 minutes on two cores" if LONGEST in builds else ""
    why = "; ".join(dict.fromkeys(reasons))
    return f"No download{which} is possible: building from source{minutes}. The reason: {why}."
