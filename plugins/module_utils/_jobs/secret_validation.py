# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reasons why the API server would refuse a Secret: pure. The messages never have a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .._errors import LifecycleError
from .._text import one_line
from .versioned_secrets import (
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
    SOURCE_ANNOTATION,
    split_versioned_name,
)

LONGEST_NAME = 253
MOST_BYTES = 1024 * 1024
"""Bytes of all values of a Secret."""
MOST_ANNOTATION_BYTES = 256 * 1024
"""Bytes of all names and values of an object's annotations."""
_LONGEST_LABEL = 63
_LONGEST_SHOWN = 100

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_LABEL = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN_RULE = "lower-case letters, digits, '-' and '.', with a letter or digit at both ends"
_LABEL_RULE = "letters, digits, '-', '_' and '.', with a letter or digit at both ends"


class InvalidSecret(LifecycleError):
    """A Secret that the API server would refuse. The message names each problem."""


def refuse_problems(action: str, problems: list[str]) -> None:
    """Raise an error if there are problems.

    Args:
        action: what fails, on which object, such as ``cannot write Secret shop/x-v1``.
        problems: each in a sentence without its full stop.

    Raises:
        InvalidSecret: there are problems.
    """
    if problems:
        raise InvalidSecret(f"{action}: {'; '.join(problems)}. Nothing was written.")


def is_object_name(name: str) -> bool:
    """Whether a text may be the name of an object, such as a Secret (RFC 1123 subdomain)."""
    return len(name) <= LONGEST_NAME and bool(_SUBDOMAIN.fullmatch(name))


def is_data_key(key: str) -> bool:
    """Whether a text may be a key of a Secret."""
    is_path = key == "." or key.startswith("..")
    return len(key) <= LONGEST_NAME and bool(_KEY.fullmatch(key)) and not is_path


def name_problems(name: str) -> list[str]:
    """Why no Secret can have a name."""
    if len(name) > LONGEST_NAME:
        return [
            f"the name {_shown(name)} has {len(name)} characters; at most {LONGEST_NAME} are allowed,"
            " so choose a shorter one"
        ]
    if not is_object_name(name):
        return [f"the name {_shown(name)} is invalid: use only {_SUBDOMAIN_RULE}"]
    return []


def base_problems(base: str) -> list[str]:
    """Why a name can't be the base of versions."""
    if parts := split_versioned_name(base):
        return [f"the name {_shown(base)} is itself the name of a version: use the base {_shown(parts[0])}"]
    return name_problems(base)


def data_problems(data: Mapping[str, object]) -> list[str]:
    """Why a Secret can't have some values: keys, types and size.

    Args:
        data: the values, which have to be texts.
    """
    problems: list[str] = []
    size = 0
    for key, value in data.items():
        problems += _key_problems(str(key))
        if not isinstance(value, str):
            problems.append(
                f"the value of key {_shown(key)} is of type {_json_type(value)}, not a text: quote it,"
                " or make it a text, for example with the filter to_json"
            )
            continue
        try:
            size += len(value.encode())
        except UnicodeEncodeError:
            problems.append(f"the value of key {_shown(key)} cannot be encoded as UTF-8")
    if size > MOST_BYTES:
        problems.append(
            f"its values have {size} bytes; a Secret holds at most {MOST_BYTES} bytes (1 MiB): split the data"
            " over several Secrets"
        )
    return problems


def metadata_problems(labels: Mapping[str, object], annotations: Mapping[str, object]) -> list[str]:
    """Why an object can't have some labels and annotations."""
    problems: list[str] = []
    for name, value in labels.items():
        problems += _qualified_name_problems("label", str(name))
        if not isinstance(value, str):
            problems.append(f"the value of label {_shown(name)} is of type {_json_type(value)}: quote it")
        elif len(value) > _LONGEST_LABEL or (value and not _LABEL.fullmatch(value)):
            problems.append(
                f"the value of label {_shown(name)} is invalid: use at most {_LONGEST_LABEL} {_LABEL_RULE}"
            )
    size = 0
    for name, value in annotations.items():
        # Kubernetes ignores the case of an annotation's domain, but not that of a label's.
        problems += _qualified_name_problems("annotation", str(name).lower())
        if isinstance(value, str):
            size += len(str(name).encode()) + len(value.encode(errors="replace"))
        else:
            problems.append(
                f"the value of annotation {_shown(name)} is of type {_json_type(value)}: quote it"
            )
    if size > MOST_ANNOTATION_BYTES:
        problems.append(
            f"its annotations have {size} bytes; at most {MOST_ANNOTATION_BYTES} bytes (256 KiB) are allowed"
        )
    return problems


def reserved_problems(labels: Mapping[str, object], annotations: Mapping[str, object]) -> list[str]:
    """The labels and annotations that mark a version and that nothing else may set."""
    marks = [f"label {name}" for name in (SECRET_KIND_LABEL, SECRET_VERSION_LABEL) if name in labels]
    marks += [f"annotation {name}" for name in (SOURCE_ANNOTATION,) if name in annotations]
    return [f"the {mark} is reserved, because it marks a version: remove it" for mark in marks]


def _key_problems(key: str) -> Iterator[str]:
    if len(key) > LONGEST_NAME:
        yield f"the key {_shown(key)} has {len(key)} characters; at most {LONGEST_NAME} are allowed"
    elif not is_data_key(key):
        yield f"the key {_shown(key)} is invalid: use only letters, digits, '-', '_' and '.', not '..' first"


def _qualified_name_problems(subject: str, name: str) -> Iterator[str]:
    prefix, slash, own = name.rpartition("/")
    is_valid = len(own) <= _LONGEST_LABEL and bool(_LABEL.fullmatch(own))
    if slash:
        is_valid = is_valid and is_object_name(prefix)
    if not is_valid:
        yield (
            f"the {subject} {_shown(name)} has an invalid name: use at most {_LONGEST_LABEL} {_LABEL_RULE},"
            " with a domain and '/' before it if needed"
        )


def _shown(name: object) -> str:
    return repr(one_line(name, _LONGEST_SHOWN))


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "mapping" if isinstance(value, Mapping) else "list" if isinstance(value, list) else "binary"
