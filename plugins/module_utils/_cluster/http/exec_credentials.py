# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins by a program that prints credentials (client.authentication.k8s.io, KEP-541).

The ``kubernetes`` client can run such a program too, but gives it our terminal and waits for it without a
limit. A program that asks for a password would then hang a playbook without a message.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import threading
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ..._long_waits import report_wait
from ..._redaction import without_secrets
from ..._text import one_line
from ..._timestamp import parse_time
from ..errors import Unconfigured
from .kubeconfig import Choice, static_login
from .login import Login, bearer_header

RENEW_BEFORE = timedelta(seconds=60)
"""How long before its expiration a credential counts as expired."""

PLUGIN_SECONDS = 60.0
"""The time limit of a credential plugin, in seconds: at most it asks a server."""

CLOSING_SECONDS = 1.0
"""How long the pipes of a program may stay open after it was ended, in seconds."""


def plugin_login(choice: Choice) -> Login:
    """The login by a credential plugin; this runs the plugin at once.

    Raises:
        Unconfigured: the program fails, or takes too long.
    """
    plugin = Plugin(choice)
    status = plugin.status()
    login = dataclasses.replace(static_login(choice), authorization=plugin.authorization)
    if not status.get("clientCertificateData"):
        return login
    return dataclasses.replace(
        login,
        cert_file="",
        cert_data=str(status["clientCertificateData"]),
        key_file="",
        key_data=str(status["clientKeyData"]),
    )


class Plugin:
    """A program that prints an ExecCredential; it runs again when the credential has expired."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._definition: Mapping[str, Any] = choice.user.content["exec"]
        self._what = f"{choice.origin}: the credential plugin {self._definition.get('command')}"
        self._lock = threading.Lock()
        self._status: Mapping[str, Any] | None = None
        self._header = ""

    def authorization(self, refused: str) -> str:
        """The Authorization header; empty if the program returns a certificate instead of a token."""
        self.status(refused)
        return self._header

    def status(self, refused: str = "") -> Mapping[str, Any]:
        """The ``status`` of the valid ExecCredential."""
        with self._lock:
            status = self._status
            if (
                status is None
                or has_run_out(status.get("expirationTimestamp"))
                or (refused and refused == self._header)
            ):
                status = self._run()
                token = status.get("token")
                source = f"{self._what} printed a token that"
                self._header = bearer_header(str(token), source) if token else ""
                self._status = status
            return status

    def _run(self) -> Mapping[str, Any]:
        definition, what = self._definition, self._what
        missing = [key for key in ("command", "apiVersion") if not definition.get(key)]
        if missing:
            raise Unconfigured(f"{what} lacks {' and '.join(missing)} in the kubeconfig")
        if definition.get("interactiveMode") == "Always":
            raise Unconfigured(f"{what} wants a terminal (interactiveMode: Always), and a playbook has none")
        exit_code, stdout, stderr = self._answer()
        if exit_code:
            said = without_secrets(one_line(stderr)) or "no message"
            raise Unconfigured(f"{what} failed: exit code {exit_code}: {said}")
        try:
            credential = json.loads(stdout)
            api_version, status = credential["apiVersion"], credential["status"]
        except (ValueError, KeyError, TypeError) as error:
            raise Unconfigured(f"{what} did not print an ExecCredential with a status") from error
        if api_version != definition["apiVersion"]:
            raise Unconfigured(
                f"{what} speaks {api_version}, and the kubeconfig asks for {definition['apiVersion']}"
            )
        if not isinstance(status, dict) or not (
            status.get("token") or (status.get("clientCertificateData") and status.get("clientKeyData"))
        ):
            raise Unconfigured(f"{what} gave neither a token nor a certificate with its key")
        return status

    def _answer(self) -> tuple[int, str, str]:
        """Exit code, output and errors of the program."""
        definition = self._definition
        command = [str(part) for part in (definition["command"], *(definition.get("args") or ()))]
        named = {str(one["name"]): str(one["value"]) for one in definition.get("env") or ()}
        environment = {**os.environ, **named, "KUBERNETES_EXEC_INFO": json.dumps(self._credential_request())}
        try:
            with report_wait(
                "credential plugin", lambda: f"{self._what}; it is ended after {PLUGIN_SECONDS:.0f} s"
            ):
                return asyncio.run(_output(command, self._choice.user.folder or None, environment))
        except FileNotFoundError as error:
            hint = definition.get("installHint")
            raise Unconfigured(f"{self._what} is not installed" + (f". {hint}" if hint else "")) from error
        except TimeoutError as error:
            # Its arguments may hold a secret.
            raise Unconfigured(
                f"{self._what} gave no answer within {PLUGIN_SECONDS:.0f} s and was ended; perhaps it "
                f"waits for a login: run it in a terminal, with the kubeconfig's arguments"
            ) from error
        except OSError as error:
            raise Unconfigured(f"{self._what} failed: {error}") from error

    def _credential_request(self) -> dict[str, Any]:
        """The ExecCredential that is the program's input."""
        spec: dict[str, Any] = {"interactive": False}
        if self._definition.get("provideClusterInfo"):
            cluster = dict(self._choice.cluster.content)
            for extension in cluster.get("extensions") or ():
                if extension.get("name") == "client.authentication.k8s.io/exec":
                    cluster["config"] = extension.get("extension")
            spec["cluster"] = cluster
        return {"apiVersion": self._definition["apiVersion"], "kind": "ExecCredential", "spec": spec}


async def _output(
    command: Sequence[str], folder: str | None, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Exit code, output and errors of a program; one that takes too long is ended with all its children.

    Raises:
        TimeoutError: it takes longer than :data:`PLUGIN_SECONDS`.
        OSError: it can't be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        env=environment,
        # In a new session it has no terminal to ask on, and can be ended with its children.
        start_new_session=True,
    )
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(), PLUGIN_SECONDS)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.communicate(), CLOSING_SECONDS)
        raise
    return process.returncode or 0, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")


def has_run_out(expiration: object) -> bool:
    """Whether to renew a credential with this RFC 3339 expiration, if it has one."""
    end = parse_time(expiration)
    return end is not None and end - RENEW_BEFORE <= datetime.now(UTC)
