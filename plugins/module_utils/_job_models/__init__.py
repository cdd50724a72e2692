# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stored job: three models and the pure functions between them.

`core_job` holds what the user means, `storage/` the content of a definition, `runtime/` the Kubernetes
objects. Nothing here reads or writes a cluster; `_store` does.

Public modules: `core_job`, `defaults`, `drift`, `due_times`, `field_table`, `job_fields`, `job_validation`,
`json_digest`, `object_shapes`, `recognition`, `runtime`, `storage`, `toolforge`.
"""
