# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page has all that it should, escaped, and nothing that a browser would fetch."""

from __future__ import annotations

import re
from html import escape

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import ClusterReport
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.page import render_report

from tests.support.report_samples import LONG_TEXT, large_run, read_cluster, recorded, small_run

LARGE = read_cluster("live<eu>", [recorded(large_run(), version="2.10", target="2.11")])
SMALL = read_cluster("staging", [recorded(small_run())])


def test_the_same_clusters_give_the_same_page() -> None:
    assert render_report([LARGE, SMALL]) == render_report([LARGE, SMALL])


def test_all_text_is_escaped() -> None:
    page = render_report([LARGE, SMALL], title="<b>mine</b>")
    assert "<script" not in page
    assert escape(LONG_TEXT, quote=False).partition("&#")[0].partition("'")[0] in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "live&lt;eu&gt;" in page


def test_nothing_in_it_is_fetched() -> None:
    page = render_report([LARGE, SMALL])
    assert "default-src 'none'" in page
    assert [link for link in re.findall(r'(?:href|src)="([^"]*)"', page) if link[0] != "#"] == ["data:,"]
    assert not re.search(r"@import|url\(", page)


@pytest.mark.parametrize(
    ("clusters", "title"),
    [
        ([LARGE], "Deploy 2.11 on live<eu>"),
        ([LARGE, SMALL], "Kyma on 2 clusters"),
        ([], "Kyma on 0 clusters"),
    ],
)
def test_the_page_has_the_title_of_its_clusters(clusters: list[ClusterReport], title: str) -> None:
    assert f"<title>{escape(title)}</title>" in render_report(clusters)
