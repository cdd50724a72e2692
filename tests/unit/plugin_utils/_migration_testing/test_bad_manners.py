# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kit catches beside wrong results: in many ways each, and nothing that is in order."""

from __future__ import annotations

import base64
import datetime
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import suppress
from os import kill
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Component,
    Context,
    Migration,
    MigrationError,
    Verdict,
    blocked,
    needed,
    not_needed,
    parse_quantity,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils import migration_testing
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs import PROOFS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    Disproved,
    assert_migration,
    assert_not_needed,
)

from tests.unit.plugin_utils._migration_testing import badly_written as bad
from tests.unit.plugin_utils._migration_testing.badly_written import AFTER, BEFORE, SHOP, config_map, secret

Does = Callable[[Context], object]


def with_check(does: Does) -> type[Migration]:
    class Checks(bad.MoveToken):
        """The token is in a Secret."""

        def check(self, ctx: Context) -> Verdict:
            does(ctx)
            return super().check(ctx)

    return Checks


def with_run(does: Does) -> type[Migration]:
    class Runs(bad.MoveToken):
        """The token is in a Secret."""

        def run(self, ctx: Context) -> None:
            super().run(ctx)
            does(ctx)

    return Runs


def caught(
    migration: type[Migration], before: Any = BEFORE, after: Any = AFTER, *, by: str = "", **more: Any
) -> str:
    """What the kit says of a migration: all of its proofs, or the one that is named, which takes less."""
    proofs = [proof for proof in PROOFS if by in ("", proof.name)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migration_testing, "PROOFS", proofs)
        with pytest.raises(Disproved) as error:
            assert_migration(migration, before, after, **more)
    return str(error.value)


USES: dict[str, tuple[Does, str]] = {
    "open": (lambda _ctx: Path("/etc/hostname").open().close(), "uses a file (/etc/hostname)"),
    "listdir": (lambda _ctx: list(Path("/").iterdir()), "uses a file (os."),
    "tempfile": (lambda _ctx: tempfile.TemporaryFile().close(), "uses a file"),
    "a program": (lambda _ctx: subprocess.run(["true"], check=True), "starts a program (subprocess.Popen)"),
    "system": (lambda _ctx: os.system("true"), "starts a program (os.system)"),
    "a socket": (lambda _ctx: socket.socket().close(), "uses the network (socket.__new__)"),
    "a name": (lambda _ctx: socket.getaddrinfo("127.0.0.1", 1), "uses the network (socket.getaddrinfo)"),
    "a URL": (lambda _ctx: fails(lambda: urllib.request.urlopen("http://127.0.0.1:1")), "uses the network"),
    "a variable": (lambda _ctx: os.environ.update(SHOP="1"), "changes its process (os.putenv)"),
    "within a retry": (lambda ctx: ctx.retry(socket.gethostname), "uses the network (socket.gethostname)"),
}


def fails(does: Callable[[], object]) -> None:
    with suppress(OSError):
        does()


@pytest.mark.parametrize("use", USES)
def test_a_check_that_uses_more_than_the_cluster(use: str) -> None:
    does, message = USES[use]
    alone = "check uses the cluster alone"
    assert f"{alone}: on `before`, check {message}" in caught(with_check(does), by=alone)


class _ClosedLate:
    """Part of a circle of references, so that only the garbage collector ends it."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        socket.gethostname()


def test_objects_that_the_garbage_collector_ends_during_a_check_are_not_its_own() -> None:
    def creates_much(_ctx: Context) -> None:
        assert [[str(number)] for number in range(20_000)]

    def with_garbage(ctx: Context) -> None:
        garbage.append(_ClosedLate())
        garbage.clear()
        creates_much(ctx)

    garbage: list[_ClosedLate] = []
    assert_migration(with_check(with_garbage), BEFORE, AFTER)


def in_order(ctx: Context) -> None:
    """All that a check may well do."""
    import json
    import xml.dom.minidom

    assert json.loads("1")
    assert xml.dom.minidom
    datetime.datetime.fromisoformat("2026-01-01T00:00:00+00:00").strftime("%F")
    assert parse_quantity("10Gi") > parse_quantity("9000Mi")
    assert uuid.uuid5(uuid.NAMESPACE_DNS, "a")
    assert random.Random(4).getrandbits(8) >= 0
    ctx.log.info(f"{ctx.remaining():.0f} seconds are left")
    ctx.sleep(0.0)


def test_a_check_within_its_limits_is_accepted() -> None:
    sys.modules.pop("xml.dom.minidom", None)
    assert_migration(with_check(in_order), BEFORE, AFTER)


def test_a_run_within_its_limits_is_accepted() -> None:
    assert_migration(with_run(lambda _ctx: (time.time(), random.random())), BEFORE, AFTER)


def swallow(does: Does) -> Does:
    def quietly(ctx: Context) -> None:
        with suppress(BaseException):
            does(ctx)

    return quietly


ENDS: dict[str, Does] = {
    "exit": lambda _ctx: os._exit(0),
    "abort": lambda _ctx: os.abort(),
    "kill": lambda _ctx: os.kill(os.getpid(), signal.SIGKILL),
    "its group": lambda _ctx: os.killpg(0, signal.SIGTERM),
    "imported": lambda _ctx: kill(os.getpid(), signal.SIGTERM),
    "swallowed": swallow(lambda _ctx: kill_itself()),
    "again and again": lambda ctx: [swallow(lambda _ctx: kill_itself())(ctx) for _time in range(3)],
    "a thread": lambda _ctx: wait_for(threading.Thread(target=quietly_kill_itself)),
}


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def quietly_kill_itself() -> None:
    with suppress(BaseException):
        kill_itself()


def wait_for(thread: threading.Thread) -> None:
    thread.start()
    thread.join()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("where", [with_check, with_run])
def test_a_migration_that_ends_its_process_is_caught(
    end: str, where: Callable[[Does], type[Migration]]
) -> None:
    message = caught(where(ENDS[end]))
    assert "ends the process that all migrations share" in message


def test_a_migration_that_ends_its_process_only_after_an_error_is_caught() -> None:
    class GivesUp(bad.MoveToken):
        """The token is in a Secret."""

        def forget(self, ctx: Context, token: str) -> None:
            try:
                super().forget(ctx, token)
            except Exception:
                kill_itself()

    assert "with an error instead of the effect of call 4" in caught(GivesUp)


def test_a_migration_that_ends_its_process_without_need_is_caught() -> None:
    with pytest.raises(Disproved, match="ends the process"):
        assert_not_needed(with_check(lambda _ctx: kill_itself()))


def test_a_check_that_exits_has_failed() -> None:
    assert "its check failed: SystemExit: 0" in caught(with_check(lambda _ctx: sys.exit(0)))


EMPTY: dict[str, Does] = {
    "an object that is not there": lambda ctx: ctx.cluster.get("v1", "ConfigMap", "none", SHOP)["data"],
    "an object of before": lambda ctx: ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)["data"],
    "the first of a list": lambda ctx: ctx.cluster.list("v1", "ConfigMap", SHOP).items[0],
    "its own error": lambda ctx: require(ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)),
}


def require(obj: object) -> None:
    if not obj:
        raise MigrationError("there is no ConfigMap shop/settings")


@pytest.mark.parametrize("read", [name for name in EMPTY if name != "an object that is not there"])
def test_a_check_that_raises_on_an_empty_cluster(read: str) -> None:
    message = caught(with_check(EMPTY[read]), by="check works on an empty cluster")
    assert "check works on an empty cluster: on an empty cluster, its check failed: " in message
    assert "it would block each first installation" in message


def test_a_check_that_blocks_an_empty_cluster() -> None:
    class Blocks(bad.MoveToken):
        """The token is in a Secret."""

        def check(self, ctx: Context) -> Verdict:
            if ctx.cluster.get("v1", "ConfigMap", "settings", SHOP) is None:
                return blocked("there is no ConfigMap shop/settings")
            return super().check(ctx)

    assert "on an empty cluster, blocked ('there is no ConfigMap shop/settings')" in caught(Blocks)


class Paints(Migration):
    """The settings are green."""

    component = "shop"
    phase = bad.Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        live = self.read(ctx)
        if live and live["data"].get("color") == "red":
            return needed("ConfigMap shop/settings is red")
        return not_needed("ConfigMap shop/settings is not red")

    def run(self, ctx: Context) -> None:
        live = self.read(ctx)
        if live and live["data"].get("color") == "red":
            self.paint(ctx, live)

    def paint(self, ctx: Context, live: Object) -> None:
        raise NotImplementedError

    def read(self, ctx: Context) -> Object | None:
        return ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)


def painting(write: Callable[[Context, Object, Object], object]) -> type[Migration]:
    class PaintsSo(Paints):
        """The settings are green."""

        def paint(self, ctx: Context, live: Object) -> None:
            write(ctx, live, {**live["data"], "color": "green"})

    return PaintsSo


def patch(ctx: Context, patch: Any) -> None:
    ctx.cluster.patch("v1", "ConfigMap", "settings", SHOP, patch)


RED = {
    **config_map(color="red", owner="the shop"),
    "metadata": {**config_map()["metadata"], "annotations": {"a": "b"}},
}
GREEN = {**RED, "data": {"color": "green", "owner": "the shop"}}
LOSING: dict[str, Callable[[Context, Object, Object], object]] = {
    "all of the data": lambda ctx, _live, data: patch(
        ctx, [{"op": "replace", "path": "/data", "value": data}]
    ),
    "each key": lambda ctx, _live, data: patch(ctx, {"data": data}),
    "the annotations": lambda ctx, live, _data: patch(
        ctx,
        [
            {"op": "replace", "path": "/metadata/annotations", "value": live["metadata"]["annotations"]},
            {"op": "replace", "path": "/data/color", "value": "green"},
        ],
    ),
    "by force": lambda ctx, _live, data: ctx.cluster.apply(config_map(**data), force=True),
}
KEEPING: dict[str, Callable[[Context, Object, Object], object]] = {
    "one key": lambda ctx, _live, _data: patch(ctx, {"data": {"color": "green"}}),
    "with the resourceVersion": lambda ctx, live, data: patch(
        ctx, {"metadata": {"resourceVersion": live["metadata"]["resourceVersion"]}, "data": data}
    ),
}


@pytest.mark.parametrize("write", LOSING)
def test_a_lost_update(write: str) -> None:
    message = caught(painting(LOSING[write]), [RED], [GREEN], by="it loses no update of others")
    assert "it loses no update of others: another client " in message
    assert "before call 3 (" in message


@pytest.mark.parametrize("write", KEEPING)
def test_no_lost_update(write: str) -> None:
    assert_migration(painting(KEEPING[write]), [RED], [GREEN])


POD = {"containers": [{"name": "a", "image": "registry.example.com/a:1"}]}
LABELS = {"acme.example/cache": "yes"}


def pod(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SHOP, "labels": LABELS},
        "spec": POD,
    }


def storage_class(name: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "example.com/a",
    }


def deleting(api_version: str, kind: str, namespace: str | None, selector: str = "") -> type[Migration]:
    class Deletes(Migration):
        """There are none of them."""

        component = "shop"
        phase = bad.Phase.PRE
        keep = "for tests"
        irreversible = "They are gone."

        def check(self, ctx: Context) -> Verdict:
            objects = self.find(ctx)
            return needed(f"there are {len(objects)}") if objects else not_needed("there are none")

        def run(self, ctx: Context) -> None:
            for obj in self.find(ctx):
                meta = obj["metadata"]
                ctx.cluster.delete(api_version, kind, meta["name"], meta.get("namespace"), uid=meta["uid"])
            ctx.sleep(1.0)

        def find(self, ctx: Context) -> list[Object]:
            objects = ctx.cluster.list(api_version, kind, namespace, label_selector=selector).items
            return [obj for obj in objects if not obj["metadata"].get("deletionTimestamp")]

    return Deletes


def test_objects_of_others_in_the_namespace() -> None:
    message = caught(deleting("v1", "Pod", SHOP), [pod("a")], [])
    assert "it changes no other objects: Pod shop/another-client-0-a is gone" in message
    assert "Pod bystanders/a is gone" not in message


def test_objects_of_others_in_other_namespaces() -> None:
    assert "Pod bystanders/a is gone" in caught(deleting("v1", "Pod", None), [pod("a")], [])


def test_objects_of_others_that_are_in_no_namespace() -> None:
    message = caught(deleting("storage.k8s.io/v1", "StorageClass", None), [storage_class("fast")], [])
    assert "StorageClass another-client-0-fast is gone" in message


def test_objects_of_another_kind_than_those_that_are_named() -> None:
    tidies = with_run(lambda ctx: [delete(ctx, obj) for obj in ctx.cluster.list("v1", "Pod", SHOP).items])
    assert "Pod shop/another-client-0-a is gone" in caught(tidies)


def delete(ctx: Context, obj: Object) -> None:
    ctx.cluster.delete("v1", "Pod", obj["metadata"]["name"], SHOP, uid=obj["metadata"]["uid"])


def test_objects_that_a_label_selects_may_go() -> None:
    assert_migration(deleting("v1", "Pod", SHOP, "acme.example/cache=yes"), [pod("a")], [])


KEY = "a-very-secret-key"
ENCODED = base64.b64encode(KEY.encode()).decode()
LEAKS: dict[str, tuple[Does, str]] = {
    "info": (lambda ctx: ctx.log.info(f"it is {KEY}!"), "its log"),
    "warning": (lambda ctx: ctx.log.warning(KEY), "its log"),
    "encoded": (lambda ctx: ctx.log.info(ENCODED), "its log"),
    "print": (lambda _ctx: print(KEY), "its output"),
    "stderr": (lambda _ctx: print(KEY, file=sys.stderr), "its output"),
    "logging": (lambda _ctx: logging.getLogger("shop").debug("it is %s", KEY), "its output"),
}


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("where", [with_check, with_run])
def test_a_migration_that_leaks_the_value_of_a_secret(
    leak: str, where: Callable[[Does], type[Migration]]
) -> None:
    does, place = LEAKS[leak]
    theirs = {**secret(key=KEY), "metadata": {"name": "theirs", "namespace": SHOP}}
    message = caught(where(does), [*BEFORE, theirs], [*AFTER, theirs], by="it shows no values of Secrets")
    assert f"the value of data.key of Secret shop/theirs is in {place}" in message
    assert KEY not in message
    assert ENCODED not in message


def test_the_value_of_a_secret_is_evidence() -> None:
    class Says(bad.MoveToken):
        """The token is in a Secret."""

        def check(self, ctx: Context) -> Verdict:
            verdict = super().check(ctx)
            return Verdict(verdict.state, f"{verdict.evidence}, and the key is {KEY}")

    theirs = {**secret(key=KEY), "metadata": {"name": "theirs", "namespace": SHOP}}
    assert "of Secret shop/theirs is in its evidence" in caught(Says, [*BEFORE, theirs], [*AFTER, theirs])


@pytest.mark.parametrize("form", ["plain", "encoded"])
def test_the_value_of_a_secret_is_in_another_object(form: str) -> None:
    class Copies(Migration):
        """The settings have the key."""

        component = "shop"
        phase = bad.Phase.PRE
        keep = "for tests"

        def check(self, ctx: Context) -> Verdict:
            live = ctx.cluster.get("v1", "ConfigMap", "settings", SHOP)
            if not live or "key" in live["data"]:
                return not_needed("ConfigMap shop/settings has the key")
            return needed("ConfigMap shop/settings has no key")

        def run(self, ctx: Context) -> None:
            live = ctx.cluster.get("v1", "Secret", "token", SHOP)
            assert live
            encoded = live["data"]["key"]
            key = encoded if form == "encoded" else base64.b64decode(encoded).decode()
            patch(ctx, {"data": {"key": key}})

    theirs = secret(key=KEY)
    copied = KEY if form == "plain" else ENCODED
    message = caught(Copies, [config_map(color="red"), theirs], [config_map(color="red", key=copied), theirs])
    assert "the value of data.key of Secret shop/token is in ConfigMap shop/settings" in message


def test_a_check_that_changes_manifests() -> None:
    manifest = config_map("settings", color="red")

    def change(ctx: Context) -> None:
        ctx.components["shop"].objects[0]["data"]["color"] = "green"

    for where in (with_check, with_run):
        message = caught(where(change), components=[Component("shop", SHOP, [manifest])])
        assert "it does not change the release: it changes ctx.components['shop'], which says what" in message
    assert manifest["data"] == {"color": "red"}
