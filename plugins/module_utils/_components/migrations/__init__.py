# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The migrations of one phase of a component: rehearsal, run, undo, and messages about them.

Public modules: `migration_options`, `migration_runner`, `rehearsal`, `undo_leftovers`, `undo_run`.
"""
