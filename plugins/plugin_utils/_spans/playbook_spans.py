# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spans of a playbook, from the results of its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from .playbook_trace import PlaybookTrace
from .result_collector import ResultCollector


class PlaybookSpans:
    """Collects the actions of a playbook on clusters, and sends them as a trace at the end.

    Args:
        environ: see :class:`~.playbook_trace.PlaybookTrace`.

    Raises:
        ImportError: Python lacks the OpenTelemetry libraries.
    """

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        self._trace = PlaybookTrace(environ)
        self._collector = ResultCollector()

    def name(self, playbook: str) -> None:
        """Name the span of the playbook."""
        self._trace.name(playbook)

    def add(
        self, cluster: str, result: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], ended: int
    ) -> None:
        """Add the result of a task; see :meth:`~.result_collector.ResultCollector.add`."""
        self._collector.add(cluster, result, rows, ended)

    def send(self, *, has_failed: bool) -> str:
        """Send all spans; return the error, or empty. See :meth:`~.playbook_trace.PlaybookTrace.send`."""
        return self._trace.send(self._collector.spans(), has_failed=has_failed)
