# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declarations of fields, for the metadata of an attribute's type (``Annotated``). Pure.

They say what a field means, its rules, and its place in a custom resource. A text alone is the meaning::

    uid: Annotated[str, "The uid of the object."] = ""
    version: Annotated[str, in_status("The release that was last deployed.", maxLength=100)] = ""
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Reader = Callable[[Any], Any]
METADATA, SPEC, STATUS = "metadata", "spec", "status"
"""The parts of a custom resource."""


class FieldNote(NamedTuple):
    """The declaration of a field. Of several, the last one with a value counts.

    Attributes:
        text: what the field means.
        name: of the field; by default that of the attribute, in camelCase.
        part: of the custom resource that has the field; empty for a field of a part.
        schema: rules, as an OpenAPI schema has them.
        rules: rules in CEL, each with its message.
        read: converts a value that was read.
        shape: the type whose schema the field has, if its value stays JSON.
        derived_from: the name of the field from which ``read`` derives this one, which is not written.
        is_inlined: whether the fields of its value are written beside it, instead of inside it.
        is_stored: whether it is a field at all.
        is_optional: whether records may lack it, though the attribute has no default.
    """

    text: str = ""
    name: str = ""
    part: str = ""
    schema: Mapping[str, Any] = {}
    rules: tuple[tuple[str, str], ...] = ()
    read: Reader | None = None
    shape: Any = None
    derived_from: str = ""
    is_inlined: bool = False
    is_stored: bool = True
    is_optional: bool = False


def described(
    text: str = "",
    *,
    name: str = "",
    part: str = "",
    rules: tuple[tuple[str, str], ...] = (),
    read: Reader | None = None,
    shape: Any = None,
    **schema: Any,
) -> FieldNote:
    """The declaration of a field; see :class:`FieldNote`."""
    return FieldNote(text, name, part, schema, rules, read, shape)


def in_metadata(name: str = "") -> FieldNote:
    """The declaration of a field of ``metadata``. Only the name and the namespace are written."""
    return FieldNote(name=name, part=METADATA)


def in_spec(text: str = "", **note: Any) -> FieldNote:
    """The declaration of a field of ``spec``; see :func:`described`."""
    return described(text, part=SPEC, **note)


def in_status(text: str = "", **note: Any) -> FieldNote:
    """The declaration of a field of ``status``; see :func:`described`."""
    return described(text, part=STATUS, **note)


def whole_part(part: str, text: str = "") -> FieldNote:
    """The declaration of an attribute that is the whole ``spec`` or ``status``."""
    return FieldNote(text, part=part, is_inlined=True)


def not_stored() -> FieldNote:
    """The declaration of an attribute that is no field, because its place in the record says its value."""
    return FieldNote(is_stored=False)
