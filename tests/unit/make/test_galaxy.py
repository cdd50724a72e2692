# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The step `galaxy` demands the documentation of all that can have one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.make.content import tracked_files
from tests.make.galaxy import contents_of, documented

DOC = {"short_description": "Deploys", "description": ["It deploys."]}
COMPLETE = {"doc": DOC, "examples": "- x:", "return": [{"name": "changed"}]}


def content(kind: str, strings: Any = None, readme: str | None = None) -> dict[str, Any]:
    return {"content_type": kind, "content_name": "one", "doc_strings": strings, "readme_html": readme}


def test_all_modules_plugins_and_roles_of_the_collection_count() -> None:
    every = contents_of(ROOT)
    parts = [path.parts for path in tracked_files()]
    modules = {Path(one[2]).stem for one in parts if one[:2] == ("plugins", "modules")}
    assert {name for kind, name in every if kind == "module"} == modules
    assert {name for kind, name in every if kind == "role"} == {one[1] for one in parts if one[0] == "roles"}
    others = {one for one in every if one[0] not in ("module", "role")}
    assert others == {
        ("callback", "durations"),
        ("filter", "migration_table"),
        ("eda/plugins/event_source", "errands"),
    }


def test_a_plugin_of_a_new_type_counts(tmp_path: Path) -> None:
    for name in ("lookup/cluster.py", "lookup/__init__.py", "plugin_utils/text.py"):
        (tmp_path / "plugins" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plugins" / name).touch()
    (tmp_path / "roles").mkdir()
    assert contents_of(tmp_path) == {("lookup", "cluster")}


@pytest.mark.parametrize(
    ("one", "is_documented"),
    [
        (content("module", COMPLETE), True),
        (content("module"), False),
        (content("module", {}), False),
        (content("module", {**COMPLETE, "doc": {**DOC, "description": []}}), False),
        (content("module", {**COMPLETE, "examples": None}), False),
        (content("module", {**COMPLETE, "return": None}), False),
        (content("callback", {"doc": DOC, "examples": None, "return": None}), True),
        (content("callback", {"doc": None}), False),
        (content("role", readme="<h1>x</h1>"), True),
        (content("role", readme=""), False),
    ],
)
def test_content_without_one_of_its_parts_has_no_documentation(
    one: dict[str, Any], is_documented: bool
) -> None:
    result = {"docs_blob": {"contents": [one]}}
    assert documented(result) == ({(one["content_type"], "one")} if is_documented else set())
