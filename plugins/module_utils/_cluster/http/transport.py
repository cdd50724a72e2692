# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to one API server: one pool of connections, who we are, another attempt where it is safe, errors."""

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
from ..errors import ApiError, ClusterError, Unconfigured, Unreachable, api_error, is_answer, may_have_acted
from ..substitute import original_warning
from .login import Login, login_not_accepted, missing_client
from .retry import INTERNAL, Loss, RetryPolicy
from .tls import tls_context

if TYPE_CHECKING:
    import urllib3

    from ..stop_signal import StopSignal

OnWarning = Callable[[str, str], None]
"""Gets what was being done, and what the API server warned of (KEP-1693)."""

CONNECTIONS = 32
CONNECT_SECONDS = 10.0
READ_SECONDS = 75.0
"""Longer than the 60 seconds after which an API server itself gives up, so that its answer arrives."""
AWAY_SECONDS = 1.0
"""How long nobody must have got an answer for a server to have been away, rather than a connection broken."""
STARTING_SECONDS = 10.0
"""How long a server that was away may refuse what is allowed: it answers before it knows its own rules."""
STARTING_POLL_SECONDS = 0.2
NOT_YET_KNOWN = frozenset({401, 403})
"""What it answers until then; it has not acted."""
SHORTEST_SECONDS = 1.0
"""What is left of less time than this is not enough for a request."""
TIME_POLL_SECONDS = 0.2
"""How often a request without time looks whether there is some."""
DISCOVERY_ROOTS = ("/api", "/apis")
"""Paths that every API server serves."""
NOT_SERVED = b"404 page not found"
"""What an API server answers of a path that it doesn't know, where it is no Status."""
USER_AGENT = "kyma-lifecycle"
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""After how many silent seconds, how often, and how many times the system asks for a sign of the server."""
WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')


class Answer(NamedTuple):
    """What the server answered to a request that succeeded."""

    status: int
    data: bytes

    def json(self) -> dict[str, Any]:
        """The decoded body.

        Raises:
            ClusterError: it is none of an API server.
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
    """What is known of whether a server is there, to all who talk to it.

    Attributes:
        patient: whether it has answered before, or surely will.
        away_since: since when nobody has got an answer; None where the last one who asked has.
        back_since: when it answered again after it was away, the last time.
    """

    patient: bool
    away_since: float | None = None
    back_since: float = -math.inf


class Transport:
    """Requests to one API server, from any number of threads.

    Args:
        login: which server, and as whom.
        on_warning: gets what the server warns of.
        retry: bounds of one request's attempts.
        patient: wait for a server that has not answered this process yet: it is known to be there.
        sleep: waits so many seconds.
        terms: how long a request that begins now may take, where that is limited.

    Attributes:
        requests: how many HTTP requests were sent, by method, counting every attempt.
        retry_policy: bounds of one request's attempts.
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
        """Requests to the same server as somebody else may make them, and for as long as he may.

        The server is told how long, too: nobody is there to hang up where our process was stopped.
        """
        login = self.login
        if terms.authorization:
            # A certificate would win over the token.
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
            action: what is being done on which object, for errors, e.g. ``apply Pod a/b``.
            method: the HTTP method.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are left out.
            body: what to send as JSON, or None.
            content_type: of the body.
            accept: the Accept header.
            repeatable: whether doing it twice comes to the same; reads always are. Others are sent again only
                where the server has surely not acted on them.

        Raises:
            ApiError: the server says no.
            Unreachable: no answer came, not at another attempt either.
            ClusterError: there was no time left for it, and no more will come.
            Unconfigured: the server's certificate is not to be trusted, or ours can't be read.
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
        """Open an answer that goes on, and read it line by line; it ends when nothing came for ``seconds``.

        Args:
            action: what is being done on which object, for errors.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are left out.
            seconds: how long the server may be silent.
            accept: the Accept header.
            stop: ends it at once, also while it waits for the server.

        Raises:
            ApiError: the server says no.
            Unreachable: no answer came, or it broke off.
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
        """Whether the server was away just now: it may not know yet who may do what, and what it serves."""
        return time.monotonic() - self._presence.back_since < STARTING_SECONDS

    def url(self, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
        """The whole URL of a path."""
        parameters = [(key, value) for key, value in query if value != ""]
        return self.login.server + path + ("?" + urlencode(parameters) if parameters else "")

    def identity(self, refused: str = "") -> list[tuple[str, str]]:
        """The headers that say who we are and as whom we act, without an Authorization that was refused."""
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
            # Lists shrink to a twentieth; servers compress what is larger than 128 KiB.
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
                # Only now, as a login may take its time.
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
                # An attempt before this one may have been sent, and its answer lost.
                failure = self._unreachable(error, sent=may_have_acted(failure))
            except errors.ReadTimeoutError as error:
                outcome = Loss.NO_ANSWER
                failure = self._unreachable(error)
                # A stream's time is up when it is up.
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
                if outcome >= INTERNAL and (is_answer(failure) or is_refused_rehearsal(outcome, query)):
                    raise failure
                if outcome == 401:
                    failure = login_not_accepted(self.login, action)
                if outcome == 401 and not refused:
                    # The token may have run out or have been rotated; the server has not acted.
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
        """Wait for time, of which there is none: a server that is away keeps anybody from getting more, too.

        Raises:
            ClusterError: ``failure``, where nobody is getting any or it takes too long; or what the terms
                raise where there will be none.
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
        """Since when nobody has got an answer: who comes later need not wait as long once more."""
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
        return Unreachable(f"no answer from {self.login.server}{place}: {plain_reason(error)}", sent=sent)

    def _untrusted(self, error: Exception) -> Unconfigured:
        place = f" ({self.login.origin})" if self.login.origin else ""
        return Unconfigured(
            f"no trusted connection to {self.login.server}{place}: {plain_reason(error)}. "
            "The option ca_cert, or the kubeconfig, must name the CA that signed the server's certificate"
        )


def open_pool(login: Login) -> urllib3.PoolManager:
    """The pool of connections for a login.

    Raises:
        Unconfigured: a certificate or a key can't be used, or the HTTP library is missing, which comes
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
            # Who turned it off need not be told at every request.
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
    """Socket options by which the system looks after a silent connection, and ends it once nobody is there.

    A watch may be silent for minutes, and a firewall between forgets silent connections. Without the
    intervals the system begins to look after two hours.
    """
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    # Not every system has them.
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


@contextmanager
def interruptible(response: urllib3.BaseHTTPResponse, stop: StopSignal) -> Iterator[None]:
    """Have a signal end the reading of a response in this block."""
    try:
        # One of our own: while we have it the number can't come to mean another connection.
        own = socket.socket(fileno=os.dup(response.fileno()))
    except (OSError, ValueError):
        # There is nothing left to wait for.
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


def is_refused_rehearsal(status: int, query: Iterable[tuple[str, str]]) -> bool:
    """Whether a dry run failed within the server: mostly for a webhook, which many objects may wait for."""
    return status == INTERNAL and ("dryRun", "All") in query


def is_own_404(path: str, data: bytes) -> bool:
    """Whether a 404 is of an API server itself, rather than of what sits before it or has taken its place.

    Args:
        path: what was asked for.
        data: the answer's body.
    """
    if path in DISCOVERY_ROOTS:
        return False
    body = decoded_status(data)
    # Of a path that it doesn't know, an extension API server tells those that it does (metav1.RootPaths).
    return body.get("kind") == "Status" or body.keys() == {"paths"} or data.strip() == NOT_SERVED


def foreign_404(data: bytes) -> str:
    """What has answered with a 404 that isn't an API server's own, for a person."""
    text = " ".join(data[:200].decode("utf-8", "replace").split())
    return "the server that answered is not an API server: HTTP 404" + (f", {text}" if text else "")


def broke_off(error: BaseException) -> bool:
    """Whether encryption failed only because the other end is gone, as where a server stops."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError)):
            return True
        inner = seen.args[0] if seen.args and isinstance(seen.args[0], BaseException) else None
        seen = inner or seen.__cause__ or seen.__context__
    return False


def is_loopback(server: str) -> bool:
    """Whether a URL's host is this machine, as far as can be told without resolving names."""
    host = urlsplit(server).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def decoded_status(data: bytes) -> dict[str, Any]:
    """The Status in an answer; an answer that is none becomes one with the text as its message."""
    try:
        decoded = json.loads(data)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return decoded
    return {"message": data[:500].decode("utf-8", "replace").strip()}


def retry_after_seconds(retry_after: str | None) -> float | None:
    """The Retry-After header where it is a number; API servers send no dates."""
    return float(retry_after) if retry_after and retry_after.isdigit() else None


def plain_reason(error: BaseException) -> str:
    """The innermost reason of a transport's error, as a person would say it."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or error.__context__
        if not isinstance(inner, BaseException):
            break
        error = inner
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
