# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What no output shows: values of Secrets in texts and diffs, logins in URLs, and what this process knows."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, unquote_plus

SHORTEST_SECRET = 4
"""The minimum length of a value to mask: a shorter one would mask half of every sentence."""
_SHORTEST_LOGIN = 3
"""The same for a part of a URL, which is only masked in messages about it."""
_SECRET_FIELDS = ("data", "stringData")
_KUBECTL_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_HIDDEN = "*** (hidden)"
_HIDDEN_CHANGED = "*** (hidden, changed)"
_URL = re.compile(
    r"(?P<start>file://|https?:/*|(?:[a-z][a-z0-9+.-]*:+)+/+)(?P<place>[^/?#]*)(?P<path>[^?#]*)",
    re.IGNORECASE | re.DOTALL,
)
_URL_IN_TEXT = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}:+){1,9}/+[^\s'\"<>]*", re.IGNORECASE)
"""Without the numbers, a long text takes minutes. A longer scheme begins in the middle."""
_PLAIN = re.compile(r"[\w.+/=-]*", re.ASCII)
"""Texts with one printed form: Base64 and most tokens. Each Secret that is read or written has such texts."""
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:[0-9]*)?")

_Object = dict[str, Any]


class Redactor:
    """Masks the values of Secrets that it has seen. Usable from several threads.

    Args:
        most: how many texts it remembers, the newest ones.

    Attributes:
        has_seen_values: whether it has seen any.
    """

    def __init__(self, most: float = math.inf) -> None:
        self.has_seen_values = False
        self._most = most
        self._values: dict[str, None] = {}
        self._lock = threading.Lock()

    def note(self, obj: Mapping[str, Any]) -> None:
        """Record an object's values, if it is a Secret."""
        if obj.get("kind") != "Secret":
            return
        for text in _values_in(obj, "stringData"):
            self.remember(text)
        for encoded in _values_in(obj, "data"):
            self.remember(encoded)
            try:
                value = base64.b64decode(encoded, validate=True)
                self._remember_forms([repr(value)[2:-1]])
                self.remember(value.decode())
            except (binascii.Error, ValueError):
                continue

    def note_patch(self, kind: str, patch: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Record the values in a merge patch or a JSON patch of an object, if it is a Secret."""
        if isinstance(patch, Mapping):
            self.note({**patch, "kind": kind})
            return
        for operation in patch:
            content = operation.get("value")
            for name in reversed(str(operation.get("path", "")).split("/")[1:]):
                content = {name: content}
            if isinstance(content, Mapping):
                self.note({**content, "kind": kind})

    def clean(self, text: str) -> str:
        """The text with these values masked."""
        with self._lock:
            values = sorted(self._values, key=len, reverse=True)
        for value in values:
            text = text.replace(value, "***")
        return text

    def remember(self, value: str) -> None:
        """Record a secret text, in each form in which an error may quote it."""
        self.has_seen_values = True
        self._remember_forms(_printed_forms(value))

    def _remember_forms(self, forms: Iterable[str]) -> None:
        with self._lock:
            self._values.update((one, None) for one in forms if len(one.strip()) >= SHORTEST_SECRET)
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]


SEEN_SECRETS = Redactor(most=20_000)
"""Knows the values of the last Secrets that this process has read or written: an engine works for months."""
_OWN_SECRETS = Redactor()
"""Knows the credentials of this process and the secret options of its task."""


def remember_secret(value: str) -> None:
    """Hide a text, and each of its lines, in the reports of unexpected exceptions of this process."""
    for one in {value, *value.splitlines()}:
        _OWN_SECRETS.remember(one)


def without_secrets(text: str) -> str:
    """A text with all secrets masked that this process knows."""
    return SEEN_SECRETS.clean(_OWN_SECRETS.clean(text))


def describe_defect(error: BaseException) -> tuple[str, str]:
    """An unexpected exception in a line, and its traceback: both quote values of any kind, so secrets too."""
    import traceback

    line = "".join(traceback.format_exception_only(error)).strip()
    return without_secrets(line), without_secrets("".join(traceback.format_exception(error)))


def _printed_forms(text: str) -> set[str]:
    """The forms in which an error may quote a text."""
    if _PLAIN.fullmatch(text):
        return {text}
    forms: set[str] = set()
    for one in (text, text.strip()):
        forms |= {one, " ".join(one.split()), repr(one)[1:-1], json.dumps(one)[1:-1]}
        forms |= {repr(one.encode(code, "backslashreplace"))[2:-1] for code in ("utf-8", "latin-1")}
    return forms


def _values_in(secret: Mapping[str, Any], field: str) -> Iterator[str]:
    """The values in one field of a Secret; null in a patch removes a value."""
    values = secret.get(field)
    if isinstance(values, Mapping):
        yield from (str(value) for value in values.values() if value is not None)


def without_secret_data(old: _Object | None, new: _Object | None) -> tuple[_Object | None, _Object | None]:
    """Two states of an object, those of a Secret without its values; they show which keys have changed."""
    if (old or new or {}).get("kind") != "Secret":
        return old, new
    for field in _SECRET_FIELDS:
        old, new = _masked(old, new, field)
    return _without_applied(old), _without_applied(new)


def _masked(old: _Object | None, new: _Object | None, field: str) -> tuple[_Object | None, _Object | None]:
    before, after = (old or {}).get(field) or {}, (new or {}).get(field) or {}
    if not isinstance(before, dict) or not isinstance(after, dict):
        # No server accepts such a Secret, but its values are secret too.
        old = {**old, field: _HIDDEN} if old and before else old
        return old, ({**new, field: _HIDDEN} if new and after else new)
    data_before, data_after = dict(before), dict(after)
    if old and data_before:
        old = {**old, field: dict.fromkeys(data_before, _HIDDEN)}
    if new and data_after:
        masked = {
            key: _HIDDEN if key not in data_before or data_before[key] == value else _HIDDEN_CHANGED
            for key, value in data_after.items()
        }
        new = {**new, field: masked}
    return old, new


def _without_applied(secret: _Object | None) -> _Object | None:
    """A Secret without the annotation of a client-side apply, which contains the whole Secret."""
    annotations = secret["metadata"].get("annotations") or {} if secret else {}
    if secret is None or _KUBECTL_APPLIED not in annotations:
        return secret
    hidden = {**annotations, _KUBECTL_APPLIED: _HIDDEN}
    return {**secret, "metadata": {**secret["metadata"], "annotations": hidden}}


def without_login(url: str) -> str:
    """A URL for people: without user, password, query and fragment, any of which may be a secret.

    The path is shown. A URL whose login can't be told from its host, as a special character in it is not
    escaped, is shown by its scheme alone. Other texts are returned unchanged.
    """
    match = _URL.match(url.strip())
    if match is None:
        return url
    host = match["place"].rpartition("@")[2]
    if not _HOST.fullmatch(host):
        return f"{match['start']}***"
    return match["start"] + host + match["path"]


def without_logins_in(text: str) -> str:
    """A text with each URL in it as :func:`without_login` shows it."""
    return _URL_IN_TEXT.sub(lambda match: without_login(match[0]), text)


def without_logins(value: Any) -> Any:
    """A value of an option for people, with each URL in it as :func:`without_login` shows it."""
    if isinstance(value, str):
        return without_login(value)
    if isinstance(value, Mapping):
        return {key: without_logins(one) for key, one in value.items()}
    return [without_logins(one) for one in value] if isinstance(value, list) else value


def without_user(url: str) -> str:
    """A URL without user, password and fragment, which identifies its content; not for people."""
    match = _URL.match(url.strip())
    if match is None:
        return url
    start, place, path = match.groups()
    return start + place.rpartition("@")[2] + path + url.strip()[match.end() :].partition("#")[0]


def secrets_of(url: str) -> list[str]:
    """The secret parts of a URL as texts, also unescaped, the longest first."""
    match = _URL.match(url.strip())
    if match is None:
        return []
    login = match["place"].rpartition("@")[0]
    rest = url.strip()[match.end() :]
    values = [pair.partition("=")[2] or pair for pair in re.split("[&;?#]", rest)]
    parts = [login, login.partition(":")[2], rest[1:], *values]
    texts = {text for part in parts for text in (part, unquote(part), unquote_plus(part))}
    return sorted((text for text in texts if len(text) >= _SHORTEST_LOGIN), key=len, reverse=True)
