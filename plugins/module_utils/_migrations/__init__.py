# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of migrations: it finds the classes, checks and runs them, and returns their results.

The contract for authors is `module_utils/migration.py`.

Public modules: `attempt`, `engine`, `journal`, `loader`, `migration_folders`, `migration_set`,
`migration_validation`, `results`, `retirement`, `shared_reads`, `verdicts`.
"""
