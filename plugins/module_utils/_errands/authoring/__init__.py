# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For authors of errands: declare an errand, have it validated, run it, and read the result.

Public modules: `errand_object`, `errand_preflight`, `errand_report`, `errand_writing`, `requested_run`,
`run_log`.
"""
