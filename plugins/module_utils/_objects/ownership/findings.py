# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes by others to our objects, for reports and records: pure.

The owner of each field is in ``managedFields`` (KEP-555). Fields that keep an object running without
changing it are not reported: statuses, finalizers, owners, a claim's volume, and the bookkeeping of
Kubernetes' own controllers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from ..._cluster.fields.field_owners import owns
from ..._cluster.fields.field_sets import Field, Fields, as_text, from_fields_v1
from ..._text import one_line

PLATFORM_MANAGERS = frozenset(
    {
        # The server's name for an unnamed manager.
        "before-first-apply",
        "clusterrole-aggregation-controller",
        "cloud-controller-manager",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
    }
)
"""Field managers of Kubernetes itself: they write revisions or a bound volume's name, which is no drift."""
REPLICAS: Field = ("f:spec", "f:replicas")
_LIFE: tuple[Field, ...] = (
    ("f:status",),
    ("f:metadata", "f:finalizers"),
    ("f:metadata", "f:ownerReferences"),
    ("f:spec", "f:volumeName"),
)
_ANNOTATIONS: Field = ("f:metadata", "f:annotations")
_BINDING = ("f:pv.kubernetes.io/", "f:volume.kubernetes.io/", "f:volume.beta.kubernetes.io/")
_NAMED_ITEM = re.compile(r'\[name="([^"]*)"\]')


class DriftOutcome(StrEnum):
    """The outcome of a difference."""

    RESTORED = "restored"
    CEDED = "ceded"
    RETAINED = "kept"
    REMOVED = "removed"
    ADOPTED = "adopted"


_SENTENCES = {
    DriftOutcome.RESTORED: "{field} was changed by {manager}; it is restored",
    DriftOutcome.CEDED: "{field} is held by {manager} and left to it",
    DriftOutcome.RETAINED: "{field} was added by {manager}; it stays",
    DriftOutcome.REMOVED: "{field} was added by {manager}; it is removed",
    DriftOutcome.ADOPTED: "written by {manager} before; it is taken over with all that was written so",
}


@dataclass(frozen=True)
class Finding:
    """One change by someone else to an object.

    Attributes:
        ref: the object.
        field: The field, in the form of the server's messages. Empty for the whole object.
        manager: The field manager, with its subresource in brackets. Empty if not recorded.
        time: When that manager last wrote the object. Empty if not recorded.
        outcome: ``restored`` if people have changed it, ``ceded`` if another manager owns it, ``kept``
            if others have added it, ``removed`` if it is removed, ``adopted`` if others have created the
            object.
    """

    ref: Ref
    field: str
    manager: str
    time: str
    outcome: DriftOutcome

    @property
    def key(self) -> str:
        """The recorded form: field and owner."""
        return f"{self.field} ({self.manager})"

    def __str__(self) -> str:
        if not self.manager:
            change = f"{one_line(self.field)} was changed or removed" if self.field else "deleted"
            return f"{self.ref}: {change}, by whom is not recorded; it is restored"
        when = f" ({self.time})" if self.time else ""
        sentence = _SENTENCES[self.outcome].format(field=self.field, manager=f"{self.manager}{when}")
        return f"{self.ref}: {one_line(sentence)}"


def name_of(manager: Mapping[str, Any]) -> str:
    """The reported name of an entry of ``managedFields``: ``kube-controller-manager (scale)``."""
    name, subresource = str(manager.get("manager") or ""), manager.get("subresource")
    return f"{name} ({subresource})" if subresource else name


def foreign_findings(obj: Object, ceded: Sequence[Finding] = ()) -> list[Finding]:
    """The fields of an object just applied that others own: ceded ones, and those that they added.

    Args:
        obj: the server's answer.
        ceded: the fields that were not applied.
    """
    managers = obj["metadata"].get("managedFields") or ()
    ref = ref_of(obj)
    known = {finding.field for finding in ceded}
    findings = list(ceded)
    for manager, field in _foreign(managers):
        text = as_text(field).lstrip(".")
        if any(text == one or text.startswith((f"{one}.", f"{one}[")) for one in known):
            continue
        outcome = DriftOutcome.CEDED if field == REPLICAS else DriftOutcome.RETAINED
        findings.append(Finding(ref, text, name_of(manager), str(manager.get("time") or ""), outcome))
    return findings


def added_by(manager: Mapping[str, Any], managers: Sequence[Mapping[str, Any]]) -> Fields:
    """All fields that one manager has added to our object except replicas, with the maps around them.

    Args:
        manager: one entry of ``managers``.
        managers: the object's ``managedFields``.
    """
    tops = [field for holder, field in _foreign(managers) if holder is manager and field != REPLICAS]
    owned = from_fields_v1(manager.get("fieldsV1") or {})
    # The creator may not keep a map that is removed with its last item: that would be a conflict.
    maps = {top[:end] for top in tops for end in range(1, len(top))}
    return frozenset(
        field for field in owned if field in maps or any(field[: len(top)] == top for top in tops)
    )


def _foreign(managers: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Field]]:
    """The topmost fields that others own and we don't."""
    managers = list(managers)
    writers = [m for m in managers if m.get("manager") != FIELD_MANAGER]
    others = [m for m in writers if _writes_the_object(m) or _scales(m)]
    if not others:
        # The usual case; and parsing our fields of a large object takes long.
        return
    ours = frozenset[Field]().union(
        *(from_fields_v1(m.get("fieldsV1") or {}) for m in managers if m not in writers)
    )
    # The first writer of a map owns the map itself too.
    above = {field[:end] for field in ours for end in range(1, len(field))}
    for manager in others:
        if _scales(manager) and REPLICAS not in ours:
            yield manager, REPLICAS
        if not _writes_the_object(manager):
            continue
        theirs = from_fields_v1(manager.get("fieldsV1") or {}) - ours - {REPLICAS}
        for field in sorted(_topmost(theirs - above)):
            if not _keeps_alive(field):
                yield manager, field


def _keeps_alive(field: Field) -> bool:
    """Whether a field belongs to an object's operation, not its definition: a status, a claim's volume."""
    if any(field[: len(life)] == life for life in _LIFE):
        return True
    return field[:-1] == _ANNOTATIONS and field[-1].startswith(_BINDING)


def _writes_the_object(manager: Mapping[str, Any]) -> bool:
    return not manager.get("subresource") and manager.get("manager") not in PLATFORM_MANAGERS


def _scales(manager: Mapping[str, Any]) -> bool:
    return manager.get("subresource") in (None, "", "scale") and owns(manager, *REPLICAS)


def _topmost(fields: Fields) -> set[Field]:
    """Items of lists as a whole; for maps, their contents."""
    items = {field for field in fields if field[-1].startswith("k:")}
    outermost = {field for field in fields if not any(field[:end] in items for end in range(1, len(field)))}
    above = {field[:end] for field in outermost for end in range(1, len(field))}
    return {field for field in outermost if field in items or field not in above}


def unexplained(ref: Ref, fields: Iterable[str], explained: Iterable[Finding]) -> list[Finding]:
    """Changes of fields that no other manager owns: someone has removed the field.

    Args:
        ref: the object.
        fields: the changed ones, as paths such as ``spec.containers[main].image``.
        explained: the known findings about the object.
    """
    known = [_NAMED_ITEM.sub(r"[\1]", one.field) for one in explained if one.ref == ref]
    return [
        Finding(ref, field, "", "", DriftOutcome.RESTORED)
        for field in fields
        if not any(one.startswith(field) or field.startswith(one) for one in known)
    ]


def describe_findings(findings: Iterable[Finding]) -> list[str]:
    """Findings as text: one line each, except for objects that are taken over, which are many or none."""
    findings = list(findings)
    lines = [str(finding) for finding in findings if finding.outcome is not DriftOutcome.ADOPTED]
    adopted: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome is DriftOutcome.ADOPTED:
            adopted.setdefault(finding.manager, []).append(finding)
    for manager, objects in adopted.items():
        if len(objects) == 1:
            lines.append(str(objects[0]))
        else:
            lines.append(f"{len(objects)} objects were written by {manager} before; they are taken over")
    return lines


def finding_keys(findings: Iterable[Finding], ref: Ref, outcome: DriftOutcome) -> tuple[str, ...]:
    """The recorded form of one object's findings with an outcome."""
    return tuple(sorted({one.key for one in findings if one.ref == ref and one.outcome is outcome}))
