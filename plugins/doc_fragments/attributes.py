# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of what all modules can do."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.attributes)."""

    DOCUMENTATION = r"""
options: {}
requirements:
  - python >= 3.11
  - kubernetes >= 31.0.0
  - PyYAML >= 6.0
  - packaging >= 24.0
  - urllib3 >= 2.0.2
  - websocket-client >= 1.6.1
attributes:
  action:
    description: Has an action plugin, which does a part of the work on the controller.
    support: full
  async:
    description: Can be run in the background by C(async).
    support: full
  platform:
    description: Operating systems on which the module works.
    platforms: posix
    support: full
"""

    CONTROLLER = r"""
options: {}
attributes:
  action:
    description: Has an action plugin, so that all of its work is done on the controller.
    support: full
  async:
    description: Can be run in the background by C(async).
    support: none
  platform:
    description: Operating systems on which the module works.
    platforms: posix
    support: full
"""

    DIFF = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: full
"""

    READ = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: N/A
    details:
      - It changes nothing.
"""

    WRITE = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: none
    details:
      - M(kyma.lifecycle.plan) shows the diff of the whole deployment.
"""
