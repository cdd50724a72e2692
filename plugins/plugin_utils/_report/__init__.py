# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files about the clusters of a playbook: the report, from results and records of runs, and diffs of plans.

``records`` reads results, ``timeline`` computes the positions of bars, ``advice`` gives the next commands,
and ``page``, ``markdown`` and ``junit`` render. All of these are pure. ``gathered`` holds the clusters of
one ansible-playbook.

Public modules: `diff_file`, `gathered`, `junit`, `markdown`, `model`, `page`, `playbook_start`, `records`,
`report_file`.
"""
