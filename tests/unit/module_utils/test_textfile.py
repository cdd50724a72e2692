# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics as text, and the file that shows them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._textfile import metric_family, write_textfile

from tests.support.prometheus import parse_metrics


def test_a_metric_has_a_line_for_each_combination_of_labels() -> None:
    text = metric_family("jobs_total", "counter", "Jobs.", [({}, 1), ({"a": "b", "c": "d"}, 2.50)])
    assert (
        text
        == '# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total 1\njobs_total{a="b",c="d"} 2.5\n'
    )


def test_odd_labels_break_no_line() -> None:
    text = metric_family("jobs", "gauge", "Jobs.", [({"name": 'a "b"\nc\\d'}, 1)])
    assert parse_metrics(text) == {'jobs{name="a \\"b\\"\\nc\\\\d"}': 1}


def test_a_file_is_replaced_as_a_whole_and_may_be_read_by_all(tmp_path: Path) -> None:
    path = tmp_path / "errands.prom"
    path.write_text("before")
    with path.open() as reader:
        write_textfile(str(path), "after")
        assert reader.read() == "before"
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_where_a_file_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "errands.prom").mkdir()
    with pytest.raises(OSError, match=r"errands\.prom"):
        write_textfile(str(tmp_path / "errands.prom"), "text")
    assert [one.name for one in tmp_path.iterdir()] == ["errands.prom"]
