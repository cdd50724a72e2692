# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands: Jobs that run when something happens, and whose output can become Secrets.

`reconciler` works on one errand, or on all of a cluster once; `errand_engine` on all of a cluster, for as
long as it runs. One pure function decides, `next_steps`. `errand_reader` reads its input, and
`step_execution` executes its decisions.

Public modules: `authoring`, `endpoint`, `errand_definition`, `errand_engine`, `errand_index`,
`errand_model`, `errand_steps`, `errand_view`, `reconciler`, `versions`.
"""
