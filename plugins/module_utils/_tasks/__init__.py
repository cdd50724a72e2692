# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per Ansible module: options in, result out. Capabilities meet only here.

The module and its action plugin import the `DEFINITION`. `shared` has what several files use.
`errand_watch` is a part of `reconcile_errands`.

Public modules: `approval`, `component`, `component_info`, `errand`, `errand_info`, `hold`, `job_store`,
`migration`, `migration_info`, `module`, `module_info`, `plan`, `reconcile_errands`, `run`, `run_info`,
`shared`, `stored_job`, `stored_job_import`, `stored_job_info`, `versioned_secret`, `versioned_secret_info`.
"""
