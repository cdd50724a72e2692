# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a write to one object on an API server: pure, and shared by all simulated servers."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import api_error
from .._cluster.fields.apply_merge import merge_intent, without_fields
from .._cluster.fields.field_sets import duplicates_in
from .._cluster.fields.json_patch import PatchRefused, apply_json_patch, apply_merge_patch
from .._cluster.fields.list_types import shapes_of
from .._cluster.fields.managed_fields import (
    APPLY,
    UPDATE,
    Manager,
    Owners,
    after_apply,
    after_update,
    change_between,
    conflict_status,
    conflicts,
    fields_by_manager,
    fields_of,
    managed_fields_entries,
)
from .._cluster.kinds import Kind
from .._deep_copy import deep_copy, without_nulls
from .crd_schema import ViolationType, misfits, with_defaults, without_unknown
from .server_rules import Lookup, ValidationCause, refused_resize, validation_causes

KEPT_BY_SERVER = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)


@dataclass(frozen=True)
class Write:
    """One write, in the server's view.

    Attributes:
        kind: the kind of the object.
        manager: the field manager.
        now: the time in RFC 3339, in whole seconds.
        lookup: reads other objects that affect this one.
    """

    kind: Kind
    manager: str
    now: str
    lookup: Lookup

    def created(self, obj: Object) -> Object:
        """The object after a plain create.

        Raises:
            Invalid: it does not pass validation, or can't be decoded.
        """
        with _decoding("create", obj):
            return self._created(obj)

    def _created(self, obj: Object) -> Object:
        new = self._normal(obj)
        ref = ref_of(new)
        if obj["metadata"].get("resourceVersion"):
            message = "resourceVersion should not be set on objects to be created"
            raise api_error(f"create {ref}", 500, {"message": message})
        if self.kind.has_status:
            new.pop("status", None)
        new = self._completed(new)
        self._refuse_misfits(new, ref, f"create {ref}")
        owner = Manager(self.manager, UPDATE, self.kind.resource.api_version)
        return self._finished(None, new, {owner: fields_of(new, shapes_of(self.kind))}, f"create {ref}")

    def applied(self, live: Object | None, intent: Object, *, force: bool) -> Object:
        """The object after a server-side apply of a complete intent.

        Raises:
            Conflict: another manager owns a field, and ``force`` is not set.
            Untypeable: a list has an item twice, or a custom resource does not fit its schema.
            Invalid: the result does not pass validation, or can't be decoded.
        """
        with _decoding("apply", intent):
            return self._applied(live, intent, force=force)

    def _applied(self, live: Object | None, intent: Object, *, force: bool) -> Object:
        desired = self._normal(intent)
        action = f"apply {ref_of(desired)}"
        if self.kind.has_status:
            desired.pop("status", None)
        shapes = shapes_of(self.kind)
        schema = self.kind.schema
        # The intent need not be complete: what is required may be there, or others may write it.
        self._refuse_untypeable(with_defaults(desired, schema) if schema else desired, action)
        if duplicates := duplicates_in(desired, shapes):
            raise self._untypeable(desired, action, duplicates[0])
        intended = fields_of(desired, shapes)
        writer = Manager(self.manager, APPLY)
        if live is None:
            if uid := desired["metadata"].get("uid"):
                message = (
                    f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                )
                raise self._modified(ref_of(desired), action, message)
            new = self._completed(desired)
            self._refuse_misfits(new, ref_of(desired), action)
            return self._finished(None, new, {writer: intended}, action)
        # Servers before 1.35 show the nulls of inner metadata; a null is no value that could change.
        live = without_nulls(live)
        self._refuse_other_version(live, desired, action)
        owners = fields_by_manager(live)
        others = frozenset[tuple[str, ...]]().union(*(f for m, f in owners.items() if m != writer))
        dropped = owners.get(writer, frozenset()) - intended
        new = without_fields(merge_intent(live, desired, shapes), dropped, others | intended, shapes)
        new["apiVersion"] = self.kind.resource.api_version
        new = self._completed(new)
        self._refuse_misfits(new, ref_of(desired), action)
        change = change_between(live, new, shapes)
        if not force and (conflicting := conflicts(owners, writer, change)):
            raise api_error(action, 409, dict(conflict_status(conflicting)))
        owners = after_apply(owners, writer, intended, change)
        return self._finished(live, new, owners, action, writer if any(change) else None)

    def patched(
        self, live: Object, patch: Mapping[str, Any] | Sequence[Mapping[str, Any]], subresource: str = ""
    ) -> Object:
        """The object after a JSON merge patch (a mapping) or a JSON patch (a sequence).

        Raises:
            Conflict: the patch has an outdated resourceVersion.
            Invalid: the patch does not fit, or the result does not pass validation, or can't be decoded.
        """
        with _decoding("patch", live):
            # As in an apply.
            return self._patched(without_nulls(live), patch, subresource)

    def _patched(
        self, live: Object, patch: Mapping[str, Any] | Sequence[Mapping[str, Any]], subresource: str
    ) -> Object:
        ref = ref_of(live)
        action = f"patch {ref}"
        try:
            new = (
                apply_merge_patch(live, patch)
                if isinstance(patch, Mapping)
                else apply_json_patch(live, patch)
            )
        except PatchRefused as error:
            message = "the server rejected our request due to an error in our request"
            raise api_error(action, 422, {"reason": "Invalid", "message": message}) from error
        self._refuse_other_version(live, new, action)
        new = self._normal(new)
        if subresource:
            new = {**deep_copy(live), **({"status": new["status"]} if "status" in new else {})}
        elif self.kind.has_status:
            new.pop("status", None)
            new |= {"status": live["status"]} if "status" in live else {}
        new = self._completed(new)
        self._refuse_misfits(new, ref, action)
        _leave_out_empty(new.get("metadata") or {})
        shapes = shapes_of(self.kind)
        owner = Manager(self.manager, UPDATE, self.kind.resource.api_version, subresource)
        change = change_between(live, new, shapes)
        owners = after_update(fields_by_manager(new), owner, change)
        return self._finished(live, new, owners, action, owner if any(change) else None)

    def _completed(self, new: Object) -> Object:
        """A custom resource with its schema's defaults, and without fields that the schema lacks."""
        if not self.kind.schema:
            return new
        completed: Object = with_defaults(without_unknown(new, self.kind.schema), self.kind.schema)
        return completed

    def _normal(self, obj: Object) -> Object:
        """A copy as decoded by the server: no nulls, no namespace if the kind has none, no stringData."""
        new: Object = without_nulls(obj)
        if not self.kind.resource.namespaced:
            new["metadata"].pop("namespace", None)
        if self.kind.resource.kind == "Secret" and not self.kind.is_custom:
            encoded = {
                key: base64.b64encode(str(text).encode()).decode()
                for key, text in (new.pop("stringData", None) or {}).items()
            }
            if encoded:
                new["data"] = {**(new.get("data") or {}), **encoded}
        return new

    def _finished(
        self, live: Object | None, new: Object, owners: Owners, action: str, wrote: Manager | None = None
    ) -> Object:
        """The object with all fields that the server maintains, validated."""
        # An apply may remove all of the metadata with the last field that its manager gives up.
        identity = (
            {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
            if live
            else {}
        )
        meta = new["metadata"] = {**identity, **(new.get("metadata") or {})}
        # A patch may have changed the managers and their versions.
        known = {"metadata": {"managedFields": meta.get("managedFields")}} if live else None
        for name in KEPT_BY_SERVER if live else ():
            meta.pop(name, None)
            if live and name in live["metadata"]:
                meta[name] = live["metadata"][name]
        if live is None:
            meta.pop("resourceVersion", None)
            meta.pop("generation", None)
            meta.update(uid=str(uuid.uuid4()), creationTimestamp=self.now)
            if self.kind.has_generation:
                meta["generation"] = 1
            _default(new)
        elif self.kind.has_generation and self._desired_part(live) != self._desired_part(new):
            meta["generation"] = meta.get("generation", 0) + 1
        if live is not None and new["kind"] == "CustomResourceDefinition":
            _store_versions(new)
        if (new["apiVersion"], new["kind"]) == ("v1", "Namespace"):
            # The server restores this label after every removal.
            meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}
        meta["managedFields"] = managed_fields_entries(
            owners, self.kind.resource.api_version, self.now, known, wrote
        )
        _leave_out_empty(meta)
        self._refuse(validation_causes(new, live) if not self.kind.is_custom else (), ref_of(new), action)
        if message := refused_resize(new, live, self.lookup):
            full_message = f'{self.kind.qualified_plural} "{meta["name"]}" is forbidden: {message}'
            raise api_error(action, 403, {"reason": "Forbidden", "message": full_message})
        return deep_copy(new)

    def _desired_part(self, obj: Object) -> Object:
        ignored = {"apiVersion", "metadata"} | ({"status"} if self.kind.has_status else set())
        return {key: value for key, value in obj.items() if key not in ignored}

    def _refuse_untypeable(self, intent: Object, action: str) -> None:
        violations = misfits(intent, self.kind.schema) if self.kind.schema else ()
        for misfit in violations:
            if misfit.typed_message:
                raise self._untypeable(intent, action, f".{misfit.field}: {misfit.typed_message}")

    def _refuse_misfits(self, obj: Object, ref: Ref, action: str) -> None:
        if not self.kind.schema:
            return
        self._refuse(
            [
                ValidationCause(m.fault.value, m.message, m.field)
                for m in misfits(obj, self.kind.schema)
                if m.fault is not ViolationType.UNKNOWN
            ],
            ref,
            action,
        )

    def _refuse(self, problems: Iterable[ValidationCause], ref: Ref, action: str) -> None:
        causes = [problem._asdict() for problem in problems]
        if causes:
            causes_text = ", ".join(f"{cause['field']}: {cause['message']}" for cause in causes)
            causes_text = f"[{causes_text}]" if len(causes) > 1 else causes_text
            message = f'{self.kind.qualified} "{ref.name}" is invalid: {causes_text}'
            raise api_error(
                action, 422, {"reason": "Invalid", "message": message, "details": {"causes": causes}}
            )

    def _refuse_other_version(self, live: Object, new: Object, action: str) -> None:
        """Raise unless a resourceVersion or uid in the write is that of the live object."""
        ref, meta, desired = ref_of(live), live["metadata"], new["metadata"]
        if (version := desired.get("resourceVersion")) and version != meta.get("resourceVersion"):
            message = (
                "the object has been modified; please apply your changes to the latest version and try again"
            )
            raise self._modified(ref, action, message)
        if (uid := desired.get("uid")) and uid != meta.get("uid"):
            problem = ValidationCause(
                "FieldValueInvalid", f'Invalid value: "{uid}": field is immutable', "metadata.uid"
            )
            self._refuse([problem], ref, action)

    def _modified(self, ref: Ref, action: str, message: str) -> Exception:
        text = f'Operation cannot be fulfilled on {self.kind.qualified_plural} "{ref.name}": {message}'
        return api_error(action, 409, {"reason": "Conflict", "message": text})

    def _untypeable(self, obj: Object, action: str, message: str) -> Exception:
        meta = obj["metadata"]
        where = f"{meta.get('namespace') or ''}/{meta['name']}"
        what = f"{obj['apiVersion']}, Kind={obj['kind']}"
        return api_error(
            action, 500, {"message": f"failed to create typed patch object ({where}; {what}): {message}"}
        )


@contextmanager
def _decoding(verb: str, obj: Object) -> Iterator[None]:
    """Refuse values of other types than the kind has, like a server: for example a text for a list.

    A server decodes an object into its type first. Here the types of built-in kinds are unknown, so only
    access to a value finds the error.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        message = f"{obj['kind']} in version {obj['apiVersion']!r} cannot be handled: {type(error).__name__}"
        raise api_error(f"{verb} {ref_of(obj)}", 400, {"reason": "BadRequest", "message": message}) from error


def _leave_out_empty(meta: Object) -> None:
    """Leave out the empty lists and mappings of an object's metadata, as the server stores none."""
    for name in ("labels", "annotations", "finalizers", "ownerReferences", "managedFields"):
        if not meta.get(name):
            meta.pop(name, None)


def _default(obj: Object) -> None:
    """Set defaults of the server, or of a controller within moments, that other code reads."""
    if obj["kind"] == "Namespace" and obj["apiVersion"] == "v1":
        obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
        obj["status"] = {"phase": "Active"}
    elif obj["kind"] == "PersistentVolumeClaim":
        obj["status"] = {"phase": "Pending"}
    elif obj["kind"] == "Secret":
        obj.setdefault("type", "Opaque")
    elif obj["kind"] == "CustomResourceDefinition":
        establish(obj)


def establish(crd: Object) -> None:
    """Mark a new CustomResourceDefinition as served, like a server within moments."""
    crd["status"] = {
        "conditions": [
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts"},
            {"type": "Established", "status": "True", "reason": "InitialNamesAccepted"},
        ],
        "acceptedNames": crd["spec"]["names"],
    }
    _store_versions(crd)


def _store_versions(crd: Object) -> None:
    status = dict(crd.get("status") or {})
    stored = list(status.get("storedVersions") or ())
    storage = [version["name"] for version in crd["spec"].get("versions") or () if version.get("storage")]
    status["storedVersions"] = stored + [name for name in storage if name not in stored]
    crd["status"] = status
