# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a collection with migrations: its tests pass for its author, and fail when they have to."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loader import load_folders
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
)

from tests.support.others_collection import EXAMPLE, collections_path, pytest_in


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return collections_path(tmp_path)


def test_tests_of_the_example_pass_in_memory(collection: Path) -> None:
    done = pytest_in(collection)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed, 1 skipped" in done.stdout
    assert "name one by KYMA_TEST_KUBECONFIG, or --kyma-kubeconfig=PATH" in done.stdout


@pytest.mark.cluster
def test_tests_of_the_example_pass_on_a_real_api_server(collection: Path, kubeconfig: str) -> None:
    done = pytest_in(collection, variables={"KYMA_TEST_KUBECONFIG": kubeconfig})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_the_option_names_the_cluster_too(collection: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = pytest_in(collection, f"--kyma-kubeconfig={nowhere}")
    assert done.returncode == 1
    assert "4 passed, 1 error" in done.stdout
    assert f"there is no kubeconfig at {nowhere}: see KYMA_TEST_KUBECONFIG, or --kyma-kub" in done.stdout


def test_tests_of_the_example_fail_for_an_overdue_migration(collection: Path) -> None:
    (collection / "meta" / "kyma.yml").write_text("newest_supported_release: '1.2'\n")
    done = pytest_in(collection)
    assert done.returncode == 1
    assert "remove me: checkout/password-in-secret, remove_in 1.2, the collection supports 1.2" in done.stdout


def test_tests_of_the_example_fail_for_a_migration_that_cannot_be_loaded(collection: Path) -> None:
    folder = collection / "plugins" / "module_utils" / "kyma_migrations"
    (folder / "broken.py").write_text("class Broken(\n")
    done = pytest_in(collection)
    assert done.returncode == 1
    assert f"{folder}/broken.py:1: '(' was never closed" in done.stdout


def test_the_migration_of_the_example_is_loaded_from_its_folder() -> None:
    folder = EXAMPLE / "plugins" / "module_utils" / "kyma_migrations"
    loaded = load_folders([MigrationFolder("acme.platform", str(folder))])
    assert loaded.problems == ()
    assert [one.id() for one in loaded.migrations] == ["checkout/password-in-secret"]
