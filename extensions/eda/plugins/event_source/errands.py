# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source kyma.lifecycle.errands: the engine of errands inside ansible-rulebook.

ansible-rulebook runs this file by its path and imports nothing of the collection. So the file adds the folder
of its collections to Python's path. It imports the engine in the thread that runs it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DOCUMENTATION = r"""
---
short_description: Run errands and emit their outcomes
description:
  - Watches the errands of a cluster, runs the Job of each when it is due, and emits each outcome as an event.
  - It works under the lease C(errands), as C(kyma.lifecycle.watch_errands) does. While another one holds the
    lease, it stands by and emits nothing.
  - It does not end by itself. When something fails, it logs the reason and tries again.
  - An event has C(state) (V(waiting), V(started), V(succeeded), V(failed) or V(refused)), C(namespace),
    C(name), C(run), C(reason), C(message), C(exit_code), C(seconds), C(secrets), the names of the Secrets
    written, and C(pruned), those of the old versions deleted.
options:
  namespaces:
    description:
      - The namespaces whose errands it runs. It runs those of all namespaces if there are none.
    type: list
    elements: str
  holder_image:
    description:
      - The image of the containers that hold the output of an errand until it is read.
    type: str
  refused_pod_seconds:
    description:
      - The seconds after which a run fails if no pod can be created for it.
    type: float
  image_pull_seconds:
    description:
      - The seconds after which a run fails if an image of it can't be pulled.
    type: float
  workers:
    description:
      - How many errands it reconciles at the same time.
    type: int
  metrics_file:
    description:
      - The file that gets metrics in the text format of Prometheus.
    type: str
  http_address:
    description:
      - The address at which it answers HTTP requests for liveness, readiness and metrics, such as
        V(127.0.0.1:8080).
    type: str
  kubeconfig:
    description:
      - The path of a kubeconfig.
      - Every connection option of the modules can be given, such as O(context), C(host) and C(api_key).
        Without it, the environment counts as for the modules.
    type: str
  context:
    description:
      - The context of the kubeconfig.
    type: str
"""

EXAMPLES = r"""
- name: Report failed errands
  hosts: all
  sources:
    - kyma.lifecycle.errands:
        kubeconfig: ~/.kube/config
        namespaces:
          - shop
  rules:
    - name: Print a failed errand
      condition: event.state == "failed"
      action:
        debug:
          msg: "{{ event.namespace }}/{{ event.name }}: {{ event.reason }}: {{ event.message }}"
"""

NAME = "kyma.lifecycle.errands"
COLLECTIONS = Path(__file__).absolute().parents[7]
"""The folder with `ansible_collections`, in which the collection is installed."""
RETRY_SECONDS = 10.0
CLOSE_SECONDS = 30.0
"""How long the engine may take to end and to release its lease."""
MOST_WAITING = 10_000
"""How many outcomes wait for rules that are slower; older outcomes are dropped."""
ENGINE_OPTIONS = (
    "namespaces",
    "holder_image",
    "refused_pod_seconds",
    "image_pull_seconds",
    "workers",
    "metrics_file",
    "http_address",
)
UNREMARKABLE = frozenset({"watching"})
"""States of the engine that only `ansible-rulebook -v` prints."""

LOGGER = logging.getLogger(NAME)

Outcome = Mapping[str, Any]


async def main(queue: asyncio.Queue[dict[str, Any]], args: dict[str, Any]) -> None:
    """Run errands, and put each outcome into the queue, until ansible-rulebook cancels this source.

    Args:
        queue: of ansible-rulebook. It has room for one event, so a put waits for the rules.
        args: the options of the source.
    """
    loop = asyncio.get_running_loop()
    handle_signals(loop)
    bridge = Bridge(loop)
    thread = threading.Thread(target=bridge.work, args=(args,), name=NAME, daemon=True)
    thread.start()
    try:
        while True:
            await queue.put(await bridge.outcomes.get())
    finally:
        bridge.cancelled.set()
        try:
            await asyncio.wait_for(bridge.ended.wait(), CLOSE_SECONDS)
        except TimeoutError:
            LOGGER.warning(
                "%s: the engine has not ended within %g s. Its lease expires by itself", NAME, CLOSE_SECONDS
            )


def handle_signals(loop: asyncio.AbstractEventLoop) -> None:
    """Let SIGTERM and SIGINT end ansible-rulebook after it has cancelled its sources.

    ansible-rulebook has handlers for that, but its Java replaces them and would end the process at once, and
    the engine could not release its lease. Besides, they raise KeyboardInterrupt wherever the signal arrives.
    In the event loop's own code, a step of a task can get lost so, and ansible-rulebook waits for that task
    forever. Here the loop raises it between two callbacks.

    Args:
        loop: the event loop of ansible-rulebook.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, interrupt, number)


def interrupt(number: signal.Signals) -> None:
    """End ansible-rulebook, as its own handlers do.

    Args:
        number: the received signal.

    Raises:
        KeyboardInterrupt: always. ansible-rulebook then cancels its sources.
    """
    LOGGER.info("%s: received %s", NAME, number.name)
    raise KeyboardInterrupt(f"received {number.name}")


class Bridge:
    """Passes outcomes from the threads of the engine to the event loop.

    Attributes:
        outcomes: the outcomes that wait for the rules.
        cancelled: set when the engine must end.
        ended: set when it has ended.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.outcomes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.cancelled = threading.Event()
        self.ended = asyncio.Event()
        self._loop = loop

    def work(self, args: Mapping[str, Any]) -> None:
        """Run the engine in a thread until it is cancelled, and start it again when it fails.

        Args:
            args: the options of the source.
        """
        while not self.cancelled.is_set():
            try:
                run_engine(args, self.emit, self.cancelled.is_set)
            except Exception as error:
                # ansible-rulebook ends with all its rules when a source raises.
                text = without_secrets(str(error) or repr(error))
                LOGGER.error("%s: %s. It tries again in %g s", NAME, text, RETRY_SECONDS)
                LOGGER.debug("%s: %s", NAME, without_secrets(traceback.format_exc()))
                self.cancelled.wait(RETRY_SECONDS)
        self._in_loop(self.ended.set)

    def emit(self, outcome: Outcome) -> None:
        """Take an outcome from a thread of the engine, without a wait for the rules."""
        self._in_loop(self._put, dict(outcome))

    def _put(self, outcome: dict[str, Any]) -> None:
        if self.outcomes.qsize() >= MOST_WAITING:
            dropped = self.outcomes.get_nowait()
            LOGGER.warning(
                "%s: dropped the outcome %s of %s/%s: the rules are too slow, and %d outcomes wait",
                NAME,
                dropped.get("state"),
                dropped.get("namespace"),
                dropped.get("name"),
                MOST_WAITING,
            )
        self.outcomes.put_nowait(outcome)

    def _in_loop(self, call: Callable[..., object], *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            # The loop is closed: no rule waits for the outcome any more.
            LOGGER.debug("%s: the event loop has ended", NAME)


def without_secrets(text: str) -> str:
    """A text without the secrets that the engine knows; before it is imported, it knows none."""
    known = sys.modules.get("ansible_collections.kyma.lifecycle.plugins.module_utils._redaction")
    return str(known.without_secrets(text)) if known else text


def run_engine(
    args: Mapping[str, Any], on_outcome: Callable[[Outcome], None], cancelled: Callable[[], bool]
) -> None:
    """Run the engine with the options of the source until it is cancelled.

    Args:
        args: the options.
        on_outcome: called with each outcome.
        cancelled: whether the engine must end.

    Raises:
        ValueError: an option does not exist or has a wrong value.
        Exception: any error of the engine.
    """
    import_from_collections()
    from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import (
        CONNECTION_SPEC,
        connect,
        from_text,
    )
    from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import (
        EngineOptions,
        ErrandEngine,
    )

    aliases = {alias: name for name, spec in CONNECTION_SPEC.items() for alias in spec.get("aliases", ())}
    connection: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for given, value in args.items():
        name = aliases.get(given, given)
        if value is None or given == "eda_feedback_queue":
            continue
        if name in ENGINE_OPTIONS:
            own[name] = engine_option(name, value)
        elif name in CONNECTION_SPEC:
            kind = CONNECTION_SPEC[name].get("type", "str")
            text = from_text(value, kind) if isinstance(value, str) else value
            if isinstance(text, str) and (kind == "path" or name == "kubeconfig"):
                text = str(Path(text).expanduser())
            connection[name] = text
        else:
            raise ValueError(
                f"the option {given} does not exist. Use {', '.join(ENGINE_OPTIONS)}, or a connection option:"
                f" {', '.join(CONNECTION_SPEC)}"
            )
    ErrandEngine(connect(connection), EngineOptions(**own), report=log_message, on_outcome=on_outcome).run(
        cancelled
    )


def engine_option(name: str, value: object) -> object:
    """Return an option of the engine with its type.

    Raises:
        ValueError: the value has another type.
    """
    if name == "namespaces":
        names = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise ValueError(f"the option namespaces is {value!r}. Give it a list of names")
        return tuple(one for one in names if one)
    if name in ("refused_pod_seconds", "image_pull_seconds"):
        if isinstance(value, bool) or not re.fullmatch(r"\d+(\.\d+)?", str(value)):
            raise ValueError(f"the option {name} is {value!r}. Give it a number of seconds")
        return float(str(value))
    if name == "workers":
        if isinstance(value, bool) or not str(value).isdecimal() or int(str(value)) < 1:
            raise ValueError(f"the option workers is {value!r}. Give it a number from 1 on")
        return int(str(value))
    if not isinstance(value, str):
        raise ValueError(f"the option {name} is {value!r}. Give it a text")
    return value


def log_message(state: str, text: str) -> None:
    """Log the messages of the engine for people."""
    LOGGER.log(logging.INFO if state in UNREMARKABLE else logging.WARNING, "%s: %s: %s", NAME, state, text)


def import_from_collections() -> None:
    """Let Python find the collection of this file, in any folder where it is installed."""
    if COLLECTIONS.joinpath("ansible_collections").is_dir() and str(COLLECTIONS) not in sys.path:
        sys.path.append(str(COLLECTIONS))
    # The package `ansible` has an `ansible_collections` that hides all others.
    import ansible_collections

    folder = str(COLLECTIONS / "ansible_collections")
    if folder not in list(ansible_collections.__path__):
        ansible_collections.__path__.append(folder)
