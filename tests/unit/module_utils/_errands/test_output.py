# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From files to Secrets: what is taken, what is refused, and that no message has anything of the content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    OutputFile,
    OutputSpec,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.output import (
    CONTAINER_LABEL,
    IRREGULAR,
    MISSING,
    MOST_PARTS,
    TOO_LARGE,
    TRUNCATED,
    UNREADABLE,
    OutputRefused,
    output_secrets,
    read_problem,
    termination_messages,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import from_record

VALUE = "geheim-4711"


def spec_of(**entry: Any) -> OutputSpec:
    """An output whose only file is output.json of the container main."""
    return from_record(OutputSpec, {"outputMap": {"main": {"output.json": {"name": "result", **entry}}}})


def secrets_of(content: bytes, **entry: Any) -> dict[str, dict[str, str]]:
    """The values of the Secrets that a content becomes, by name."""
    parts = output_secrets(spec_of(**entry), {("main", "output.json"): content}, "app")
    return {one.name: dict(one.data) for one in parts}


def test_a_file_becomes_a_secret() -> None:
    assert secrets_of(b'{"a": "1", "b.c-D_e": ""}') == {"result": {"a": "1", "b.c-D_e": ""}}


def test_each_value_of_a_fan_out_becomes_a_secret() -> None:
    values = {"a": '{"x": "1"}', "b": "{}"}
    secrets = secrets_of(json.dumps(values).encode(), persistenceMethod="fan-out")
    assert secrets == {"result-a": {"x": "1"}, "result-b": {}}
    assert list(secrets_of(b"{}", persistenceMethod="one-to-one")) == ["result"]


def test_labels_of_the_file_win_over_those_of_all_and_nothing_over_the_container() -> None:
    fields = {
        "secretLabels": {"a": "all", "b": "all", CONTAINER_LABEL: "all"},
        "outputMap": {
            "main": {
                "f": {
                    "name": "x",
                    "versioned": True,
                    "keep": 3,
                    "secretLabels": {"b": "file"},
                    "secretAnnotations": {"c": "d"},
                }
            }
        },
    }
    [one] = output_secrets(from_record(OutputSpec, fields), {("main", "f"): b"{}"}, "app")
    assert one.labels == {"a": "all", "b": "file", CONTAINER_LABEL: "main"}
    assert (one.annotations, one.is_versioned, one.keep) == ({"c": "d"}, True, 3)
    assert one.source == "Errand app, container main"


def test_the_text_of_a_secret_object_has_no_value() -> None:
    [one] = output_secrets(spec_of(), {("main", "output.json"): b'{"a": "geheim-4711"}'}, "app")
    assert VALUE not in repr(one)


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        (b"", {}),
        (b"geheim-4711", {}),
        (b'{"a": "geheim-4711"', {}),
        (b'{"a": "geheim-4711"} geheim-4711', {}),
        (b'\xff{"a": "geheim-4711"}', {}),
        (b'["geheim-4711"]', {}),
        (b'"geheim-4711"', {}),
        (b"null", {}),
        (b'{"geheim-4711": 1}', {}),
        (b'{"geheim-4711": null}', {}),
        (b'{"geheim-4711": {"a": "geheim-4711"}}', {}),
        (b'{"geheim-4711/": "a"}', {}),
        (b'{"": "geheim-4711"}', {}),
        (b'{"..geheim-4711": "a"}', {}),
        (b'{".": "geheim-4711"}', {}),
        (b'{"a": "geheim-4711 \\ud800"}', {}),
        (b"[" * 100_000, {}),
        (b'{"geheim-4711": "1", "b": "2", "geheim-4711": "3"}', {}),
        (b'{"geheim-4711": "1", "geheim\\u002d4711": "1"}', {}),
        (
            b'{"a": "{\\"geheim-4711\\": \\"1\\", \\"geheim-4711\\": \\"1\\"}"}',
            {"persistenceMethod": "fan-out"},
        ),
        (b'\xef\xbb\xbf{"a": "geheim-4711"}', {}),
        ('{"a": "geheim-4711"}'.encode("utf-16"), {}),
        ('{"a": "\ufeff{}"}'.encode(), {"persistenceMethod": "fan-out"}),
        (b'{"geheim-4711": "no JSON geheim-4711"}', {"persistenceMethod": "fan-out"}),
        (b'{"geheim-4711": "{\\"a\\": 1}"}', {"persistenceMethod": "fan-out"}),
        (b'{"GEHEIM-4711": "{}"}', {"persistenceMethod": "fan-out"}),
        (b'{"geheim-4711.": "{}"}', {"persistenceMethod": "fan-out"}),
        (b'{"a": "{}", "b": "\\ud800"}', {"persistenceMethod": "fan-out"}),
        (json.dumps({"a" * 240: "{}"}).encode(), {"persistenceMethod": "fan-out", "versioned": True}),
        (b'{"a": "{}", "geheim-4711-v2": "{}"}', {"persistenceMethod": "fan-out", "versioned": True}),
    ],
)
def test_content_that_makes_no_secret_is_refused_and_not_shown(content: bytes, entry: dict[str, Any]) -> None:
    with pytest.raises(OutputRefused) as refused:
        secrets_of(content, **entry)
    assert refused.value.reason == "OutputInvalid"
    text = repr(refused.value) + str(refused.value.__cause__)
    assert "geheim" not in text.lower()
    assert "4711" not in text
    assert "output.json of container main" in text
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_parts_that_would_become_one_secret_are_refused() -> None:
    files = {"a": {"name": "x", "persistenceMethod": "fan-out"}, "b": {"name": "x-geheim"}}
    spec = from_record(OutputSpec, {"outputMap": {"main": files}})
    contents = {("main", "a"): b'{"geheim": "{}"}', ("main", "b"): b"{}"}
    with pytest.raises(OutputRefused) as refused:
        output_secrets(spec, contents, "app")
    assert "geheim" not in str(refused.value)


def test_a_megabyte_of_values_is_taken_and_a_byte_more_refused() -> None:
    megabyte = 1024 * 1024
    assert len(secrets_of(json.dumps({"a": "x" * megabyte}).encode())["result"]["a"]) == megabyte
    with pytest.raises(OutputRefused) as refused:
        secrets_of(json.dumps({"a": "x" * megabyte, "b": "y"}).encode())
    assert refused.value.reason == TOO_LARGE


def test_a_fan_out_has_no_more_parts_than_a_status_can_name() -> None:
    values = {f"part-{number}": "{}" for number in range(MOST_PARTS + 1)}
    assert len(secrets_of(json.dumps(values).encode())["result"]) == MOST_PARTS + 1
    with pytest.raises(OutputRefused) as refused:
        secrets_of(json.dumps(values).encode(), persistenceMethod="fan-out")
    assert refused.value.reason == TOO_LARGE
    del values["part-0"]
    assert len(secrets_of(json.dumps(values).encode(), persistenceMethod="fan-out")) == MOST_PARTS


@pytest.mark.parametrize(
    ("code", "reason"),
    [(10, MISSING), (11, IRREGULAR), (12, TOO_LARGE), (13, UNREADABLE), (126, UNREADABLE)],
)
def test_an_exit_code_of_reading_has_a_reason(code: int, reason: str) -> None:
    problem = read_problem(OutputFile("main", "output.json", "result"), code)
    assert problem.reason == reason
    assert "file /mnt/quarks/output.json of container main" in str(problem)


def pod(message: str | None, *, containers: int = 1, init: int = 0) -> Object:
    """A pod whose container main has ended with a termination message."""
    ended = {"exitCode": 0} if message is None else {"exitCode": 0, "message": message}
    names = ["main", *(f"c{number}" for number in range(1, containers))]
    return {
        "spec": {
            "containers": [{"name": name} for name in names],
            "initContainers": [{"name": f"i{number}"} for number in range(init)],
        },
        "status": {"containerStatuses": [{"name": name, "state": {"terminated": ended}} for name in names]},
    }


@pytest.mark.parametrize(
    ("containers", "init", "limit"), [(1, 0, 4096), (3, 0, 4096), (4, 0, 3072), (2, 2, 3072), (1, 11, 1024)]
)
def test_a_termination_message_that_may_have_been_cut_is_refused(
    containers: int, init: int, limit: int
) -> None:
    whole = pod("x" * (limit - 1), containers=containers, init=init)
    assert len(termination_messages(spec_of(), whole)["main", "output.json"]) == limit - 1
    # The limit is one of bytes.
    for text in ("x" * limit, "ä" * (limit // 2)):
        with pytest.raises(OutputRefused) as refused:
            termination_messages(spec_of(), pod(text, containers=containers, init=init))
        assert refused.value.reason == TRUNCATED
        assert "xx" not in str(refused.value)


def test_a_missing_termination_message_is_refused() -> None:
    for message in (None, ""):
        with pytest.raises(OutputRefused) as refused:
            termination_messages(spec_of(), pod(message))
        assert refused.value.reason == MISSING


@pytest.mark.parametrize(
    ("content", "entry", "expected"),
    [
        (b'{"a": "1", "b": "2", "a": "1"}', {}, "container main: key 3 of it repeats an earlier one"),
        (
            b'{"a": "{\\"x\\": \\"1\\", \\"x\\": \\"2\\"}"}',
            {"persistenceMethod": "fan-out"},
            "value 1 of file output.json of container main: key 2 of it repeats an earlier one",
        ),
        (b'\xef\xbb\xbf{"a": "1"}', {}, "container main begins with a byte order mark"),
        ('{"a": "1"}'.encode("utf-16"), {}, "container main begins with a byte order mark"),
        ('\ufeff{"a": "1"}'.encode("utf-32-be"), {}, "container main begins with a byte order mark"),
    ],
)
def test_a_repeated_key_and_a_byte_order_mark_are_named(
    content: bytes, entry: dict[str, Any], expected: str
) -> None:
    with pytest.raises(OutputRefused, match=expected) as caught:
        secrets_of(content, **entry)
    assert caught.value.reason == "OutputInvalid"


def test_all_files_of_a_run_become_so_many_secrets_together() -> None:
    spec = from_record(
        OutputSpec,
        {
            "outputMap": {
                "main": {file: {"name": file, "persistenceMethod": "fan-out"} for file in ("a", "b")}
            }
        },
    )
    parts = json.dumps({f"k{number}": "{}" for number in range(MOST_PARTS // 2 + 1)}).encode()
    with pytest.raises(OutputRefused, match="would become 1002 Secrets"):
        output_secrets(spec, {("main", "a"): parts, ("main", "b"): parts}, "app")
