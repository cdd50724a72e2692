# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of tests depend on ansible-core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT
from tests.make.ansible_tests import select, select_for_versions

PLUGINS = "ansible_collections.kyma.lifecycle.plugins"
Depends = Callable[[Mapping[str, str]], list[str]]


@pytest.fixture
def dependents(tmp_path: Path) -> Depends:
    """Write files, and return which of the tests depend on ansible-core."""

    def write(files: Mapping[str, str]) -> list[str]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return select(["tests/unit"], tmp_path)[0]

    return write


@pytest.mark.parametrize(
    "text",
    [
        "import ansible.release",
        "from ansible.plugins.action import ActionBase",
        "def test() -> None:\n    import ansible",
        "RUN = ['ansible-playbook', 'book.yml']",
        f"from {PLUGINS}.module_utils.runner import run",
        f"from {PLUGINS}.module_utils import runner",
        f"NAME = '{PLUGINS}.module_utils.runner'",
        f"PLUGINS = '{PLUGINS}'\nNAME = f'{{PLUGINS}}.module_utils.{{1}}'",
        f"CODE = 'import sys\\nfrom {PLUGINS}.module_utils.outer import x\\n'",
        "CODE = 'import sys\\nfrom ansible.utils import display\\n'",
        "from ..support import helper",
        "from tests.support.helper import play",
        f"from {PLUGINS}.module_utils.outer import all_of_it",
    ],
)
def test_one_that_depends_on_it(dependents: Depends, text: str) -> None:
    files = {
        "tests/unit/test_it.py": text,
        "tests/unit/test_other.py": f"from {PLUGINS}.module_utils.plain import walk",
        "tests/support/helper.py": "PROGRAM = 'ansible-playbook'",
        "plugins/module_utils/runner.py": "from ansible.module_utils.basic import AnsibleModule",
        "plugins/module_utils/outer.py": "from .runner import run",
        "plugins/module_utils/plain.py": "import os",
    }
    assert dependents(files) == ["tests/unit/test_it.py"]


@pytest.mark.parametrize(
    "text",
    ["import os", "import ansible_runner", "'ansible.release'", "from tests.make.checks import lint"],
)
def test_one_that_does_not(dependents: Depends, text: str) -> None:
    lint = {"tests/make/checks.py": "PROGRAM = 'ansible-playbook'"}
    assert dependents({"tests/unit/test_it.py": text, **lint}) == []


def test_a_conftest_counts_for_all_below_it(dependents: Depends) -> None:
    files = {
        "tests/unit/plays/conftest.py": "import ansible",
        "tests/unit/plays/test_in.py": "",
        "tests/unit/test_out.py": "",
    }
    assert dependents(files) == ["tests/unit/plays/test_in.py"]


LAYERS = {
    "plugins/module_utils/reader.py": "import yaml",
    "plugins/module_utils/private.py": "import urllib3",
    "plugins/module_utils/sender.py": "from .private import pool",
    "plugins/module_utils/decision.py": "from .reader import read\nfrom .sender import send",
    "tests/support/server.py": f"from {PLUGINS}.module_utils.sender import send",
    "tests/unit/test_reader.py": f"from {PLUGINS}.module_utils.reader import read",
    "tests/unit/test_sender.py": f"from {PLUGINS}.module_utils.sender import send",
}


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("import packaging.version", False),
        (f"from {PLUGINS}.module_utils.reader import read", True),
        (f"from {PLUGINS}.module_utils.sender import send", True),
        ("from tests.support.server import serve", True),
        (f"from {PLUGINS}.module_utils.decision import decide", False),
        ("import os", False),
    ],
    ids=["library", "module", "module behind it", "helper", "module with tests between", "none"],
)
def test_tests_that_import_a_module_run_on_the_lowest_versions(
    tmp_path: Path, text: str, stays: bool
) -> None:
    for name, content in {
        **LAYERS,
        "tests/conftest.py": "import yaml",
        "tests/unit/test_it.py": text,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    others = ["tests/unit/test_reader.py", "tests/unit/test_sender.py"]
    expected = [*(["tests/unit/test_it.py"] if stays else []), *others]
    assert select_for_versions(["tests/unit"], tmp_path) == expected


@pytest.fixture(scope="module")
def ours() -> tuple[list[str], list[str]]:
    """Our own files of tests: those that depend on ansible-core, and the others."""
    return select(["tests/unit"])


@pytest.mark.night
def test_less_than_a_third_of_ours_runs_on_the_lowest_versions(
    ours: tuple[list[str], list[str]],
) -> None:
    files = select_for_versions(["tests/unit"])
    depend, others = ours
    assert len({*files} & {*depend}) > 50
    assert 3 * len(files) < len(depend) + len(others)
    assert not any(file.startswith("tests/unit/docs/") for file in files)
    assert "tests/unit/module_utils/_cluster/http/test_connection.py" in files
    assert "tests/unit/module_utils/_deploy/desired/test_release_versions.py" in files


@pytest.mark.night
def test_some_of_ours_do_and_most_do_not(ours: tuple[list[str], list[str]]) -> None:
    depend, others = ours
    assert 10 < len(depend) < len(others)
    assert any("import_role" in (ROOT / file).read_text() for file in depend)
