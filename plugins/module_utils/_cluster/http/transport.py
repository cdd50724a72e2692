# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to one API server: a connection pool, our identity, retries that are safe, errors."""

from __future__ import annotations

import ipaddress
import json
import math
import os
import re
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from ..cluster import WriteTerms
from ..errors import (
    ApiError,
    ClusterError,
    ServerTimeout,
    Unconfigured,
    Unreachable,
    api_error,
    is_answer,
    may_have_acted,
)
from ..substitute import original_warning
from .login import Login, login_not_accepted, missing_client
from .retry import INTERNAL, Loss, RetryPolicy
from .tls import tls_context

if TYPE_CHECKING:
    import urllib3

    from ..stop_signal import StopSignal

OnWarning = Callable[[str, str], None]
"""Receives the operation, and the warning of the API server (KEP-1693)."""

CONNECTIONS = 32
CONNECT_SECONDS = 10.0
READ_SECONDS = 75.0
"""More than the 60 seconds after which an API server itself gives up, so that its answer arrives."""
AWAY_SECONDS = 1.0
"""Seconds without any answer after which a server counts as away, instead of one connection as broken."""
STARTING_SECONDS = 10.0
"""Seconds in which a restarted server may refuse what is allowed, until it knows its own rules."""
STARTING_POLL_SECONDS = 0.2
NOT_YET_KNOWN = frozenset({401, 403})
"""The statuses of such a server until then; it has not acted."""
SHORTEST_SECONDS = 1.0
"""The least remaining time, in seconds, in which a request is sent."""
TIME_POLL_SECONDS = 0.2
"""How often a request without time checks whether there is some, in seconds."""
DISCOVERY_ROOTS = ("/api", "/apis")
"""Paths that every API server serves."""
NOT_SERVED = b"404 page not found"
"""The answer of an API server for an unknown path, if it is no Status."""
USER_AGENT = "kyma-lifecycle"
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""Idle seconds before the first probe, seconds between probes, and the number of probes (TCP keepalive)."""
WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')


class Answer(NamedTuple):
    """The server's answer to a request that succeeded."""

    status: int
    data: bytes

    def json(self) -> dict[str, Any]:
        """The decoded body.

        Raises:
            ClusterError: the body is not from an API server.
        """
        try:
            decoded = json.loads(self.data)
        except (ValueError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            raise ClusterError(
                "the server that answered is not an API server, because its answer is not a JSON object: "
                "perhaps a proxy or a login page; check the server in the kubeconfig"
            )
        return decoded


@dataclass
class Presence:
    """The known reachability of a server, shared by all threads that send requests.

    Attributes:
        patient: whether it has answered before, or surely will.
        away_since: the time since which no request got an answer; None if the last one did.
        back_since: the time of the first answer after the server was last away.
    """

    patient: bool
    away_since: float | None = None
    back_since: float = -math.inf


class Transport:
    """Requests to one API server, from any number of threads.

    Args:
        login: the server, and our identity.
        on_warning: receives the server's warnings.
        retry: the limits of one request's attempts.
        patient: wait for a server that has not answered this process yet: it is known to exist.
        sleep: waits so many seconds.
        terms: how long a request that begins now may take, if that is limited.

    Attributes:
        requests: the number of HTTP requests by method, including every attempt.
        retry_policy: the limits of one request's attempts.
    """

    def __init__(
        self,
        login: Login,
        *,
        on_warning: OnWarning | None = None,
        retry: RetryPolicy | None = None,
        patient: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        terms: WriteTerms | None = None,
    ) -> None:
        self.login = login
        self.requests: Counter[str] = Counter()
        self._on_warning = on_warning
        self.retry_policy = retry or RetryPolicy()
        self._presence = Presence(patient)
        self._sleep = sleep
        self._terms = terms
        self._lock = threading.Lock()
        self._pool: urllib3.PoolManager | None = None

    def with_terms(self, terms: WriteTerms) -> Transport:
        """The same server, with the identity and the time limit of the terms.

        The server gets the limit, too: if our process is suspended, it can't close the connection.
        """
        login = self.login
        if terms.authorization:
            # A certificate would take precedence over the token.
            login = replace(
                login,
                authorization=terms.authorization,
                cert_file="",
                cert_data="",
                key_file="",
                key_data="",
                impersonate_user="",
                impersonate_groups=(),
            )
        other = Transport(
            login,
            on_warning=self._on_warning,
            retry=self.retry_policy,
            sleep=self._sleep,
            terms=terms.within(self._terms),
        )
        other.requests = self.requests
        other._presence = self._presence
        if (login.cert_file, login.cert_data) == (self.login.cert_file, self.login.cert_data):
            other._pool = self._opened_pool()
        return other

    def request(
        self,
        action: str,
        method: str,
        path: str,
        *,
        query: Iterable[tuple[str, str]] = (),
        body: object = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        repeatable: bool = False,
    ) -> Answer:
        """Send a request and read its answer.

        Args:
            action: the operation and its object, for errors, e.g. ``apply Pod a/b``.
            method: the HTTP method.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are omitted.
            body: the content to send as JSON, or None.
            content_type: of the body.
            accept: the Accept header.
            repeatable: whether a second request has the same effect; reads always do. Others are repeated
                only if the server has surely not acted on them.

        Raises:
            ApiError: the server refuses it.
            Unreachable: there was no answer, also not to a retry.
            ClusterError: no time was left for it, and there will be no more.
            Unconfigured: the server's certificate is not trusted, or ours can't be read.
        """
        response = self._attempts(action, method, path, query, body, content_type, accept, repeatable, None)
        self._tell_warnings(action, response)
        return Answer(response.status, response.data)

    @contextmanager
    def stream(
        self,
        action: str,
        path: str,
        *,
        query: Iterable[tuple[str, str]],
        seconds: float,
        accept: str = "application/json",
        stop: StopSignal | None = None,
    ) -> Iterator[Iterator[bytes]]:
        """Open a continuing answer, and read it line by line; it ends after ``seconds`` without data.

        Args:
            action: the operation and its object, for errors.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are omitted.
            seconds: how long the server may be silent.
            accept: the Accept header.
            stop: ends it at once, also during a wait for the server.

        Raises:
            ApiError: the server refuses it.
            Unreachable: there was no answer, or it broke off.
        """
        import urllib3

        response = self._attempts(action, "GET", path, query, None, "", accept, True, max(seconds, 0.1))

        def lines() -> Iterator[bytes]:
            rest = b""
            try:
                for chunk in response.stream(2**16, decode_content=True):
                    *complete, rest = (rest + chunk).split(b"\n")
                    yield from (line for line in complete if line)
            except urllib3.exceptions.ReadTimeoutError:
                return
            except urllib3.exceptions.HTTPError as error:
                if stop is not None and stop.is_set:
                    return
                raise self._unreachable(error) from error

        try:
            with interruptible(response, stop) if stop is not None else nullcontext():
                yield lines()
        finally:
            response.close()

    @property
    def is_starting(self) -> bool:
        """Whether the server was away just now: it may not yet know permissions and served kinds."""
        return time.monotonic() - self._presence.back_since < STARTING_SECONDS

    def url(self, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
        """The whole URL of a path."""
        parameters = [(key, value) for key, value in query if value != ""]
        return self.login.server + path + ("?" + urlencode(parameters) if parameters else "")

    def identity(self, refused: str = "") -> list[tuple[str, str]]:
        """The headers with our identity and impersonation, without an Authorization that was refused."""
        headers = []
        authorization = self.login.authorization(refused)
        if authorization:
            headers.append(("Authorization", authorization))
        if self.login.impersonate_user:
            headers.append(("Impersonate-User", self.login.impersonate_user))
        headers.extend(("Impersonate-Group", group) for group in self.login.impersonate_groups)
        return headers

    def count(self, method: str) -> None:
        """Count one request."""
        with self._lock:
            self.requests[method] += 1

    def _attempts(
        self,
        action: str,
        method: str,
        path: str,
        query: Iterable[tuple[str, str]],
        body: object,
        content_type: str,
        accept: str,
        repeatable: bool,
        stream_seconds: float | None,
    ) -> urllib3.BaseHTTPResponse:
        pool = self._opened_pool()
        import urllib3
        from urllib3 import exceptions as errors

        query = list(query)
        payload = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        repeatable = repeatable or method == "GET"
        headers = {"Accept": accept, "User-Agent": USER_AGENT}
        if stream_seconds is None and not is_loopback(self.login.server):
            # Lists shrink to a twentieth; servers compress answers of more than 128 KiB.
            headers["Accept-Encoding"] = "gzip"
        if payload is not None:
            headers["Content-Type"] = content_type
        started = time.monotonic()
        refused = ""
        attempt = 0
        failure: Unreachable | ApiError = Unreachable(
            f"{action}: not sent, as there was no time left for it", sent=False
        )
        while True:
            attempt += 1
            retry_after = None
            try:
                all_headers = urllib3.HTTPHeaderDict(headers)
                for name, value in self.identity(refused):
                    all_headers.add(name, value)
                # Only now, as the login may take time.
                limit = stream_seconds or READ_SECONDS
                bounds: list[tuple[str, str]] = []
                if self._terms is not None:
                    limit = min(limit, self._terms.seconds_left())
                    if limit < SHORTEST_SECONDS:
                        self._await_time(self._terms, started, failure)
                        continue
                    bounds = [("timeout", f"{int(limit)}s")]
                timeout = urllib3.Timeout(connect=min(CONNECT_SECONDS, limit), read=limit)
                self.count(method)
                response = pool.request(
                    method,
                    self.url(path, [*query, *bounds]),
                    body=payload,
                    headers=all_headers,
                    timeout=timeout,
                    retries=False,
                    redirect=False,
                    preload_content=stream_seconds is None,
                )
                if response.status == 404 and not is_own_404(path, response.data):
                    raise errors.ProtocolError(foreign_404(response.data))
            except errors.SSLError as error:
                if not broke_off(error):
                    raise self._untrusted(error) from error
                outcome: Loss | int = Loss.NO_ANSWER
                failure = self._unreachable(error)
            except (errors.NewConnectionError, errors.ConnectTimeoutError, errors.ProxyError) as error:
                outcome = Loss.NOT_SENT
                # The server may have received an earlier attempt whose answer was lost.
                failure = self._unreachable(error, sent=may_have_acted(failure))
            except errors.ReadTimeoutError as error:
                outcome = Loss.NO_ANSWER
                failure = self._unreachable(error)
                # The time limit of a stream is not extended.
                repeatable = repeatable and stream_seconds is None
            except errors.HTTPError as error:
                outcome = Loss.NO_ANSWER
                failure = self._unreachable(error)
            else:
                self._note_answer()
                if response.status < INTERNAL:
                    self._presence.patient = True
                if response.status < 300:
                    return response
                outcome = response.status
                retry_after = retry_after_seconds(response.headers.get("Retry-After"))
                failure = api_error(action, response.status, decoded_status(response.data))
                if outcome >= INTERNAL and (is_answer(failure) or is_refused_rehearsal(failure, query)):
                    raise failure
                if outcome == 401:
                    failure = login_not_accepted(self.login, action)
                if outcome == 401 and not refused:
                    # The token may have expired or been rotated; the server has not acted.
                    refused = all_headers.get("Authorization", "")
                    if refused and self.login.authorization(refused) != refused:
                        continue
                if outcome in NOT_YET_KNOWN and self.is_starting:
                    self._sleep(STARTING_POLL_SECONDS)
                    continue
            wait = self.retry_policy.delay(
                outcome,
                attempt=attempt,
                elapsed=time.monotonic() - min(started, self._gone_since(outcome)),
                repeatable=repeatable,
                retry_after=retry_after,
                patient=self._presence.patient,
            )
            if wait is None:
                raise failure
            self._sleep(wait)

    def _await_time(self, terms: WriteTerms, started: float, failure: ClusterError) -> None:
        """Wait for more time; a server that is away prevents every extension.

        Raises:
            ClusterError: ``failure``, if no extension is pending or it takes too long; or the error of the
                terms if there will be none.
        """
        while True:
            if not terms.is_extension_pending() or time.monotonic() - started > self.retry_policy.limit:
                raise failure
            self._sleep(TIME_POLL_SECONDS)
            if terms.seconds_left() >= SHORTEST_SECONDS:
                return

    def _note_answer(self) -> None:
        since = self._presence.away_since
        self._presence.away_since = None
        if since is not None and time.monotonic() - since >= AWAY_SECONDS:
            self._presence.back_since = time.monotonic()

    def _gone_since(self, outcome: Loss | int) -> float:
        """The time since which no request got an answer: later requests need not wait as long again."""
        now = time.monotonic()
        if not isinstance(outcome, Loss):
            return now
        since = self._presence.away_since
        if since is None:
            since = self._presence.away_since = now
        return since

    def _opened_pool(self) -> urllib3.PoolManager:
        with self._lock:
            if self._pool is None:
                self._pool = open_pool(self.login)
            return self._pool

    def _tell_warnings(self, action: str, response: urllib3.BaseHTTPResponse) -> None:
        if self._on_warning is None:
            return
        for header in response.headers.getlist("Warning") if "Warning" in response.headers else ():
            for text in WARNING.findall(header):
                self._on_warning(*original_warning(action, re.sub(r"\\(.)", r"\1", text)))

    def _unreachable(self, error: Exception, *, sent: bool = True) -> Unreachable:
        place = f" ({self.login.origin})" if self.login.origin else ""
        return Unreachable(
            f"no answer from {self.login.shown}{place}: {plain_reason(error)}. Check that the API server"
            " runs, and that network, VPN and proxy let you reach it (`kubectl get --raw /readyz` with the"
            " same kubeconfig); then run this again",
            sent=sent,
        )

    def _untrusted(self, error: Exception) -> Unconfigured:
        place = f" ({self.login.origin})" if self.login.origin else ""
        return Unconfigured(
            f"no trusted connection to {self.login.shown}{place}: {plain_reason(error)}. "
            "The option ca_cert, or the kubeconfig, must name the CA that signed the server's certificate"
        )


def open_pool(login: Login) -> urllib3.PoolManager:
    """The pool of connections for a login.

    Raises:
        Unconfigured: a certificate or a key can't be used, or the HTTP library is missing, which is installed
            with the ``kubernetes`` client.
    """
    try:
        import urllib3
    except ImportError as error:
        raise missing_client() from error
    options: dict[str, Any] = {
        "num_pools": 2,
        "maxsize": CONNECTIONS,
        "socket_options": [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), *keepalive_options()],
    }
    if login.server.startswith("https:"):
        options["ssl_context"] = tls_context(login)
        if login.server_name:
            options["server_hostname"] = login.server_name
            options["assert_hostname"] = login.server_name
        if not login.verify:
            # The user has disabled verification, and needs no warning for every request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            options["cert_reqs"] = "CERT_NONE"
            options["assert_hostname"] = False
    pool: urllib3.PoolManager
    if login.proxy and not bypasses_proxy(login.server, login.no_proxy):
        if login.proxy.startswith("socks"):
            from urllib3.contrib.socks import SOCKSProxyManager

            pool = SOCKSProxyManager(login.proxy, **options)
        else:
            pool = urllib3.ProxyManager(login.proxy, proxy_headers=dict(login.proxy_headers), **options)
    else:
        pool = urllib3.PoolManager(**options)
    return pool


def keepalive_options() -> list[tuple[int, int, int]]:
    """Socket options with which the system probes a silent connection, and closes it if the server is gone.

    A watch may be silent for minutes, and a firewall drops silent connections. Without the
    intervals the system sends the first probe after two hours.
    """
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    # Not every system has these options.
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


@contextmanager
def interruptible(response: urllib3.BaseHTTPResponse, stop: StopSignal) -> Iterator[None]:
    """Let a signal end the reading of a response in this block."""
    try:
        # A duplicate: while we hold it, its number can't name another connection.
        own = socket.socket(fileno=os.dup(response.fileno()))
    except (OSError, ValueError):
        # The response has already ended.
        yield
        return

    def interrupt() -> None:
        with suppress(OSError):
            own.shutdown(socket.SHUT_RDWR)

    with own, stop.interrupting(interrupt):
        yield


def bypasses_proxy(server: str, no_proxy: str) -> bool:
    """Whether a server's host is in a comma-separated list of hosts, domains, addresses and networks."""
    host = (urlsplit(server).hostname or "").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    for entry in (part.strip().lower() for part in no_proxy.split(",")):
        domain = entry.removeprefix("*").lstrip(".")
        if entry == "*" or (domain and (host == domain or host.endswith("." + domain))):
            return True
        if address is not None:
            try:
                if address in ipaddress.ip_network(entry, strict=False):
                    return True
            except ValueError:
                continue
    return False


def is_refused_rehearsal(failure: ApiError, query: Iterable[tuple[str, str]]) -> bool:
    """Whether a dry run failed inside the server: mostly due to a webhook, which many objects may need."""
    return (
        failure.status == INTERNAL and not isinstance(failure, ServerTimeout) and ("dryRun", "All") in query
    )


def is_own_404(path: str, data: bytes) -> bool:
    """Whether a 404 is from an API server itself, not from a proxy or another server at its address.

    Args:
        path: the requested path.
        data: the answer's body.
    """
    if path in DISCOVERY_ROOTS:
        return False
    body = decoded_status(data)
    # For an unknown path an extension API server lists the known ones (metav1.RootPaths).
    return body.get("kind") == "Status" or body.keys() == {"paths"} or data.strip() == NOT_SERVED


def foreign_404(data: bytes) -> str:
    """The sender of a 404 that isn't from an API server, for a message."""
    text = " ".join(data[:200].decode("utf-8", "replace").split())
    return "the server that answered is not an API server: HTTP 404" + (f", {text}" if text else "")


def broke_off(error: BaseException) -> bool:
    """Whether TLS failed only because the other end closed the connection, as when a server stops."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError)):
            return True
        inner = seen.args[0] if seen.args and isinstance(seen.args[0], BaseException) else None
        seen = inner or seen.__cause__ or seen.__context__
    return False


def is_loopback(server: str) -> bool:
    """Whether a URL's host is this machine, as far as is known without resolving names."""
    host = urlsplit(server).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def decoded_status(data: bytes) -> dict[str, Any]:
    """The Status in an answer; any other answer becomes a Status with the text as its message."""
    try:
        decoded = json.loads(data)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return decoded
    return {"message": data[:500].decode("utf-8", "replace").strip()}


def retry_after_seconds(retry_after: str | None) -> float | None:
    """The Retry-After header if it is a number; API servers send no dates."""
    return float(retry_after) if retry_after and retry_after.isdigit() else None


def plain_reason(error: BaseException) -> str:
    """The innermost reason of a transport's error, in plain words."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or error.__context__
        if not isinstance(inner, BaseException):
            break
        error = inner
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
