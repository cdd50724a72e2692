# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's part of a task: its options, its materials, its progress file, and the call of its function.

The controller's part is `plugin_utils/_carrier`.

Public modules: `forked_worker`, `module_materials`, `module_runner`, `options`, `progress_file`,
`stop_cause`, `task`, `task_call`.
"""
