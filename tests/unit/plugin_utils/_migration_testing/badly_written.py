# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One good migration, and for each proof of the kit one that is as good but for what this proof is about."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    ClusterError,
    Context,
    LifecycleError,
    Migration,
    Object,
    Phase,
    Verdict,
    needed,
    not_needed,
)

TOKEN = "correct horse"
SHOP = "shop"


def config_map(name: str = "settings", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": SHOP},
        "data": data,
    }


def secret(**data: str) -> Object:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": SHOP},
        "data": encoded,
    }


BEFORE = [config_map(color="red", token=TOKEN)]
AFTER = [config_map(color="red"), secret(token=TOKEN)]


def cache() -> list[Object]:
    """A ConfigMap, and one that goes with it."""
    owner, owned = config_map("cache"), config_map("page", text="hello")
    owner["metadata"]["uid"] = "3bd1"
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "cache", "uid": "3bd1"}
    owned["metadata"]["ownerReferences"] = [reference]
    return [owner, owned]


def delete(ctx: Context, name: str, **how: Any) -> None:
    """Delete a ConfigMap that was read."""
    if live := ctx.cluster.get("v1", "ConfigMap", name, SHOP):
        ctx.cluster.delete("v1", "ConfigMap", name, SHOP, uid=live["metadata"]["uid"], **how)


class MoveToken(Migration):
    """The token is in a Secret, and no more in a ConfigMap."""

    component = "shop"
    phase = Phase.PRE
    name = "move-token"
    remove_in = "9.9"
    timeout = 20.0

    def check(self, ctx: Context) -> Verdict:
        if "token" in self.settings(ctx):
            return needed("ConfigMap shop/settings has the token")
        return not_needed("ConfigMap shop/settings has no token")

    def run(self, ctx: Context) -> None:
        token = self.settings(ctx).get("token")
        if token is not None:
            ctx.cluster.apply(secret(token=token))
            self.forget(ctx, token)

    def settings(self, ctx: Context) -> dict[str, str]:
        live = ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)
        data: dict[str, str] = (live or {}).get("data") or {}
        return data

    def forget(self, ctx: Context, token: str) -> None:
        as_read = {"op": "test", "path": "/data/token", "value": token}
        patch = [as_read, {"op": "remove", "path": "/data/token"}]
        ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, patch)


class SaysTooLittle(MoveToken):
    """The token is in a Secret."""

    remove_in = ""


class WritesInCheck(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        try:
            ctx.cluster.apply(config_map("i-was-here"))
        except LifecycleError:
            ctx.log.info("it was worth a try")
        return super().check(ctx)


class LeavesTheTokenThere(MoveToken):
    """The token is in a Secret, and in a ConfigMap of another name."""

    def forget(self, ctx: Context, token: str) -> None:
        as_read = {"op": "test", "path": "/data/token", "value": token}
        patch = [as_read, {"op": "move", "from": "/data/token", "path": "/data/old"}]
        ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, patch)


class AsksTooMuch(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        for name in ("a", "b", "c"):
            ctx.cluster.get("v1", "ConfigMap", name, SHOP)
        return super().check(ctx)


class SaysSomethingElseEachTime(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        verdict = super().check(ctx)
        live = ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)
        version = live["metadata"]["resourceVersion"] if live else ""
        return Verdict(verdict.state, f"{verdict.evidence} in version {version}")


class RecreatesTheConfigMap(MoveToken):
    """The token is in a Secret."""

    def run(self, ctx: Context) -> None:
        data = self.settings(ctx)
        if token := data.pop("token", None):
            ctx.cluster.apply(secret(token=token))
            ctx.cluster.apply(config_map("kept", **data))
            self.forget(ctx, token)
        copy = ctx.cluster.get("v1", "ConfigMap", "kept", SHOP)
        if copy:
            ctx.cluster.apply(config_map(**copy["data"]))
            delete(ctx, "kept")

    def forget(self, ctx: Context, token: str) -> None:
        del token
        delete(ctx, "settings")

    def check(self, ctx: Context) -> Verdict:
        if ctx.cluster.get("v1", "ConfigMap", "kept", SHOP):
            return needed("ConfigMap shop/kept is there")
        return super().check(ctx)


class AppliesWhatIsBeingDeleted(RecreatesTheConfigMap):
    """The token is in a Secret, and the ConfigMap is another one."""

    def forget(self, ctx: Context, token: str) -> None:
        MoveToken.forget(self, ctx, token)
        delete(ctx, "settings", propagation="Foreground")


class NeverSaysDone(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        self.settings(ctx)
        return needed("one never knows")


class RunsTwiceForMore(MoveToken):
    """The token is in a Secret, and the color is as it was."""

    def run(self, ctx: Context) -> None:
        data = self.settings(ctx)
        if "token" in data:
            super().run(ctx)
        else:
            ctx.cluster.patch(
                "v1", "ConfigMap", "settings", SHOP, {"data": {"color": data.get("color", "") + "!"}}
            )


class ForgetsBeforeItKnows(MoveToken):
    """The token is in a Secret."""

    def run(self, ctx: Context) -> None:
        token = self.settings(ctx).get("token")
        if token is None:
            return
        try:
            self.forget(ctx, token)
            ctx.cluster.apply(secret(token=token))
        except ClusterError:
            ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, {"data": {"token": token}})
            raise


class SwallowsErrors(MoveToken):
    """The token is in a Secret."""

    def run(self, ctx: Context) -> None:
        token = self.settings(ctx).get("token")
        if token is None:
            return
        try:
            ctx.cluster.apply(secret(token=token))
        except ClusterError as error:
            ctx.log.warning(str(error))
        self.forget(ctx, token)


class RepeatsWhatMayHaveHappened(MoveToken):
    """The token is in a Secret, and the settings know how often they have changed."""

    def forget(self, ctx: Context, _token: str) -> None:
        def count() -> None:
            changes = int(self.settings(ctx).get("changes", "0")) + 1
            data = {"token": None, "changes": str(changes)}
            ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, {"data": data})

        ctx.retry(count)


class Remembers(MoveToken):
    """The token is in a Secret."""

    _seen: ClassVar[list[str]] = []

    def check(self, ctx: Context) -> Verdict:
        if not self._seen:
            self._seen.append("a cluster")
        return super().check(ctx)


class CannotBeRehearsed(MoveToken):
    """The token is in a Secret."""

    def forget(self, ctx: Context, token: str) -> None:
        if not ctx.rehearsal:
            super().forget(ctx, token)


class HasNoPatience(MoveToken):
    """The token is in a Secret, and the ConfigMap is another one."""

    def run(self, ctx: Context) -> None:
        data = self.settings(ctx)
        if "token" in data:
            ctx.cluster.apply(secret(token=data["token"]))
            delete(ctx, "settings", propagation="Orphan")


class TakesMoreWithIt(MoveToken):
    """The token is in a Secret, and the cache is gone, with what belongs to it."""

    def forget(self, ctx: Context, token: str) -> None:
        delete(ctx, "cache")
        super().forget(ctx, token)


class NeedsWhatIsNotThereYet(MoveToken):
    """The token is in a Secret."""

    def settings(self, ctx: Context) -> dict[str, str]:
        data: dict[str, str] = ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)["data"]
        return data


class LosesUpdates(MoveToken):
    """The token is in a Secret."""

    def forget(self, ctx: Context, _token: str) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, {"data": {"token": None}})


class TidiesUp(MoveToken):
    """The token is in a Secret, and nothing else is in the namespace."""

    def forget(self, ctx: Context, token: str) -> None:
        for obj in ctx.cluster.list("v1", "ConfigMap", SHOP).items:
            if obj["metadata"]["name"] != "settings":
                delete(ctx, obj["metadata"]["name"])
        super().forget(ctx, token)


class DeletesByName(MoveToken):
    """The token is in a Secret, and there is no rubbish."""

    def forget(self, ctx: Context, token: str) -> None:
        ctx.cluster.delete("v1", "ConfigMap", "rubbish", SHOP)
        super().forget(ctx, token)


class LogsTheToken(MoveToken):
    """The token is in a Secret."""

    def forget(self, ctx: Context, token: str) -> None:
        super().forget(ctx, token)
        ctx.log.info(f"the token was {token}")


class ChangesWhatItReads(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        if "token" in (settings := self.settings(ctx)):
            del settings["token"]
            return needed("ConfigMap shop/settings has the token")
        return not_needed("ConfigMap shop/settings has no token")


class DecidesByRelease(MoveToken):
    """The token is in a Secret, in releases before 2.0."""

    def check(self, ctx: Context) -> Verdict:
        return super().check(ctx) if ctx.release.startswith("1") else not_needed("the release is too new")


class NeedsLabels(MoveToken):
    """The token is in a Secret, and the team is known."""

    def check(self, ctx: Context) -> Verdict:
        for live in ctx.cluster.list("v1", "ConfigMap", SHOP).items:
            if "team" in live["metadata"]["labels"]:
                return super().check(ctx)
        return not_needed("no team has a ConfigMap")


class ReadsAFile(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        return super().check(ctx) if Path("/etc/hostname").open() else not_needed("there is no host")


class ChangesTheVariables(MoveToken):
    """The token is in a Secret."""

    def check(self, ctx: Context) -> Verdict:
        ctx.variables["asked"] = True
        return super().check(ctx)


class Oversleeps(MoveToken):
    """The token is in a Secret, once nobody uses it."""

    def run(self, ctx: Context) -> None:
        while "token" in self.settings(ctx):
            ctx.sleep(1.0)


class Hangs(MoveToken):
    """The token is in a Secret, at some time."""

    def run(self, ctx: Context) -> None:
        while not ctx.cancelled():
            pass
