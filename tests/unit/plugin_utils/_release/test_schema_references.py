# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No schema of a chart's values has Helm read a file or a URL outside of it."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.schema_references import (
    foreign_schema_references,
)

from tests.unit.conftest import Write

CHART = "apiVersion: v2\nname: {name}\nversion: 0.1.0\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
FILES = {
    "components.yaml": "components:\n- name: a\n",
    "a/Chart.yaml": CHART.format(name="a"),
    "a/values.yaml": "a: 1\n",
    "a/templates/c.yaml": CONFIG_MAP,
}
SECRET = {"properties": {"a": {"const": "a-secret-of-the-user"}}}


def packed(files: dict[str, bytes]) -> bytes:
    """A gzipped archive of these files."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return archive.getvalue()


def subchart(schema: Any, name: str = "values.schema.json", **more: bytes) -> bytes:
    """An archive of a chart with a schema."""
    return packed(
        {"s/Chart.yaml": CHART.format(name="s").encode(), f"s/{name}": json.dumps(schema).encode(), **more}
    )


@pytest.fixture
def secret(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a file of the user."""
    file = tmp_path_factory.mktemp("home") / "secret.json"
    file.write_text(json.dumps(SECRET))
    return file.as_uri()


def refusal(root: Path, helm: str) -> str:
    with pytest.raises(ReleaseError) as caught:
        load_release(ReleaseRequest(str(root), version="2.9", helm_binary=helm))
    return str(caught.value)


def test_a_schema_that_names_a_file_of_the_user_is_refused(write: Write, helm: str, secret: str) -> None:
    root = write({**FILES, "a/values.schema.json": json.dumps({"$ref": secret})})
    message = refusal(root, helm)
    assert f"{secret!r} is not in the schema: add a copy of it" in message
    assert "a-secret-of-the-user" not in message


@pytest.mark.parametrize("name", ["values.schema.json", "x/../values.schema.json"])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_schema_in_a_packed_subchart_is_refused_too(
    write: Write, helm: str, secret: str, levels: int, name: str
) -> None:
    archive = subchart({"$ref": secret}, name)
    if levels == 2:
        archive = subchart({}, **{"s/charts/inner-1.tgz": archive})
    root = write(FILES)
    (root / "a" / "charts").mkdir()
    (root / "a" / "charts" / "s-1.tgz").write_bytes(archive)
    message = refusal(root, helm)
    assert "a/charts/s-1.tgz" in message
    assert "is not in the schema" in message


def test_references_in_the_schema_itself_stay(write: Write, helm: str) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/count"}, "$ref": {"type": "string"}},
        "definitions": {"count": {"type": "integer"}},
    }
    root = write({**FILES, "a/values.schema.json": json.dumps(schema)})
    release = load_release(ReleaseRequest(str(root), version="2.9", helm_binary=helm))
    assert [obj["kind"] for obj in release.content["a"].objects] == ["ConfigMap"]
    (root / "a" / "values.yaml").write_text("a: text\n")
    assert "/a" in refusal(root, helm)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "other.json"},
        {"$schema": "https://example.com/schema"},
        {"anyOf": [{"not": {"$dynamicRef": "https://example.com/#x"}}]},
        {"$ref": "HTTP://example.com"},
        {"$ref": ""},
    ],
)
def test_each_form_of_a_reference_is_seen(tmp_path: Path, schema: Any) -> None:
    (tmp_path / "values.schema.json").write_text(json.dumps(schema))
    assert len(foreign_schema_references(tmp_path, tmp_path, "a", Limits())) == (schema != {"$ref": ""})


def test_a_login_in_a_reference_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "values.schema.json").write_text(
        '{"$ref": "https://user:pass-word@example.com/s?token=t0k3n"}'
    )
    [problem] = foreign_schema_references(tmp_path, tmp_path, "a", Limits())
    assert "'https://example.com/s'" in str(problem)


def test_an_archive_that_can_not_be_searched_is_a_problem(tmp_path: Path) -> None:
    archive = b""
    for _level in range(10):
        archive = packed({"s/charts/s.tgz": archive})
    (tmp_path / "deep.tgz").write_bytes(archive)
    (tmp_path / "broken.tgz").write_bytes(b"no archive")
    (tmp_path / "large.tgz").write_bytes(packed({"s/values.schema.json": bytes(6 * 1024 * 1024)}))
    problems = [str(one) for one in foreign_schema_references(tmp_path, tmp_path, "a", Limits())]
    assert len(problems) == 3
    assert "levels" in problems[1]
    assert "5 MB" in problems[2]
