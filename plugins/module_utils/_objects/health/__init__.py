# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides from an object's state whether it is ready (kstatus), and waits for it.

Public modules: `diagnosis`, `named_pods`, `result`, `status`, `wait`, `watcher`.
"""
