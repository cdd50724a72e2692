# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugins that run the modules of the same names, and `run_info` for all without one of their own.

Ansible imports this package before the first of them, so what it sets up holds for all that they import.
"""

from __future__ import annotations

from importlib import import_module

from ..plugin_utils import _carrier
from ..plugin_utils._carrier.bytecode_cache import use_cached_bytecode
from ..plugin_utils._report.playbook_start import PLAYBOOK_START

__all__ = ("PLAYBOOK_START",)

use_cached_bytecode()
# Only workers import a plugin that another module is routed to. Its carrier creates what they all share.
import_module(f"{_carrier.__name__}.direct_carrier")
