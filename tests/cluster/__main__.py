# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster <verb>`: a Kubernetes to test on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import choice, kind, paths, processes, provision, user_cluster
from .console import say
from .errors import ClusterError
from .lock import turn
from .programs import CONTROL_PLANE, KUBERNETES

PROVIDERS = ("processes", "kind")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _do(options)
    except ClusterError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130


def _do(options: argparse.Namespace) -> int:
    if options.verb == "build":
        provision.provide()
        return 0
    if options.verb == "can-kind":
        reason = kind.why_not()
        say(reason or "kind can run here")
        return 1 if reason else 0
    with turn(paths.STATE / "lock"):
        if options.verb == "up":
            _up(options.provider, options.kubeconfig)
        elif options.verb == "down":
            _down(PROVIDERS if options.all or not options.provider else (options.provider,))
        else:
            if paths.GIVEN.exists():
                say(f"yours: KUBECONFIG={paths.GIVEN.read_text(encoding='utf-8')}")
            say(processes.status())
            say(kind.status())
    return 0


def _up(provider: str | None, kubeconfig: str) -> None:
    if provider == "kind":
        kind.up()
    elif provider == "processes":
        user_cluster.forget()
        processes.up()
    else:
        _take_a_way(kubeconfig)


def _take_a_way(kubeconfig: str) -> None:
    """Take the shortest way to a cluster, and the next one where it fails."""
    facts = _facts(kubeconfig)
    if line := choice.exported_line(facts):
        say(line)
    take = {
        choice.GIVEN: lambda: user_cluster.up(kubeconfig),
        choice.KIND: kind.up_at_hand,
        choice.PROCESSES: processes.up,
    }
    ways = choice.ways(facts)
    for way in ways:
        say(way.why)
        try:
            if way.name != choice.GIVEN:
                user_cluster.forget()
            take[way.name]()
            return
        except ClusterError as error:
            if way is ways[-1]:
                raise
            say(f"That failed, so the next way is taken. {error}")


def _facts(kubeconfig: str) -> choice.Facts:
    """Read what the choice depends on."""
    named = [Path(part).resolve() for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    ours = {paths.KUBECONFIG.resolve(), paths.KIND_KUBECONFIG.resolve()}
    lacking = provision.lacking((KUBERNETES,), CONTROL_PLANE)
    return choice.Facts(
        argument=kubeconfig,
        exported=os.environ["KUBECONFIG"] if set(named) - ours else "",
        lacking=lacking,
        why_no_kind=kind.why_not_at_hand() if lacking else "",
    )


def _down(providers: Sequence[str]) -> None:
    if "kind" in providers:
        kind.down()
    if "processes" in providers:
        user_cluster.forget()
        processes.down()
        paths.KUBECONFIG.unlink(missing_ok=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description="A Kubernetes to test on.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    verbs.add_parser("build", help="build the programs into .build/bin, if something changed")
    up = verbs.add_parser("up", help="start or reuse a cluster and leave its kubeconfig in .cluster")
    up.add_argument("--provider", choices=PROVIDERS, help="default: the shortest way")
    up.add_argument("--kubeconfig", default="", help="of a cluster of yours, which is used and never ended")
    down = verbs.add_parser("down", help="end what was started and leave no process behind")
    which = down.add_mutually_exclusive_group()
    which.add_argument("--provider", choices=PROVIDERS, help="only this one")
    which.add_argument("--all", action="store_true", help="every one (the default)")
    verbs.add_parser("status", help="say what runs")
    verbs.add_parser("can-kind", help="say whether kind can run here, by exit code and in a sentence")
    return parser


if __name__ == "__main__":
    sys.exit(main())
