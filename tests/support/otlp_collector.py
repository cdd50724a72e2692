# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A collector of OpenTelemetry spans for tests: OTLP over HTTP, as protobuf."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ERROR = 2
"""Status code of a span (opentelemetry.proto.trace.v1.Status)."""


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as a collector gets it.

    Attributes:
        trace, id, parent: in hex; no parent is empty.
        start, end: nanoseconds since the epoch.
        error: description of the status ERROR; None for another status.
        resource: attributes of the sender.
    """

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: Mapping[str, str]
    error: str | None
    resource: Mapping[str, str]


@dataclass
class Collector:
    """The data that a collector has received.

    Attributes:
        endpoint: its URL, for OTEL_EXPORTER_OTLP_ENDPOINT.
        headers: of each request, with names in lower case.
        status: HTTP status that it answers with.
        delay: seconds until it answers.
    """

    endpoint: str = ""
    spans: list[ReceivedSpan] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    status: int = 200
    delay: float = 0.0

    def by_name(self) -> dict[str, ReceivedSpan]:
        """The spans by name, each of which occurs once."""
        spans = {span.name: span for span in self.spans}
        assert len(spans) == len(self.spans), [span.name for span in self.spans]
        return spans


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Run a collector on a free port."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(collector.delay)
            if self.path == "/v1/traces" and collector.status == 200:
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                collector.spans.extend(_spans_in(body))
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.endpoint = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield collector
        finally:
            server.shutdown()


def _spans_in(body: bytes) -> Iterator[ReceivedSpan]:
    for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = {one.key: one.value.string_value for one in sent.resource.attributes}
        for span in (span for scope in sent.scope_spans for span in scope.spans):
            yield ReceivedSpan(
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.name,
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                {one.key: one.value.string_value for one in span.attributes},
                span.status.message if span.status.code == ERROR else None,
                resource,
            )
