# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated API server, on its own or over a cluster, whose dry run then validates the writes.

Other packages import: `dry_run_cluster` (the overlay over a cluster), `crd_schema` (checks an object by its
definition). The test kit's server in memory is the same server without a cluster (`simulated_server`,
`object_store`, `error_responses`).
"""
