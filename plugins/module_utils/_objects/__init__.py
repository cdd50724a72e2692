# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any set of objects, of a release or not: applying them, their health, whose they are, removing them.

From outside: one folder per question. Nothing here knows releases, components or runs.
"""
