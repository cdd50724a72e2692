# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trace of a playbook: it begins with the playbook, and is sent to a collector at its end.

Only this file imports the OpenTelemetry libraries, which are optional. Import it only if spans are wanted,
because the import takes time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager

from ...module_utils._text import LONGEST_FOREIGN_ERROR, one_line
from .result_collector import ResultCollector
from .span_tree import Span

try:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None

SECONDS_TO_SEND = 5.0
"""Seconds that the end of a playbook waits for the collector at most."""
SPANS_PER_REQUEST = 512
SCOPE = "kyma.lifecycle"
SERVICE = "ansible"
"""The name of the service where the environment has none: the one of community.general's callback."""
CARRIERS = {"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE"}
"""Fields of the W3C Trace Context, by the environment variables that carry them."""


class PlaybookTrace:
    """The span of a playbook, and those below it.

    The trace is that of ``TRACEPARENT`` in the environment. Without one a new trace begins, and the span of
    the playbook becomes ``TRACEPARENT`` for all that read the environment later. These are callbacks that
    Ansible loads after this one, and programs that tasks start.

    Args:
        environ: the environment of the playbook.

    Attributes:
        results: of the playbook's tasks; its spans are below that of the playbook.

    Raises:
        ImportError: Python lacks the libraries.
    """

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        if _MISSING:
            raise _MISSING
        self.results = ResultCollector()
        self._finished = InMemorySpanExporter()
        # It neither registers itself nor starts a thread: Ansible forks its workers later.
        provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._finished))
        self._tracer = provider.get_tracer(SCOPE)
        propagator = TraceContextTextMapPropagator()
        given = {field: environ[name] for field, name in CARRIERS.items() if environ.get(name)}
        parent = propagator.extract(given)
        self._root = self._tracer.start_span("playbook", context=parent)
        if "traceparent" not in given:
            carrier: dict[str, str] = {}
            propagator.inject(carrier, trace.set_span_in_context(self._root))
            environ.update({CARRIERS[field]: value for field, value in carrier.items()})

    def name(self, playbook: str) -> None:
        """Name the span of the playbook."""
        self._root.update_name(f"playbook {playbook}")

    def send(self, *, has_failed: bool) -> str:
        """End the trace and send it; return the error, or empty.

        It returns within :data:`SECONDS_TO_SEND`, no matter what the collector does.

        Args:
            has_failed: whether the playbook has failed on a host.
        """
        for span in self.results.spans():
            self._add(span, self._root)
        if has_failed:
            self._root.set_status(
                trace.Status(trace.StatusCode.ERROR, "a host has failed or was unreachable")
            )
        self._root.end()
        return _send(self._finished.get_finished_spans())

    def _add(self, span: Span, parent: trace.Span) -> None:
        sdk_span = self._tracer.start_span(
            span.name, trace.set_span_in_context(parent), attributes=span.attributes, start_time=span.start
        )
        if span.has_failed:
            sdk_span.set_status(trace.Status(trace.StatusCode.ERROR, span.reason))
        for child in span.children:
            self._add(child, sdk_span)
        sdk_span.end(span.end)


def _resource() -> Resource:
    """The service as the environment describes it, with a name in any case."""
    # Resource.create() prefers its argument to the environment.
    named = OTELResourceDetector().detect().attributes.get(SERVICE_NAME)
    return Resource.create({SERVICE_NAME: named or SERVICE})


def _send(spans: Sequence[ReadableSpan]) -> str:
    """Send spans; return the error, or empty."""
    problems: list[str] = []
    sending = threading.Thread(target=_export, args=(spans, problems), daemon=True)
    with _logged_problems(problems):
        sending.start()
        # The exporter retries for too long, so its time is limited here.
        sending.join(SECONDS_TO_SEND)
    if sending.is_alive():
        problems.append(f"the collector has not answered within {SECONDS_TO_SEND:.0f} s")
    return one_line(problems[0], LONGEST_FOREIGN_ERROR) if problems else ""


def _export(spans: Sequence[ReadableSpan], problems: list[str]) -> None:
    try:
        exporter = OTLPSpanExporter(timeout=SECONDS_TO_SEND)
        for first in range(0, len(spans), SPANS_PER_REQUEST):
            if exporter.export(spans[first : first + SPANS_PER_REQUEST]) is not SpanExportResult.SUCCESS:
                problems.append("the collector has refused them")
                return
    except Exception as error:  # the library refuses a setting that it can't read, for one
        problems.append(f"{type(error).__name__}: {error}")


@contextmanager
def _logged_problems(problems: list[str]) -> Iterator[None]:
    """Collect the log of the exporter: it gives no other reason, and would print it."""
    logger = logging.getLogger(OTLPSpanExporter.__module__)
    handler = _ListHandler(problems)
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


class _ListHandler(logging.Handler):
    """Appends log messages to a list."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        """See Handler."""
        self._messages.append(record.getMessage())
