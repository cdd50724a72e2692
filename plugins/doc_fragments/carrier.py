# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options by which an action plugin talks to its module."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.carrier)."""

    DOCUMENTATION = r"""
options:
  workdir:
    description:
      - The folder on the host that holds what the action plugin sent along, such as the rendered release.
      - Set by the action plugin. Do not set it.
    type: path
  progress_file:
    description:
      - The file on the host to which the module writes what it is at, for the action plugin to show.
      - Set by the action plugin. Do not set it.
    type: path
  asked_for:
    description:
      - How the release was asked for on the controller, for the module to answer with.
      - Set by the action plugin. Do not set it.
    type: dict
"""
