# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever follows the guide for authors gets what the guide says, step by step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loader import load_folders
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    Disproved,
    assert_migration,
)

from tests.cluster.paths import ROOT
from tests.support.others_collection import EXAMPLE, collections_path, pytest_in

GUIDE = (ROOT / "docs" / "guide_migrations.md").read_text()
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
OUTPUTS = [
    block
    for block in re.findall(r"^```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    if block not in FILES.values()
]
MIGRATION = "plugins/module_utils/kyma_migrations/checkout.py"


@pytest.mark.parametrize("word", ["identify", "when", "execute", "deprecate"])
def test_the_table_for_users_of_the_job_manager_has_its_terms(word: str) -> None:
    table = GUIDE.partition("## For those who know the job manager")[2]
    assert re.search(rf"^\| `{word}\b", table, re.MULTILINE)


def write(collection: Path, *names: str) -> None:
    for name in names:
        place = collection / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(FILES[name])


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """All that the guide has of files, but the migration."""
    path = collections_path(tmp_path, example=False)
    write(path, *(name for name in FILES if name != MIGRATION))
    return path


def test_the_example_is_what_the_guide_says() -> None:
    assert len(FILES) == 7
    for name, text in FILES.items():
        content = (EXAMPLE / name).read_text()
        shown = re.sub(r"\A(# .*\n){3}(?=\"\"\")|\A---\n", "", content)
        assert shown == text, name


def test_without_the_migration_its_test_fails(collection: Path) -> None:
    done = pytest_in(collection)
    assert done.returncode != 0
    assert "No module named 'ansible_collections.acme.platform.plugins" in done.stdout


def test_with_the_migration_its_tests_pass(collection: Path) -> None:
    write(collection, MIGRATION)
    done = pytest_in(collection)
    assert done.returncode == 0, done.stdout
    assert "4 passed, 1 skipped" in done.stdout


def test_the_guide_quotes_the_output_for_halves_in_the_wrong_order(collection: Path) -> None:
    write(collection, MIGRATION)
    text = FILES[MIGRATION]
    first = text[text.index('        metadata = {"name": SECRET') : text.index("        # Last, as it is")]
    second = text[text.index("        # Last, as it is") : text.index("        ctx.log.info")]
    assert "apply" in first
    assert "patch" in second
    (collection / MIGRATION).write_text(text.replace(first + second, second + first))
    done = pytest_in(collection)
    assert done.returncode == 1
    _says(done.stdout, OUTPUTS[0])


def test_the_guide_quotes_the_output_for_an_overdue_migration(collection: Path) -> None:
    write(collection, MIGRATION)
    declared = collection / "meta" / "kyma.yml"
    declared.write_text(declared.read_text().replace("1.0", "1.2"))
    done = pytest_in(collection)
    assert done.returncode == 1
    _says(done.stdout, OUTPUTS[1])


def _says(printed: str, expected: str) -> None:
    for line in expected.splitlines():
        assert line.strip() in printed


def test_the_other_snippets_of_python_run() -> None:
    for snippet in _snippets():
        if snippet not in FILES.values():
            run: dict[str, Any] = {}
            exec(compile(snippet, "guide_migrations.md", "exec"), run)
            for name in [name for name in run if name.startswith("test_")]:
                run[name]()


def test_the_reaction_is_what_lets_the_job_complete() -> None:
    snippet = next(one for one in _snippets() if "completes_jobs" in one)
    lonely: dict[str, Any] = {}
    exec(compile(snippet.replace("reactions=[completes_jobs]", "reactions=[]"), "guide", "exec"), lonely)
    with pytest.raises(Disproved, match="let the test's `reactions` do what a controller does"):
        lonely["test_a_job_indexes_the_catalogue"]()


def _snippets() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_shared_migration_of_the_guide_loads_and_is_proven(tmp_path: Path) -> None:
    files = re.findall(
        r"in `kyma_migrations/(\w+\.py)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL
    )
    for name, text in files:
        (tmp_path / name).write_text(text)
    loaded = load_folders([MigrationFolder("yours", str(tmp_path))])
    assert (loaded.problems, [one.id() for one in loaded.migrations]) == ((), ["shop/drops-color"])
    meta = {"name": "settings", "namespace": "shop"}
    before = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta,
        "data": {"color": "red", "size": "4"},
    }
    assert_migration(loaded.migrations[0], [before], [{**before, "data": {"size": "4"}}])


def test_every_proof_and_every_option_is_in_the_guide() -> None:
    from dataclasses import fields

    from ansible_collections.kyma.lifecycle.plugins.plugin_utils import migration_testing
    from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs import PROOFS

    for proof in PROOFS:
        assert f"| {proof.name.replace('`', '')} |" in GUIDE.replace("`", "")
    options = [one.name for one in fields(migration_testing.Case) if one.init][3:]
    assert "stays" in options
    assert [name for name in options if f"`{name}`" not in GUIDE] == []
    for name in migration_testing.__all__:
        if name.startswith("assert_"):
            assert f"`{name}(" in GUIDE
