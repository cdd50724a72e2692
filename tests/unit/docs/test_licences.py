# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The licences of all Python packages that users install go with GPL-3.0-or-later."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from tests.cluster.paths import ROOT

PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
REQUIRED = [line.partition(">=")[0] for line in (ROOT / "meta" / "ee-requirements.txt").read_text().split()]
COMPATIBLE = {
    "Apache 2.0": "Apache-2.0",
    "Apache License Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache-2.0": "Apache-2.0",
    "BSD": "BSD",
    "BSD License": "BSD",
    "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-Clause": "BSD-3-Clause",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GPL-3.0-or-later": "GPL-3.0-or-later",
    "ISC": "ISC",
    "ISC License": "ISC",
    "MIT": "MIT",
    "MIT License": "MIT",
    "MIT-0": "MIT-0",
    "MPL-2.0": "MPL-2.0",
    "PSF-2.0": "PSF-2.0",
}
"""What packages write, and its SPDX name. Source: the Free Software Foundation's list of licences."""
NAME = re.compile(r"[\w.-]+")


def with_dependencies(*names: str) -> dict[str, Distribution]:
    """These packages with all that they need, as far as it is installed, by name."""
    packages: dict[str, Distribution] = {}
    left = list(names)
    while left:
        key = re.sub(r"[-_.]+", "-", left.pop()).lower()
        try:
            package = distribution(key)
        except PackageNotFoundError:
            continue  # For other versions of Python.
        if key not in packages:
            packages[key] = package
            required = [one for one in package.requires or () if "extra ==" not in one]
            left += [match[0] for one in required if (match := NAME.match(one))]
    return packages


def licences(package: Distribution) -> list[str]:
    """The licences of a package, as it names them, each of a combination."""
    metadata = package.metadata
    classified = [
        one.rpartition(" :: ")[2]
        for one in metadata.get_all("Classifier") or ()
        if one.startswith("License ::")
    ]
    text = metadata.get("License-Expression") or metadata.get("License") or " OR ".join(classified)
    return re.split(r" AND | OR ", text.partition("\n")[0])


def test_all_licences_are_compatible() -> None:
    packages = with_dependencies("ansible-core", *REQUIRED)
    assert len(packages) > 20
    others = {
        name: licences(one) for name, one in packages.items() if not set(licences(one)) <= {*COMPATIBLE}
    }
    assert others == {}


def test_the_page_names_those_of_the_requirements() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", PAGE.partition("## Licences")[2], re.MULTILINE))
    packages = with_dependencies("ansible-core", *REQUIRED)
    named = {
        name: [COMPATIBLE[one] for one in licences(packages[name.lower()])]
        for name in rows
        if name.lower() in packages
    }
    assert {name: rows[name] for name in named if not re.fullmatch(_pattern(named[name]), rows[name])} == {}
    assert {*REQUIRED, "ansible-core"} <= set(rows)


def _pattern(names: list[str]) -> str:
    """What the page says of these licences; older packages don't write which BSD licence they have."""
    return " or ".join(r"BSD(-\d-Clause)?" if one == "BSD" else re.escape(one) for one in names)
