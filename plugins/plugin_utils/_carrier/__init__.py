# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of a task: how it gets to its host, runs there or in this process, and reports back.

Action plugins derive from the classes of `direct_carrier` and `background_carrier`.

Public modules: `arguments`, `background_carrier`, `bytecode_cache`, `carrier`, `cluster_log`,
`cluster_task`, `command_target`, `direct_carrier`, `exit_messages`, `exit_watcher`, `interpreter`,
`materials`, `paths`, `play_batches`, `role_options`, `screen`, `temporary_files`.
"""
