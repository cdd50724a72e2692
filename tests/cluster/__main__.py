# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster <verb>`: a Kubernetes to test on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import choice, kind, paths, processes, theirs
from .build import build
from .console import say
from .errors import ClusterError
from .lock import turn

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
        build()
        return 0
    if options.verb == "can-kind":
        reason = kind.why_not()
        say(reason or "kind can run here")
        return 1 if reason else 0
    with turn(paths.STATE / "lock"):
        if options.verb == "up":
            _up(options.provider)
        elif options.verb == "down":
            _down(PROVIDERS if options.all or not options.provider else (options.provider,))
        else:
            say(processes.status())
            say(kind.status())
    return 0


def _up(provider: str | None) -> None:
    if provider is None and choice.is_users():
        theirs.up()
    elif provider == "kind":
        kind.up()
    else:
        processes.up()


def _down(providers: Sequence[str]) -> None:
    if "kind" in providers:
        kind.down()
    if "processes" in providers:
        processes.down()
        paths.KUBECONFIG.unlink(missing_ok=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description="A Kubernetes to test on.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
    verbs.add_parser("build", help="build the programs into .build/bin, if something changed")
    up = verbs.add_parser("up", help="start or reuse a cluster and leave its kubeconfig in .cluster")
    up.add_argument("--provider", choices=PROVIDERS, help="default: KUBECONFIG's cluster, else processes")
    down = verbs.add_parser("down", help="end what was started and leave no process behind")
    which = down.add_mutually_exclusive_group()
    which.add_argument("--provider", choices=PROVIDERS, help="only this one")
    which.add_argument("--all", action="store_true", help="every one (the default)")
    verbs.add_parser("status", help="say what runs")
    verbs.add_parser("can-kind", help="say whether kind can run here, by exit code and in a sentence")
    return parser


if __name__ == "__main__":
    sys.exit(main())
