# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes foreign text safe to display: pure.

Evidence of a migration, a condition's message, a field manager's name, an annotation or Helm's error may
contain anything. A line break forges a line of the plan, and two megabytes hide it. Control characters
recolour, overwrite and hide a terminal's text, and those of writing direction reverse it.

Each foreign text passes :func:`one_line` where it enters: in the engine of migrations, in the errors of the
cluster, in the code that reads health and records, and where the output of a program is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, unquote_plus

LONGEST_LINE = 2000
"""The maximum length of a foreign text, in characters."""

LONGEST_FOREIGN_ERROR = 300
"""The maximum length of a foreign exception's text, in characters, next to its type and place."""

_SHORTEST_SECRET = 3
"""Characters; to hide shorter ones would leave nothing readable of a message."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (Unicode's Cc, except tab and new line), line separators, writing directions."""


def without_controls(text: str) -> str:
    """A text of any number of lines without characters that a terminal would interpret as commands."""
    return _CONTROLS.sub("?", text)


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """A foreign text on one line, without characters that a terminal would interpret as commands.

    Args:
        text: any value; one that is not a text is converted with ``str``.
        longest: the maximum length in characters. A longer text is cut, and its end states its length.
    """
    whole = str(text)
    line = without_controls(" ".join(whole[: 4 * longest].split()))
    if len(line) <= longest and len(whole) <= 4 * longest:
        return line
    end = f"... ({len(whole)} characters)"
    return line[: longest - len(end)] + end


_URL = re.compile(
    r"(?P<start>file://|https?:/*|(?:[a-z][a-z0-9+.-]*:+)+/+)(?P<place>[^/?#]*)(?P<path>[^?#]*)",
    re.IGNORECASE | re.DOTALL,
)
_URL_IN_TEXT = re.compile(r"(?:[a-z][a-z0-9+.-]*:+)+/+[^\s'\"<>]*", re.IGNORECASE)
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:[0-9]*)?")


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
    return sorted((text for text in texts if len(text) >= _SHORTEST_SECRET), key=len, reverse=True)


def suggestion(name: str, known: Iterable[str], most: int = 3) -> str:
    """A question after the names that are most similar to an unknown one; empty if none is."""
    # Imported here, as only a mistake needs it.
    from difflib import get_close_matches

    return did_you_mean(get_close_matches(name, sorted(known), most))


def did_you_mean(names: Sequence[str]) -> str:
    """The question after the name that was meant; empty without names."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def first_of(texts: Sequence[str], most: int, more: str = "more") -> list[str]:
    """The first texts, and one that counts the others, if there are any."""
    rest = len(texts) - most
    return [*texts[:most], *([f"and {rest} {more}"] if rest > 0 else [])]


def short_list(values: Iterable[object], most: int, more: str = "more") -> str:
    """The first values, separated by commas, and the number of the others, if there are any."""
    texts = [str(one) for one in values]
    return " ".join([", ".join(texts[:most]), *first_of(texts, most, more)[most:]])


def extra_variable(name: str, values: Sequence[str]) -> str:
    """The option of ``ansible-playbook`` that sets a variable to a list, quoted for a shell."""
    value = json.dumps({name: [*values]}).replace("'", "'\\''")
    return f"-e '{value}'"
