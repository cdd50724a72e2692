# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes objects in their order, and retains those that must stay.

Public modules: `contained_objects`, `managed_kinds`, `managed_resources`, `prune_decision`, `removal`.
"""
