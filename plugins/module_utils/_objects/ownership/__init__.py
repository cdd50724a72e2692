# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owners of objects and fields: field managers, adoption, drift, other tools.

Public modules: `adoption`, `autoscaling`, `findings`, `losses`, `other_tools`, `policy`.
"""
