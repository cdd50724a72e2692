# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface as an overlay: it stores writes in memory, and validates them with the server's dry run.

Other packages import: `dry_run_cluster` (the overlay), `crd_schema` (checks an object by its definition).
The in-memory cluster also uses a server's answers and merging (`error_responses`, `writes`).
"""
