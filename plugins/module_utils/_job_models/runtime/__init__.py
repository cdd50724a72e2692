# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes objects of jobs: builds them, recognizes jobs in them, and finds drift.

Public modules: `normal_form`, `patches`, `probe_commands`, `run_identity`, `runtime_objects`.
"""
