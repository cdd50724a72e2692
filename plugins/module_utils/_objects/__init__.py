# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works on any set of objects, of a release or not: apply, health, ownership, removal.

Each topic has its own folder. Nothing here knows releases, components or runs.

Public modules: `access`, `apply`, `health`, `inventory`, `ownership`, `prune`.
"""
