# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface to Kubernetes: `Cluster`, an abstract class over plain dicts, and its wrappers.

Public modules: `admission`, `boot_clock`, `cluster`, `errors`, `exact_patch`, `fence`, `fields`, `http`,
`informer`, `kinds`, `object_selectors`, `own_objects`, `owner_references`, `pod_templates`,
`quantity`, `recent_lists`, `served_versions`, `stop_signal`, `substitute`, `wrapper`.
"""
