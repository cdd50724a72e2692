# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seam as an overlay: it keeps writes in memory, and validates them with the server's dry run.

From outside: `dry_run_cluster` (the overlay), `crd_schema` (what a definition says of an object). What a
server answers and how it merges (`error_responses`, `writes`) also serves the cluster in memory.
"""
