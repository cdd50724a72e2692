# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: from results of tasks and records of runs to one HTML file.

``records`` reads results, ``timeline`` computes the positions of bars, ``advice`` gives the next commands,
and ``page`` renders. All of these are pure. ``gathered`` holds the clusters of one ansible-playbook.

Public modules: `gathered`, `model`, `page`, `playbook_start`, `records`, `report_file`.
"""
