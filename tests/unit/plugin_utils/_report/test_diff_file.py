# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file with the changes of plans."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import diff_of
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.diff_file import write_diffs
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.report_file import BadReportPath

from tests.support.driver import config_map

CHANGE = diff_of(config_map("one", v="1"), config_map("one", v="2"))
CHANGED = """\
# eu-1: Kyma 2.9
--- ConfigMap one
+++ ConfigMap one
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  v: '1'
+  v: '2'
 kind: ConfigMap
 metadata:
   name: one
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for temporary files of one ansible-playbook."""
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "local"))


def test_changes_are_unified_diffs(tmp_path: Path) -> None:
    file = tmp_path / "plan.diff"
    write_diffs(file, "eu-1: Kyma 2.9", [CHANGE])
    assert file.read_text() == CHANGED


def test_the_plans_of_a_playbook_share_a_file_that_the_next_playbook_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.diff"
    write_diffs(file, "us-1: no plan", [])
    write_diffs(file, "eu-1: Kyma 2.9", [CHANGE])
    write_diffs(file, "eu-1: Kyma 2.9", [CHANGE])
    assert file.read_text() == f"{CHANGED}\n# us-1: no plan\n"
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "next"))
    write_diffs(file, "us-1: Kyma 2.9", [])
    assert file.read_text() == "# us-1: Kyma 2.9\n"


def test_an_object_that_is_created_or_deleted_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "plan.diff"
    write_diffs(file, "eu-1: Kyma 2.9", [diff_of(None, config_map("new")), diff_of(config_map("old"), None)])
    lines = file.read_text().splitlines()
    assert [one for one in lines if one.startswith(("---", "+++"))] == [
        "--- ConfigMap new (absent)",
        "+++ ConfigMap new",
        "--- ConfigMap old",
        "+++ ConfigMap old (deleted)",
    ]


def test_a_folder_that_is_not_there_is_refused_by_the_name_of_the_option(tmp_path: Path) -> None:
    with pytest.raises(BadReportPath, match=r"diff_file \(kyma_diff_file\): .*No such file"):
        write_diffs(tmp_path / "none" / "plan.diff", "eu-1: Kyma 2.9", [])
