# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters of a report as a document of JUnit: pure.

A cluster is a suite, with a case for the cluster and one for each of its components.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...module_utils._runs.cluster_state import (
    HELD,
    PLANNED,
    RUNNING,
    UNCHANGED,
    UNREACHABLE,
    WAITING,
)
from ...module_utils._runs.hop_lines import describe_way
from ...module_utils._runs.outcomes import NOT_STARTED, SUCCEEDED
from .model import ClusterReport, RolloutReport

RESULTS = {
    **dict.fromkeys((SUCCEEDED, UNCHANGED, PLANNED, RUNNING), ""),
    **dict.fromkeys((HELD, WAITING, NOT_STARTED), "skipped"),
    UNREACHABLE: "error",
}
"""The result of a case by its state; empty if it passed. All other states are failures."""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that a document can't have."""


@dataclass(frozen=True)
class Case:
    """A case: its name, its state, the reason for it, and its seconds."""

    name: str
    state: str
    reason: str
    seconds: float

    @property
    def result(self) -> str:
        """The element for its result; empty if it passed."""
        return RESULTS.get(self.state, "failure")


def render_junit(clusters: Sequence[ClusterReport], title: str, rollout: RolloutReport | None = None) -> str:
    """The document.

    Args:
        clusters: of the report.
        title: the name of all suites together.
        rollout: None without rings.
    """
    ring_of = rollout.ring_of if rollout else {}
    cases = {cluster.name: list(_cases(cluster)) for cluster in clusters}
    root = _element(None, "testsuites", name=title, **_sums(case for own in cases.values() for case in own))
    for cluster in clusters:
        own = cases[cluster.name]
        started = next((run.started_at for run in cluster.runs if run.started_at), "")
        moment = {"timestamp": started} if started else {}
        suite = _element(
            root, "testsuite", name=cluster.name, time=f"{cluster.seconds:.3f}", **moment, **_sums(own)
        )
        properties = SubElement(suite, "properties")
        way = describe_way(cluster.end)
        for name, value in (
            ("state", cluster.state),
            ("from", cluster.end.previous),
            ("to", cluster.end.version),
            *([("ring", ring_of[cluster.name])] if cluster.name in ring_of else ()),
            *([("hops", "\n".join(way))] if way else ()),
        ):
            _element(properties, "property", name=name, value=value)
        for case in own:
            known = {"name": case.name, "classname": cluster.name, "time": f"{case.seconds:.3f}"}
            testcase = _element(suite, "testcase", **known)
            if case.result:
                message = f"{case.state}: {case.reason}" if case.reason else case.state
                _element(
                    testcase, case.result, message=message.splitlines()[0], type=case.state
                ).text = _plain(message)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _cases(cluster: ClusterReport) -> Iterator[Case]:
    yield Case("cluster", cluster.state, cluster.end.reason, cluster.seconds)
    # With releases on the way, the last result of a component counts.
    components = {one.name: one for run in cluster.runs for one in run.components}
    for one in components.values():
        yield Case(f"{one.owner_kind} {one.name}", one.state, one.error, one.seconds)


def _sums(cases: Iterable[Case]) -> dict[str, str]:
    results = [case.result for case in cases]
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(results)), **{key: str(results.count(kind)) for key, kind in kinds.items()}}


def _element(parent: Element | None, tag: str, **attributes: str) -> Element:
    plain = {key: _plain(value) for key, value in attributes.items()}
    return Element(tag, plain) if parent is None else SubElement(parent, tag, plain)


def _plain(text: str) -> str:
    return _NO_XML.sub("", text)
