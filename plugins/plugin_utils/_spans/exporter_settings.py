# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ``OTEL_…`` variables that decide whether spans are sent: pure, without the OpenTelemetry libraries."""

from __future__ import annotations

from collections.abc import Mapping

TRACES_ENDPOINT, ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES_PROTOCOL, PROTOCOL = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"
SUPPORTED_PROTOCOL = "http/protobuf"


def endpoint_variable(environ: Mapping[str, str]) -> str:
    """The name of the variable with the collector; empty if no spans are wanted.

    Args:
        environ: the environment of the playbook.
    """
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    exporters = environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    if "otlp" not in [one.strip() for one in exporters.split(",")]:
        return ""
    return next((name for name in (TRACES_ENDPOINT, ENDPOINT) if environ.get(name, "").strip()), "")


def protocol_problem(environ: Mapping[str, str]) -> str:
    """The reason why the protocol of the environment can't send spans; empty if it can."""
    name = TRACES_PROTOCOL if environ.get(TRACES_PROTOCOL) else PROTOCOL
    protocol = environ.get(name, "").strip()
    if protocol in ("", SUPPORTED_PROTOCOL):
        return ""
    return (
        f"{name} is {protocol}, and this callback sends by {SUPPORTED_PROTOCOL} only. Set"
        f" {TRACES_PROTOCOL}={SUPPORTED_PROTOCOL}, and {TRACES_ENDPOINT} to the collector's URL for it,"
        " such as http://collector:4318/v1/traces"
    )
