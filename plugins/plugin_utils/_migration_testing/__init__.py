# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test kit for authors of migrations: a cluster in memory, proofs, a real API server.

Authors import `plugin_utils/migration_testing.py` and `migration_pytest.py`.

Public modules: `api_server`, `case`, `collection`, `memory_cluster`, `proofs`,
`real_api_server`.
"""
