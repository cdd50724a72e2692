# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 2 of the storage: the fields as the table of fields has them, and nulls apart.

A definition is written by a JSON merge patch, which can't set a null. So the nulls of a job's mappings, which
remove what the store sets, are stored as JSON pointers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._text import one_line
from ..core_job import MAPPINGS, CoreJob
from ..field_table import FIELDS
from ..job_fields import given_fields
from ..stored_shapes import Lines, Text
from .patch_nulls import join_nulls, split_nulls
from .stored_fields import Fields

REPLACES, NULLS = "replaces", "nulls"
"""The fields that a job does not have: the type of the definition that this one replaces, and the nulls."""
FIELDS_V2: Fields = {
    **{name: (one.stored, one.form.shape) for name, one in FIELDS.items()},
    NULLS: ("nulls", Lines()),
    REPLACES: ("replaces", Text()),
}
"""The fields of version 2. A version 3 leaves here what they are today."""


def core_to_v2(job: CoreJob) -> dict[str, Any]:
    """The fields of a definition of a job."""
    return nulls_apart(given_fields(job))


def nulls_apart(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with the nulls of their mappings in a field of theirs."""
    mappings, nulls = split_nulls({name: fields[name] for name in MAPPINGS if name in fields})
    return {**fields, **mappings, **({NULLS: nulls} if nulls else {})}


def v2_to_core(stored: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields of a job that a definition sets, and their problems."""
    fields = {name: value for name, value in stored.items() if name not in (NULLS, REPLACES)}
    mappings = {name: fields[name] for name in MAPPINGS if name in fields}
    try:
        joined = join_nulls(mappings, stored.get(NULLS, ()))
    except ValueError as error:
        return fields, [f"spec.nulls {one_line(error)}"]
    strangers = joined.keys() - mappings.keys()
    return {**fields, **joined}, [
        f"spec.nulls has /{one_line(name)}, which leads nowhere" for name in strangers
    ]
