# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SBOM of a release (CycloneDX): its tarball, and what it needs, in the versions that are tested.

A range has no version that a scanner could compare with vulnerabilities. So the SBOM has the versions and
hashes of the locks. Licences and dependencies are those that the installed packages declare.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.paths import BUILD, ROOT

from . import content
from .command import CommandError, must_read
from .environments import LINT, MAIN
from .locks import current_lock_of

LICENCE = "GPL-3.0-or-later"
NEEDED = "ee.txt"
"""The requirements of an execution environment: ansible-core and the libraries."""
WHEEL = "collections.txt"
"""The requirements file of the wheel that has the collections."""
_LOCKED = re.compile(r"^([\w.-]+)==(\S+)((?:.*\\\n)*.*)$", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VALIDATE = """
import sys
from pathlib import Path
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text())
sys.exit(error and str(error))
"""
Json = dict[str, Any]


def write_sbom(target: Path, tarball: Path, info: Mapping[str, Any], seconds: int) -> None:
    """Write the SBOM of a tarball to a new file.

    Args:
        target: the path of the file.
        tarball: the path of the tarball.
        info: `collection_info` of its MANIFEST.json.
        seconds: the time of the tarball, since 1970.

    Raises:
        CommandError: if an entry would lack something, or the SBOM is invalid.
    """
    with tempfile.TemporaryDirectory() as folder:
        installed = Path(folder) / "installed.json"
        tool = (LINT.bin / "cyclonedx-py", "environment", "--output-reproducible", "--output-file")
        must_read([*tool, installed, MAIN.python], env={**LINT.variables, "SOURCE_DATE_EPOCH": str(seconds)})
        sbom: Json = json.loads(installed.read_text(encoding="utf-8"))
    lock, direct = current_lock_of(NEEDED).read_text(encoding="utf-8"), _direct_requirements()
    collections = [_collection(*parts) for parts in content.DEPENDENCIES]
    described = subject(info, hashlib.sha256(tarball.read_bytes()).hexdigest())
    sbom = complete(sbom, described, lock=lock, direct=direct, collections=collections)
    problems = problems_of(sbom, lock=lock, direct=direct)
    if problems:
        raise CommandError("\n".join(("The SBOM is incomplete:", *problems)))
    target.write_text(json.dumps(sbom, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    must_read([LINT.python, "-I", "-c", _VALIDATE, target], env=LINT.variables)


def subject(info: Mapping[str, Any], digest: str) -> Json:
    """The component that the SBOM describes: the collection, with the SHA-256 of its tarball."""
    name = f"{info['namespace']}.{info['name']}"
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": info["version"],
        "description": info["description"],
        "authors": [{"name": author} for author in info["authors"]],
        "licenses": [_licence(LICENCE)],
        "hashes": [_sha256(digest)],
        "purl": f"pkg:generic/{name}@{info['version']}",
        "externalReferences": [
            {"type": "vcs", "url": info["repository"]},
            {"type": "documentation", "url": info["documentation"]},
            {"type": "issue-tracker", "url": info["issues"]},
        ],
    }


def complete(
    sbom: Json, described: Json, *, lock: str, direct: Collection[str], collections: Sequence[Json]
) -> Json:
    """The SBOM of what a collection needs, from that of an environment that has more.

    Args:
        sbom: of the environment.
        described: the component that the SBOM is about.
        lock: the text of the lock with all Python packages that are needed.
        direct: the names of those that the collection itself needs.
        collections: the components of the collections that it needs.
    """
    locked = {(_normal(name), version): _HASH.findall(rest) for name, version, rest in _LOCKED.findall(lock)}
    packages = [
        _with_wheels(one, f"{one['name']}/{one['version']}", hashes)
        for one in sbom["components"]
        if (hashes := locked.get((_normal(one["name"]), one["version"])))
    ]
    references = {_normal(one["name"]): one["bom-ref"] for one in packages}
    of_collections = [one["bom-ref"] for one in collections]
    edges = {
        described["bom-ref"]: [*of_collections, *(references[name] for name in direct if name in references)]
    }
    edges |= {reference: [] for reference in of_collections}
    for one in sbom["dependencies"]:
        if one["ref"] in references.values():
            # Those of its extras, such as its own tests, are not needed.
            edges[one["ref"]] = [other for other in one.get("dependsOn", ()) if other in references.values()]
    return {
        **sbom,
        "metadata": {**sbom["metadata"], "authors": described["authors"], "component": described},
        "components": [*packages, *collections],
        "dependencies": [{"ref": one, "dependsOn": sorted(others)} for one, others in edges.items()],
    }


def problems_of(sbom: Json, *, lock: str, direct: Collection[str]) -> list[str]:
    """What is missing in an SBOM, each in a sentence.

    Args:
        sbom: with the packages of the lock.
        lock: the text of the lock with all Python packages that are needed.
        direct: the names of those that the collection itself needs.
    """
    components = [sbom["metadata"]["component"], *sbom["components"]]
    lacking = [
        f"{one['name']} has no {what}"
        for one in components
        for what, value in (
            ("version", one.get("version")),
            ("licence", one.get("licenses")),
            ("hash", one.get("hashes") or any(ref.get("hashes") for ref in one["externalReferences"])),
        )
        if not value
    ]
    everywhere = {_normal(name) for name, _version, rest in _LOCKED.findall(lock) if " ; " not in rest}
    missing = {*everywhere, *direct} - {_normal(one["name"]) for one in sbom["components"]}
    return lacking + [f"{name} is not installed as {NEEDED} is locked" for name in sorted(missing)]


def _collection(namespace: str, name: str) -> Json:
    """The component of an installed collection, with the hash of the wheel that has it."""
    manifest = BUILD / content.COLLECTIONS / namespace / name / "MANIFEST.json"
    info = json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]
    ((wheel, version, rest),) = _LOCKED.findall(current_lock_of(WHEEL).read_text(encoding="utf-8"))
    component = {
        "type": "library",
        "bom-ref": f"{namespace}.{name}",
        "name": f"{namespace}.{name}",
        "version": info["version"],
        # That of all collections in that wheel that we need.
        "licenses": [_licence(LICENCE)],
        "purl": f"pkg:generic/{namespace}.{name}@{info['version']}",
        "externalReferences": [{"type": "vcs", "url": info["repository"]}],
    }
    return _with_wheels(component, f"{wheel}/{version}", _HASH.findall(rest))


def _with_wheels(component: Json, release: str, hashes: Sequence[str]) -> Json:
    """A component with the hashes of the wheels of a release on PyPI, one of which contains it."""
    wheels = {
        "type": "distribution",
        "comment": "wheels",
        "url": f"https://pypi.org/project/{release}/",
        "hashes": [_sha256(digest) for digest in hashes],
    }
    return {**component, "externalReferences": [*component.get("externalReferences", ()), wheels]}


def _direct_requirements() -> set[str]:
    """The names of the Python packages that the collection itself needs."""
    lines = (ROOT / "meta" / "ee-requirements.txt").read_text(encoding="utf-8").splitlines()
    return {"ansible-core", *(_normal(line.partition(">=")[0]) for line in lines)}


def _normal(name: str) -> str:
    """The name of a Python package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(name: str) -> Json:
    return {"license": {"id": name, "acknowledgement": "declared"}}


def _sha256(digest: str) -> Json:
    return {"alg": "SHA-256", "content": digest}
