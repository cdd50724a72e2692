# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: their content, their plan, their run, their deletion.

Modules, errands and stored jobs don't use it.

Public modules: `component_options`, `delete`, `desired`, `plan`, `run`.
"""
