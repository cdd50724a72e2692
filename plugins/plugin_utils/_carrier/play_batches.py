# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches of a play: the hosts before this one, and how the play's strategy treats them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible import context
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.helpers import pct_to_int

from ...module_utils._text import MOST_NAMES, short_list

LOCKSTEP_STRATEGIES = ("linear", "debug")
"""Strategies under which no host begins a task before all hosts of its batch have ended the one before."""
ORDERS: Mapping[str | None, Callable[[Iterable[str]], Iterable[str]]] = {
    None: list,
    "inventory": list,
    "reverse_inventory": lambda hosts: reversed(list(hosts)),
    "sorted": sorted,
    "reverse_sorted": lambda hosts: sorted(hosts, reverse=True),
}
"""The values of the keyword ``order`` that say who comes when."""


@dataclass(frozen=True)
class HostTurn:
    """A host's turn in its play.

    Attributes:
        batch: the hosts of its batch that have not failed.
        earlier: the hosts of each earlier batch; None if the play's order is random.
        failed: the hosts that have left the play, except those whose clusters are out.
        limit: percentage of a batch that may fail.
        strategy: of the play, without its collection.
        moved_batch: the hosts of the first batch, if there are several, made of the hosts of ``--limit``.
        has_own_sizes: whether the play's batches are those of ``kyma_serial``.
        check_mode: whether nothing is written.
    """

    batch: Sequence[str]
    earlier: Sequence[Sequence[str]] | None
    failed: frozenset[str]
    limit: float
    strategy: str
    moved_batch: Sequence[str] = ()
    has_own_sizes: bool = False
    check_mode: bool = False

    def refusal(self) -> str:
        """The reason why the host must not begin; empty if it may."""
        if self.moved_batch and self.has_own_sizes and not self.check_mode:
            return f"nothing has begun here: {self._moved_batches()}"
        if self.limit >= 100:
            return ""
        if self.earlier is None:
            return (
                "the play has order: shuffle, so nothing says which clusters were in an earlier batch,"
                " and max_fail_percentage (kyma_max_fail_percentage) can't be kept. Choose another order."
            )
        for batch in self.earlier:
            failed = [host for host in batch if host in self.failed]
            if len(failed) * 100 > self.limit * len(batch):
                return (
                    f"nothing has begun here: {len(failed)} of {len(batch)} clusters of an earlier batch"
                    f" failed ({', '.join(failed)}), and max_fail_percentage (kyma_max_fail_percentage)"
                    f" allows {self.limit:g} %. Repair them and run the playbook again."
                )
        return ""

    def warnings(self) -> list[str]:
        """Information for people on how the play goes through its hosts."""
        warnings = [self._moved_batches()] if self.moved_batch else []
        if self.strategy not in LOCKSTEP_STRATEGIES or len(self.batch) < 2:
            return warnings
        return [
            *warnings,
            f"under the strategy {self.strategy} each of these {len(self.batch)} clusters waits after every"
            " task for the slowest: a run that is done stays open meanwhile, and its lease can expire."
            " Set this in the play: strategy: ansible.builtin.host_pinned",
        ]

    def _moved_batches(self) -> str:
        sizes = "kyma_serial" if self.has_own_sizes else "serial"
        return (
            f"with --limit, {sizes} counts only the hosts that are left, so clusters that should wait for"
            f" others are in the first batch: {short_list(self.moved_batch, MOST_NAMES)}. Name groups as"
            f" rings (kyma_rings), or leave out --limit or {sizes}."
        )


def host_turn(
    play: Any,
    variables: Mapping[str, Any],
    limit: float,
    template: Callable[[Any], Any],
    hosts_out: Callable[[], Collection[str]],
) -> HostTurn:
    """The turn of the host that has these variables.

    Args:
        play: Ansible's own; the stricter of its ``max_fail_percentage`` and ``limit`` counts.
        variables: of the task.
        limit: percentage of a batch that may fail.
        template: evaluates a keyword of the play, as Ansible has not evaluated all of them.
        hosts_out: returns the hosts whose clusters are out, which is no failure; see :func:`~.is_out`.
    """
    hosts, own = variables["ansible_play_hosts_all"], variables["inventory_hostname"]
    limits = [limit]
    if play.max_fail_percentage is not None:
        limits.append(play.max_fail_percentage)
    if boolean(template(play.any_errors_fatal), strict=False):
        limits.append(0)
    batches = play_batches(hosts, play.serial, play.order)
    left = frozenset(hosts).difference(variables["ansible_play_hosts"])
    is_moved = context.CLIARGS.get("subset") and batches and len(batches) > 1
    return HostTurn(
        batch=variables["ansible_play_batch"],
        earlier=None if batches is None else _before(own, batches),
        failed=left.difference(hosts_out()) if left else left,
        limit=min(limits),
        strategy=play.strategy.rpartition(".")[2],
        moved_batch=batches[0] if batches and is_moved else (),
        has_own_sizes="kyma_serial" in variables,
        check_mode=bool(variables.get("ansible_check_mode")),
    )


def play_batches(
    hosts: Sequence[str], serial: Sequence[str | int], order: str | None = None
) -> list[list[str]] | None:
    """The hosts of a play in its batches; None if their order is random and there are several.

    Args:
        hosts: in the inventory's order.
        serial: sizes of the batches, as numbers or as percentages of all hosts; the last one repeats.
        order: as the play's keyword.
    """
    sizes = [pct_to_int(size, len(hosts)) for size in serial]
    remaining = list(ORDERS.get(order, list)(hosts))
    batches: list[list[str]] = []
    while remaining:
        size = sizes[min(len(batches), len(sizes) - 1)] if sizes else 0
        # As in Ansible, an empty size means all that are left.
        size = size if size > 0 else len(remaining)
        batches.append(remaining[:size])
        remaining = remaining[size:]
    return None if len(batches) > 1 and order not in ORDERS else batches


def _before(host: str, batches: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    number = next((number for number, batch in enumerate(batches) if host in batch), 0)
    return batches[:number]
