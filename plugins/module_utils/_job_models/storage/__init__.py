# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The definitions of jobs as custom resources: their frozen versions, their objects and their status.

Public modules: `definition`, `stored_status`.
"""
