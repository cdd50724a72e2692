# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that an option may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.common.validation import check_type_float, check_type_int


@dataclass(frozen=True)
class NumberRule:
    """The numbers that an option may have.

    Attributes:
        words: the rule for people, after "must be".
        accepts: whether a number, which is not NaN, follows it.
        read: converts a user's text to a number. Raises TypeError or ValueError.
    """

    words: str
    accepts: Callable[[float], bool]
    read: Callable[[Any], float] = check_type_float


_SECONDS = NumberRule("a number of seconds, 0 or more", lambda seconds: 0 <= seconds < math.inf)
_TIMEOUT = NumberRule("a number of seconds above 0", lambda seconds: 0 < seconds < math.inf)
RULES: Mapping[str, NumberRule] = {
    "workers": NumberRule("a whole number, 1 or more", lambda number: number >= 1, check_type_int),
    "timeout": _TIMEOUT,
    "wait_timeout": _TIMEOUT,
    "deadline": _SECONDS,
    "grace": _SECONDS,
    "patience": _SECONDS,
    "lease_wait": NumberRule("a number of seconds, 0 or more", lambda seconds: seconds >= 0),
    "lease_seconds": NumberRule(
        "a whole number of seconds, 6 or more, as a shorter lease ends before a request does",
        lambda seconds: seconds >= 6,
        check_type_int,
    ),
    "watch_seconds": NumberRule(
        "a whole number of seconds, 1 or more", lambda seconds: seconds >= 1, check_type_int
    ),
    "max_fail_percentage": NumberRule("a number from 0 to 100", lambda number: 0 <= number <= 100),
}
"""By the name of the option, which means the same in all modules."""
OF_JOBS = "stored_job"
"""The module with the fields of a job among its options. The timeout of a job is validated there."""
ROLES: Mapping[str, str] = {
    "errand": "kyma_errand",
    "reconcile_errands": "kyma_errand",
    "module": "kyma_modules",
    OF_JOBS: "kyma_job_store",
}
"""By module, the role whose variables its options are. Those of other modules are variables of ``kyma``."""
_OTHER_NAMES: Mapping[tuple[str, str], str] = {
    ("kyma", "timeout"): "kyma_component_timeout",
    ("kyma", "deadline"): "kyma_timeout",
}
"""The variables whose names aren't those of their role and option."""


def variable_of(option: str, role: str) -> str:
    """The variable of a role that has the value of an option."""
    return _OTHER_NAMES.get((role, option), f"{role}_{option}")


def number_problems(args: Mapping[str, Any], spec: Mapping[str, Any], module: str = "") -> dict[str, str]:
    """The errors of numbers among a task's options, one sentence for each such option.

    Args:
        args: the options as the user wrote them.
        spec: the options that the module has.
        module: its name, with or without that of the collection.
    """
    plain_name = module.rpartition(".")[2]
    role = ROLES.get(plain_name, "kyma")
    return {
        option: f"{option} ({variable_of(option, role)}) is {args[option]!r}, and must be {rule.words}"
        for option, rule in RULES.items()
        if option in spec
        and args.get(option) is not None
        and not (option == "timeout" and plain_name == OF_JOBS)
        and not _follows(rule, args[option])
    }


def _follows(rule: NumberRule, written: Any) -> bool:
    if isinstance(written, bool):
        return False
    try:
        number = rule.read(written)
    except (TypeError, ValueError, OverflowError):
        return False
    return not math.isnan(number) and rule.accepts(number)
