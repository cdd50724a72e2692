# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated API server, on its own or over a cluster, whose dry run then validates the writes.

`dry_run_cluster` is the overlay over a cluster. The test kit's server in memory is the same server without a
cluster.

Public modules: `crd_schema`, `dry_run_cluster`, `error_responses`, `object_store`, `simulated_server`.
"""
