# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The migrations of the component ``checkout``."""

from __future__ import annotations

from base64 import b64encode

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Object,
    Phase,
    Verdict,
    blocked,
    needed,
    not_needed,
)

SETTINGS = "checkout-settings"
SECRET = "checkout-password"


class PasswordInSecret(Migration):
    """The password of the checkout is in a Secret, and no longer in a ConfigMap."""

    component = "checkout"
    phase = Phase.PRE
    remove_in = "1.2"

    def check(self, ctx: Context) -> Verdict:
        namespace = ctx.components["checkout"].namespace
        settings = ctx.cluster.get("v1", "ConfigMap", SETTINGS, namespace)
        password = password_in(settings)
        if password is None:
            return not_needed(f"ConfigMap {namespace}/{SETTINGS} has no password")
        secret = ctx.cluster.get("v1", "Secret", SECRET, namespace)
        if secret is not None and secret["data"].get("password") != encoded(password):
            return blocked(
                f"Secret {namespace}/{SECRET} has another password than ConfigMap {namespace}/{SETTINGS}: "
                f"take the wrong one out by hand"
            )
        return needed(f"ConfigMap {namespace}/{SETTINGS} has a password")

    def run(self, ctx: Context) -> None:
        namespace = ctx.components["checkout"].namespace
        settings = ctx.cluster.get("v1", "ConfigMap", SETTINGS, namespace)
        password = password_in(settings)
        if settings is None or password is None:
            return
        metadata = {"name": SECRET, "namespace": namespace}
        data = {"password": encoded(password)}
        ctx.cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
        # Last, as it is what check reads: if run is killed before this, the migration is still needed.
        # With uid and resourceVersion, the server refuses this if another client has changed the password.
        as_read = {key: settings["metadata"][key] for key in ("uid", "resourceVersion")}
        patch = {"metadata": as_read, "data": {"password": None}}
        ctx.cluster.patch("v1", "ConfigMap", SETTINGS, namespace, patch)
        ctx.log.info(f"the password is in Secret {namespace}/{SECRET} now")


def password_in(settings: Object | None) -> str | None:
    data = (settings or {}).get("data") or {}
    return data.get("password")


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()
