# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of one component, for a release or for a module.

Other packages import: `rehearsed_work` (what would change), `component_run`, `component_removal`.
"""
