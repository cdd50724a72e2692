# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.registry import (
    MigrationFolder,
    collect,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.kept_plan import (
    BadPlan,
    code_digest,
    names_of,
    not_given_again,
    read_plan,
    write_plan,
)

PARAMS: dict[str, Any] = {
    "release": "/releases/2.9",
    "profile": None,
    "overrides": ["logging.password=secret-word"],
    "components": [],
}
RESULT: dict[str, Any] = {
    "plan": {"version": "2.9", "noted": {"logging": []}},
    "summary": ["Kyma 2.9:"],
    "saw": {"records": "/"},
}


def test_it_is_read_as_it_was_written_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    digest = write_plan(file, PARAMS, RESULT)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    kept = read_plan(file, digest)
    assert kept["digest"] == digest
    assert kept["asked"] == {"release": "/releases/2.9"}
    assert kept["plan"] == {"version": "2.9"}
    assert kept["saw"] == RESULT["saw"]
    assert "secret-word" not in file.read_text()
    assert read_plan(file, "") == read_plan(file, digest.removeprefix("sha256:"))


def test_what_has_to_be_given_again_is_told_by_name_and_no_value_is_kept(tmp_path: Path) -> None:
    written = {
        **PARAMS,
        "values_files": ["values/all.yaml", "/etc/live.yaml"],
        "migration_variables": {"colour": "secret-word"},
    }
    file = tmp_path / "plan.json"
    write_plan(file, PARAMS, RESULT, names_of(written))
    assert "secret-word" not in file.read_text()
    again = read_plan(file, "")["again"]
    assert not_given_again(again, names_of({**written, "values_files": ["all.yaml", "live.yaml"]})) == []
    assert not_given_again(again, names_of({**PARAMS, "values_files": ["all.yaml", "other.yaml"]})) == [
        "kyma_values_files: the plan was made with live.yaml: give that again",
        "kyma_values_files: the plan was made without other.yaml: leave that out, or plan again",
        "kyma_migration_variables: the plan was made with colour: give that again",
    ]
    assert not_given_again(again, {}) == [
        "kyma_values_files: the plan was made with all.yaml, live.yaml: give that again",
        "kyma_overrides: the plan was made with logging.password: give that again",
        "kyma_migration_variables: the plan was made with colour: give that again",
    ]


def test_an_older_plan_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("old")
    file.chmod(0o644)
    write_plan(file, PARAMS, RESULT)
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_plan(file, "")


def test_another_one_than_was_approved_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, PARAMS, RESULT)
    with pytest.raises(BadPlan, match="was approved"):
        read_plan(file, "sha256:" + 64 * "0")


def test_one_that_was_edited_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, PARAMS, RESULT)
    file.write_text(json.dumps({**json.loads(file.read_text()), "summary": ["all is well"]}))
    with pytest.raises(BadPlan, match="was changed since"):
        read_plan(file, "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"apiVersion": "v1", "kind": "Plan"}'])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(BadPlan, match=r"plan\.json"):
        read_plan(file, "")


def test_a_place_where_none_can_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadPlan, match=r"plan_out: the plan can't be written to .*: No such file"):
        write_plan(tmp_path / "nowhere" / "plan.json", PARAMS, RESULT)


def test_code_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    for name, text in (("one", "A = 1"), ("same", "A = 1"), ("other", "A = 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "migration.py").write_text(text)

    def digest(name: str) -> str:
        return code_digest(collect([MigrationFolder("playbook", str(tmp_path / name))]).content)

    assert digest("one") == digest("same")
    assert digest("one") != digest("other")
