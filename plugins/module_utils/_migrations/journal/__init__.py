# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of migrations: what their writes replaced, so that they can be undone.

Public modules: `journal_entry`, `undo`, `undo_report`.
"""
