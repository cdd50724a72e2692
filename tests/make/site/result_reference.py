# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page with each field of `kyma_result`."""

from __future__ import annotations

import json

from tests.make.results import SCHEMA

from .schema_fields import fields_of, table


def result_page() -> str:
    """The page in Markdown, from the JSON schema."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return "\n".join(
        (
            "# `kyma_result`\n",
            f"{schema['description']} [The role](roles/kyma/index.md#what-it-registers) shows how to use it."
            " [The JSON schema](files/docs/kyma_result.schema.json.md) says the same for programs.\n",
            table(fields_of(schema, schema["$defs"])),
            "",
        )
    )
