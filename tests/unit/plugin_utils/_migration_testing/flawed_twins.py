# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of migrations that differ by one flaw, and further good ones: a check, a run and two states each."""

from __future__ import annotations

import base64
import datetime
import faulthandler
import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    ClusterError,
    Conflict,
    Context,
    Migration,
    MigrationError,
    Object,
    Phase,
    Verdict,
    blocked,
    needed,
    not_needed,
)

SHOP = "shop"
NOTE = "acme.example/note"
DEPLOYMENT, ROLE = ("apps/v1", "Deployment"), ("rbac.authorization.k8s.io/v1", "Role")
CONFIG, SECRET, POD, SERVICE = (("v1", kind) for kind in ("ConfigMap", "Secret", "Pod", "Service"))

Kind = tuple[str, str]
Run = Callable[[Context], object]
Check = Callable[[Context], Verdict]


def made(kind: Kind, name: str, *, annotations: Any = None, labels: Any = None, **fields: Any) -> Object:
    meta = {"name": name, "namespace": SHOP, "annotations": annotations, "labels": labels}
    given = {key: value for key, value in meta.items() if value}
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": given, **fields}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def get(ctx: Context, kind: Kind, name: str) -> Object:
    return ctx.cluster.get(*kind, name, SHOP) or {}


def patch(ctx: Context, kind: Kind, name: str, content: Any) -> None:
    ctx.cluster.patch(*kind, name, SHOP, content)


def meta_of(obj: Object, field_name: str) -> dict[str, str]:
    entries: dict[str, str] = (obj.get("metadata") or {}).get(field_name) or {}
    return entries


def as_read(obj: Object) -> Object:
    return {key: obj["metadata"][key] for key in ("uid", "resourceVersion")}


def verdict(is_needed: object, evidence: str = "settings") -> Verdict:
    return needed(f"{evidence} must change") if is_needed else not_needed(f"{evidence} are migrated")


def migration(check: Check, run: Run, undo: Run | None = None, **attributes: Any) -> type[Migration]:
    """A class of these functions."""

    class Made(Migration):
        """The shop is migrated."""

        component = "shop"
        phase = Phase.PRE
        keep = "for tests"
        timeout = 20.0

        def check(self, ctx: Context) -> Verdict:
            return check(ctx)

        def run(self, ctx: Context) -> None:
            if check(ctx).state == "needed":
                run(ctx)

    if undo:
        attributes["undo"] = lambda _self, ctx: undo(ctx)
    for name, value in attributes.items():
        setattr(Made, name, value)
    return Made


@dataclass(frozen=True)
class Pair:
    """A flawed migration, its repaired twin, and what the kit says of the flaw."""

    flawed: type[Migration]
    repaired: type[Migration]
    before: list[Object]
    after: list[Object]
    says: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    needs_an_error: bool = False
    """Whether it shows only after an error of a call."""


def runs(
    check: Check, flawed: Run, repaired: Run, before: Any, after: Any, *says: str, **options: Any
) -> Pair:
    return Pair(migration(check, flawed), migration(check, repaired), before, after, says, options)


def checks(flawed: Check, repaired: Check, *says: str, before: Any = None, **options: Any) -> Pair:
    """A pair of which only the check differs; it paints the settings green."""
    twins = (migration(check, paint) for check in (flawed, repaired))
    more = before or []
    return Pair(*twins, [RED, *more], [GREEN, *more], says, options)


RED, GREEN = (made(CONFIG, "settings", data={"color": color, "owner": "shop"}) for color in ("red", "green"))


def is_red(ctx: Context) -> bool:
    return (get(ctx, CONFIG, "settings").get("data") or {}).get("color") == "red"


def paint(ctx: Context) -> None:
    patch(ctx, CONFIG, "settings", {"data": {"color": "green"}})


def check_red(ctx: Context) -> Verdict:
    return verdict(is_red(ctx))


def also(does: Run) -> Check:
    def check(ctx: Context) -> Verdict:
        does(ctx)
        return check_red(ctx)

    return check


# Lost updates.

LABELLED = made(CONFIG, "settings", labels={"team": "a"}, data={"a": "b"})
TIERED = made(CONFIG, "settings", labels={"team": "a", "acme.example/tier": "1"}, data={"a": "b"})


def lacks_tier(ctx: Context) -> Verdict:
    live = get(ctx, CONFIG, "settings")
    return verdict(live and "acme.example/tier" not in meta_of(live, "labels"))


def relabel_all(ctx: Context) -> None:
    labels = {**meta_of(get(ctx, CONFIG, "settings"), "labels"), "acme.example/tier": "1"}
    patch(ctx, CONFIG, "settings", [{"op": "add", "path": "/metadata/labels", "value": labels}])


def relabel_one(ctx: Context) -> None:
    patch(ctx, CONFIG, "settings", {"metadata": {"labels": {"acme.example/tier": "1"}}})


def role(*resources: str) -> Object:
    rules = [{"apiGroups": [""], "resources": [one], "verbs": ["get"]} for one in resources]
    return made(ROLE, "reader", rules=rules)


def service(*ips: str) -> Object:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    return made(SERVICE, "front", spec={"ports": ports, "externalIPs": list(ips)})


def extending(kind: Kind, name: str, path: tuple[str, ...], item: Any, *, guarded: bool) -> tuple[Check, Run]:
    """Append an item to a list of an object."""

    def items(live: Object) -> list[Any]:
        return list(functools.reduce(lambda value, key: value.get(key) or {}, path, live) or [])

    def check(ctx: Context) -> Verdict:
        live = get(ctx, kind, name)
        return verdict(live and item not in items(live), name)

    def run(ctx: Context) -> None:
        live = get(ctx, kind, name)
        content: Any = [*items(live), item]
        for key in reversed(path):
            content = {key: content}
        patch(ctx, kind, name, {**content, "metadata": as_read(live)} if guarded else content)

    return check, run


def extends(before: Object, after: Object, path: tuple[str, ...], item: Any, *says: str) -> Pair:
    kind, name = (before["apiVersion"], before["kind"]), before["metadata"]["name"]
    flawed, repaired = (
        migration(*extending(kind, name, path, item, guarded=guarded)) for guarded in (False, True)
    )
    return Pair(flawed, repaired, [before], [after], says)


OLD, NEW = (made(CONFIG, name, data={"a": "first", "b": "second"}) for name in ("old", "new"))


def has_old(ctx: Context) -> Verdict:
    return verdict(get(ctx, CONFIG, "old"), "ConfigMap shop/old")


def rename(*, guarded: bool) -> Run:
    def run(ctx: Context) -> None:
        old = get(ctx, CONFIG, "old")
        ctx.cluster.apply(made(CONFIG, "new", data=old.get("data") or {}))
        meta = old["metadata"]
        how = {"resource_version": meta["resourceVersion"]} if guarded else {}
        ctx.cluster.delete(*CONFIG, "old", SHOP, uid=meta["uid"], **how)

    return run


def deployment(image: str, name: str = "front", **meta: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "containers": [{"name": "web", "image": image}, {"name": "log", "image": "example.com/l:1"}]
        },
    }
    selector = {"matchLabels": {"app": name}}
    return made(DEPLOYMENT, name, spec={"replicas": 2, "selector": selector, "template": template}, **meta)


OLD_IMAGE, NEW_IMAGE = "example.com/w:1", "example.com/w:2"


def containers_of(workload: Object) -> list[Object]:
    return workload["spec"]["template"]["spec"]["containers"] if workload else []


def index_of_old(workload: Object) -> int | None:
    return next((n for n, one in enumerate(containers_of(workload)) if one["image"] == OLD_IMAGE), None)


def has_old_image(ctx: Context) -> Verdict:
    return verdict(index_of_old(get(ctx, DEPLOYMENT, "front")) is not None, "Deployment shop/front")


def set_image(*, guarded: bool) -> Run:
    def run(ctx: Context) -> None:
        path = f"/spec/template/spec/containers/{index_of_old(get(ctx, DEPLOYMENT, 'front'))}/image"
        test = [{"op": "test", "path": path, "value": OLD_IMAGE}] if guarded else []
        patch(ctx, DEPLOYMENT, "front", [*test, {"op": "replace", "path": path, "value": NEW_IMAGE}])

    return run


def retrying(*, rereads: bool) -> Run:
    def run(ctx: Context) -> None:
        first = get(ctx, CONFIG, "settings")

        def once() -> None:
            live = get(ctx, CONFIG, "settings")
            data = {**(live if rereads else first)["data"], "color": "green"}
            patch(ctx, CONFIG, "settings", {"metadata": as_read(live), "data": data})

        ctx.retry(once, on=(Conflict,))

    return run


SECONDS, TIMED = (made(CONFIG, "settings", data=data) for data in ({"seconds": "30"}, {"time": "30s"}))


def has_seconds(ctx: Context) -> Verdict:
    return verdict("seconds" in (get(ctx, CONFIG, "settings").get("data") or {}))


def convert(*, guarded: bool) -> Run:
    def run(ctx: Context) -> None:
        live = get(ctx, CONFIG, "settings")
        content = {"data": {"seconds": None, "time": f"{live['data']['seconds']}s"}}
        patch(ctx, CONFIG, "settings", {**content, "metadata": as_read(live)} if guarded else content)

    return run


# Objects of others.


def every_deployment(ctx: Context) -> list[Object]:
    return [
        one for one in ctx.cluster.list(*DEPLOYMENT, SHOP).items if NOTE not in meta_of(one, "annotations")
    ]


def the_deployment(ctx: Context) -> list[Object]:
    return [one for one in every_deployment(ctx) if one["metadata"]["name"] == "front"]


def annotating(find: Callable[[Context], list[Object]]) -> type[Migration]:
    def run(ctx: Context) -> None:
        for one in find(ctx):
            patch(ctx, DEPLOYMENT, one["metadata"]["name"], {"metadata": {"annotations": {NOTE: "yes"}}})

    return migration(lambda ctx: verdict(find(ctx), "Deployments"), run)


PARTS = {"app.kubernetes.io/part-of": "shop", "app.kubernetes.io/component": "cache"}
PODS = [
    made(POD, name, labels=PARTS, spec={"containers": [{"name": "a", "image": "example.com/a:1"}]})
    for name in ("cache-0", "cache-1")
]


def deleting(selector: str) -> type[Migration]:
    def find(ctx: Context) -> list[Object]:
        pods = ctx.cluster.list(*POD, SHOP, label_selector=selector).items
        return [one for one in pods if not one["metadata"].get("deletionTimestamp")]

    def run(ctx: Context) -> None:
        for one in find(ctx):
            ctx.cluster.delete(*POD, one["metadata"]["name"], SHOP, uid=one["metadata"]["uid"])

    return migration(lambda ctx: verdict(find(ctx), "Pods"), run, irreversible="Pods are gone.")


FAILED, RUNNING = (
    made(POD, name, labels={NOTE: "worker"}, spec=PODS[0]["spec"], status={"phase": phase})
    for name, phase in (("worker-0", "Failed"), ("worker-1", "Running"))
)


def deleting_failed(selector: str) -> type[Migration]:
    def find(ctx: Context) -> list[Object]:
        pods = ctx.cluster.list(*POD, SHOP, label_selector=selector).items
        return [
            one
            for one in pods
            if (one.get("status") or {}).get("phase") == "Failed"
            and not one["metadata"].get("deletionTimestamp")
        ]

    def run(ctx: Context) -> None:
        for one in find(ctx):
            ctx.cluster.delete(*POD, one["metadata"]["name"], SHOP, uid=one["metadata"]["uid"])

    return migration(lambda ctx: verdict(find(ctx), "Pods"), run, irreversible="Pods are gone.")


UNLABELLED = [made(POD, name, spec=PODS[0]["spec"]) for name in ("cache-0", "cache-1")]


def deleting_named(is_ours: Callable[[str], bool]) -> type[Migration]:
    def find(ctx: Context) -> list[Object]:
        pods = ctx.cluster.list(*POD, SHOP).items
        live = [one for one in pods if not one["metadata"].get("deletionTimestamp")]
        return [one for one in live if is_ours(one["metadata"]["name"])]

    def run(ctx: Context) -> None:
        for one in find(ctx):
            ctx.cluster.delete(*POD, one["metadata"]["name"], SHOP, uid=one["metadata"]["uid"])

    return migration(lambda ctx: verdict(find(ctx), "Pods"), run, irreversible="Pods are gone.")


EARLY = [made(CONFIG, "aa", data={"color": color}) for color in ("red", "green")]


def painting_one(name: Callable[[Context], str]) -> type[Migration]:
    def check(ctx: Context) -> Verdict:
        return verdict((get(ctx, CONFIG, "aa").get("data") or {}).get("color") == "red")

    return migration(check, lambda ctx: patch(ctx, CONFIG, name(ctx), {"data": {"color": "green"}}))


def deleting_old(*, by_uid: bool) -> Run:
    def run(ctx: Context) -> None:
        how = {"uid": get(ctx, CONFIG, "old")["metadata"]["uid"]} if by_uid else {}
        ctx.cluster.delete(*CONFIG, "old", SHOP, **how)

    return run


# The process.


def set_variable(_ctx: Context) -> None:
    os.environ["SHOP_MIGRATED_AT"] = str(time.monotonic_ns())


def during(begin: Run, end: Run, *, restores: bool) -> Run:
    """A run that changes the process for a while, also if a call fails meanwhile."""

    def careless(ctx: Context) -> None:
        begin(ctx)
        paint(ctx)
        end(ctx)

    def careful(ctx: Context) -> None:
        begin(ctx)
        try:
            paint(ctx)
        finally:
            end(ctx)

    return careful if restores else careless


def changes(begin: Run, end: Run, *says: str) -> Pair:
    twins = (during(begin, end, restores=restores) for restores in (False, True))
    pair = runs(check_red, *twins, [RED], [GREEN], "it keeps no state", *says)
    return replace(pair, needs_an_error=True)


DIRECTORY, MASK = Path.cwd(), os.umask(0o077)
os.umask(MASK)
PROGRAMS: list[subprocess.Popen[bytes]] = []


def begin_program(*, waits: bool) -> Run:
    def run(ctx: Context) -> None:
        PROGRAMS.append(subprocess.Popen(["sleep", "0" if waits else "60"]))
        if waits:
            PROGRAMS.pop().wait()
        paint(ctx)

    return run


def restore_process() -> None:
    """What the test has to do after the flawed ones."""
    faulthandler.unregister(signal.SIGUSR1)
    while PROGRAMS:
        PROGRAMS[-1].kill()
        PROGRAMS.pop().wait()


# Checks.


def red_ones(ctx: Context) -> set[str]:
    return {
        one["metadata"]["name"]
        for one in ctx.cluster.list(*CONFIG, SHOP).items
        if one["data"]["color"] == "red"
    }


def named_in(order: Callable[[set[str]], Any]) -> Check:
    return lambda ctx: verdict(red_ones(ctx), ", ".join(order(red_ones(ctx))))


def paint_all(ctx: Context) -> None:
    for name in sorted(red_ones(ctx)):
        patch(ctx, CONFIG, name, {"data": {"color": "green"}})


def colored(color: str) -> list[Object]:
    return [made(CONFIG, f"settings-{name}", data={"color": color}) for name in "abc"]


WORDS = ["color", "size", "shape", "kind", "weight", "age", "height", "depth", "taste"]


def set_order(order: Callable[[Any], Any]) -> Check:
    return lambda ctx: verdict(is_red(ctx), ", ".join(order({*WORDS})))


def keys_order(order: Callable[[Any], Any]) -> Check:
    def check(ctx: Context) -> Verdict:
        data = get(ctx, CONFIG, "settings").get("data") or {}
        return verdict(data.get("color") == "red", " and ".join(order(data.keys() | {*WORDS})))

    return check


def says_elsewhere(name: str, flawed: Check, repaired: Check, **options: Any) -> Pair:
    """A pair that only another process tells apart. It imports the flawed one by a name in this module."""
    pair = checks(
        flawed, repaired, "check returns the same twice", "asked in another process, check said", **options
    )
    pair.flawed.__qualname__ = name
    globals()[name] = pair.flawed
    return pair


def started(_ctx: Context) -> None:
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()


def changed_read(ctx: Context) -> Verdict:
    data = get(ctx, CONFIG, "settings").get("data") or {}
    return verdict(data.pop("color", "") == "red")


NOTED_RED, NOTED_GREEN = (
    made(CONFIG, "settings", annotations={NOTE: color, "a": "b"}, labels={"team": "a"}, data={"a": "b"})
    for color in ("red", "green")
)


def note_of(read: Callable[[Object], Any]) -> Check:
    def check(ctx: Context) -> Verdict:
        live = get(ctx, CONFIG, "settings")
        return verdict(live and read(live["metadata"]) == "red")

    return check


def note_green(ctx: Context) -> None:
    patch(ctx, CONFIG, "settings", {"metadata": {"annotations": {NOTE: "green"}}})


def lacks_note(ctx: Context) -> Verdict:
    live = get(ctx, CONFIG, "settings")
    return verdict(live and NOTE not in meta_of(live, "annotations"))


def add_note(ctx: Context) -> None:
    path = f"/metadata/annotations/{NOTE.replace('/', '~1')}"
    patch(ctx, CONFIG, "settings", [{"op": "add", "path": path, "value": "yes"}])


def merge_note(ctx: Context) -> None:
    patch(ctx, CONFIG, "settings", {"metadata": {"annotations": {NOTE: "yes"}}})


# Secrets.


def secret(**data: str) -> Object:
    return made(SECRET, "login", data={key: encoded(value) for key, value in data.items()})


def read_secret(ctx: Context, key: str) -> str:
    return base64.b64decode((get(ctx, SECRET, "login").get("data") or {}).get(key, "")).decode()


LOGIN = secret(password="tr0ub4dor")


def leaks(show: Callable[[str], str]) -> Pair:
    """It reads a value, and its evidence has it."""

    def flawed(ctx: Context) -> Verdict:
        return verdict(is_red(ctx), f"{show(read_secret(ctx, 'password'))} in settings")

    def repaired(ctx: Context) -> Verdict:
        return verdict(is_red(ctx) and read_secret(ctx, "password"), "settings of Secret shop/login")

    says = (
        "it shows no values of Secrets",
        "the value of data.password of Secret shop/login is in its evidence",
    )
    return checks(flawed, repaired, *says, before=[LOGIN])


def complains(say: Callable[[Context, str], object]) -> Pair:
    """It shows a value if a call fails."""

    def painting(text: str) -> Run:
        def run(ctx: Context) -> None:
            password = read_secret(ctx, "password")
            try:
                paint(ctx)
            except ClusterError:
                say(ctx, text or password)
                raise

        return run

    says = "it shows no values of Secrets", "of Secret shop/login is in its log or errors"
    pair = runs(check_red, painting(""), painting("no password"), [RED, LOGIN], [GREEN, LOGIN], *says)
    return replace(pair, needs_an_error=True)


def fail(text: str) -> None:
    raise MigrationError(f"it does not accept {text}")


# Versions, undo.


class State:
    """State that isn't plain data."""

    seen: int = 0


STATE = State()
QUEUE: deque[str] = deque()
STOP = threading.Event()


def note_state(_ctx: Context) -> None:
    STATE.seen += 1


def note_queue(_ctx: Context) -> None:
    QUEUE.append("seen")


def works_on(ctx: Context) -> None:
    STOP.clear()
    threading.Thread(target=STOP.wait, args=(60,), daemon=True).start()
    paint(ctx)


def works_in_pool(ctx: Context) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(paint, ctx).result()


def by_release(ctx: Context) -> None:
    if not ctx.release.startswith("0."):
        paint(ctx)


def undo_once(ctx: Context) -> None:
    ctx.cluster.create(UNDONE)


def undo_again(ctx: Context) -> None:
    ctx.cluster.apply(UNDONE)


UNDONE = made(CONFIG, "undone", data={"a": "b"})


def annotated(annotations: dict[str, str]) -> Object:
    return made(CONFIG, "settings", annotations=annotations, labels={"team": "a"}, data={"a": "b"})


PAIRS: dict[str, Pair] = {
    "replaces all labels": runs(
        lacks_tier, relabel_all, relabel_one, [LABELLED], [TIERED], "it loses no update", "metadata.labels"
    ),
    "replaces a list": extends(
        service("192.0.2.1"),
        service("192.0.2.1", "192.0.2.2"),
        ("spec", "externalIPs"),
        "192.0.2.2",
        "it loses no update of others",
        "spec.externalIPs of Service shop/front",
    ),
    "replaces rules": extends(
        role("pods"),
        role("pods", "secrets"),
        ("rules",),
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
        "it loses no update of others",
        "rules of Role shop/reader",
    ),
    "moves what it read, and deletes what is there": runs(
        has_old,
        rename(guarded=False),
        rename(guarded=True),
        [OLD],
        [NEW],
        "it loses no update",
        "ConfigMap shop/old",
    ),
    "writes all data": runs(
        check_red,
        lambda ctx: patch(
            ctx, CONFIG, "settings", [{"op": "replace", "path": "/data", "value": GREEN["data"]}]
        ),
        paint,
        [RED],
        [GREEN],
        "it loses no update of others",
        "data of ConfigMap shop/settings",
    ),
    "patches by index": runs(
        has_old_image,
        set_image(guarded=False),
        set_image(guarded=True),
        [deployment(OLD_IMAGE)],
        [deployment(NEW_IMAGE)],
        "it loses no update of others",
        "Deployment shop/front",
    ),
    "converts what it read": runs(
        has_seconds,
        convert(guarded=False),
        convert(guarded=True),
        [SECONDS],
        [TIMED],
        "it loses no update of others",
        "data.seconds of ConfigMap shop/settings",
    ),
    "retries with what it read first": runs(
        check_red,
        retrying(rereads=False),
        retrying(rereads=True),
        [RED],
        [GREEN],
        "it loses no update of others",
    ),
    "annotates every Deployment": Pair(
        annotating(every_deployment),
        annotating(the_deployment),
        [deployment(OLD_IMAGE)],
        [deployment(OLD_IMAGE, annotations={NOTE: "yes"})],
        ("it changes no other objects", f"metadata.annotations.{NOTE}"),
    ),
    "deletes by a label of many": Pair(
        deleting("app.kubernetes.io/part-of=shop"),
        deleting(",".join(f"{key}={value}" for key, value in PARTS.items())),
        PODS,
        [],
        ("it changes no other objects", "app.kubernetes.io/part-of"),
    ),
    "deletes all that failed": Pair(
        deleting_failed(""),
        deleting_failed(f"{NOTE}=worker"),
        [RUNNING, FAILED],
        [RUNNING],
        ("it changes no other objects", "is gone"),
    ),
    "deletes by a prefix": Pair(
        deleting_named(lambda name: name.startswith("cache-")),
        deleting_named(lambda name: name in ("cache-0", "cache-1")),
        UNLABELLED,
        [],
        ("it changes no other objects", "Pod shop/cache-another-client is gone"),
    ),
    "takes the first of a list": Pair(
        painting_one(lambda ctx: str(ctx.cluster.list(*CONFIG, SHOP).items[0]["metadata"]["name"])),
        painting_one(lambda _ctx: "aa"),
        EARLY[:1],
        EARLY[1:],
        ("it changes no other objects", "0-another-client-aa"),
    ),
    "deletes without a uid": runs(
        has_old,
        deleting_old(by_uid=False),
        deleting_old(by_uid=True),
        [OLD],
        [],
        "it deletes only what it has read",
        "(delete ConfigMap shop/old) has no uid",
    ),
    "sets a variable of its process": runs(
        check_red,
        lambda ctx: (set_variable(ctx), paint(ctx)),
        paint,
        [RED],
        [GREEN],
        "it keeps no state in the process",
        "os.environ",
    ),
    "a long evidence": checks(
        lambda ctx: verdict(is_red(ctx), "x" * 1_000_000),
        check_red,
        "check returns the same twice",
        "characters, and plans record and compare only the first 1000",
    ),
    "the order of a set": says_elsewhere("SetOrder", set_order(list), set_order(sorted)),
    "the order of keys": says_elsewhere("KeysOrder", keys_order(list), keys_order(sorted)),
    "os.environ": says_elsewhere(
        "Environment",
        lambda ctx: verdict(is_red(ctx) and os.environ.get("PATH")),
        lambda ctx: verdict(is_red(ctx) and ctx.variables["path"]),
        variables={"path": "yes"},
    ),
    "a variable that must be set": says_elsewhere(
        "Requires", also(lambda _ctx: os.environ["PATH"]), check_red
    ),
    "the clock": says_elsewhere(
        "Clock", lambda ctx: verdict(is_red(ctx), f"{time.time() // 86_400} days"), check_red
    ),
    "a date": says_elsewhere(
        "Date", lambda ctx: verdict(is_red(ctx), f"{datetime.datetime.now(datetime.UTC):%F}"), check_red
    ),
    "a day": says_elsewhere("Day", lambda ctx: verdict(is_red(ctx), str(datetime.date.today())), check_red),
    "a process number": says_elsewhere(
        "Process", lambda ctx: verdict(is_red(ctx), f"{os.getpid()}"), check_red
    ),
    "a thread in check": checks(
        also(started),
        also(lambda ctx: get(ctx, CONFIG, "other")),
        "check uses the cluster alone",
        "starts a thread",
    ),
    "waits in check": checks(
        also(lambda _ctx: time.sleep(0.001)), check_red, "check uses the cluster alone", "time.sleep"
    ),
    "a host name": checks(also(lambda _ctx: socket.gethostname()), check_red, "check uses the cluster alone"),
    "a random name": checks(
        lambda ctx: verdict(is_red(ctx), f"{uuid.uuid4()}"), check_red, "check returns the same twice"
    ),
    "check by release": checks(
        lambda ctx: verdict(is_red(ctx) and ctx.release < "2"), check_red, "decides by ctx.release"
    ),
    "check by releases of one major version": checks(
        lambda ctx: verdict(is_red(ctx) and not ctx.release.startswith("2.")),
        check_red,
        "decides by ctx.release",
    ),
    "check by a range of releases": checks(
        lambda ctx: verdict(
            is_red(ctx) and not (2, 9) <= tuple(map(int, ctx.release.split(".")[:2])) < (2, 12)
        ),
        check_red,
        "decides by ctx.release",
    ),
    "run by release": runs(check_red, by_release, paint, [RED], [GREEN], "decides by ctx.release"),
    "changes what it read": checks(
        changed_read, check_red, "check changes nothing that it reads", "ConfigMap"
    ),
    "a password in evidence": leaks(str),
    "a password in evidence, in base64": leaks(encoded),
    "a password in a warning": complains(lambda ctx, text: ctx.log.warning(f"it does not accept {text}")),
    "a password in a warning, in base64": complains(lambda ctx, text: ctx.log.warning(encoded(text))),
    "a password in an error": complains(lambda _ctx, text: fail(text)),
    "a password in an error, in base64": complains(lambda _ctx, text: fail(encoded(text))),
    "a thread that works on": runs(
        check_red, works_on, works_in_pool, [RED], [GREEN], "it keeps no state", "leaves a thread"
    ),
    "a program that runs on": runs(
        check_red,
        begin_program(waits=False),
        begin_program(waits=True),
        [RED],
        [GREEN],
        "it keeps no state",
        "its run leaves a program that still runs",
    ),
    "another directory": changes(
        lambda _ctx: os.chdir("/"),
        lambda _ctx: os.chdir(DIRECTORY),
        "its run changes the working directory (os.chdir), if one of its calls fails",
    ),
    "another mode of files": changes(
        lambda _ctx: os.umask(0o077),
        lambda _ctx: os.umask(MASK),
        "its run changes the mode of new files (os.umask), if one of its calls fails",
    ),
    "a variable for a while": changes(
        set_variable,
        lambda _ctx: os.environ.pop("SHOP_MIGRATED_AT"),
        "its run changes os.environ, if one of its calls fails",
    ),
    "a handler of a signal": changes(
        lambda _ctx: faulthandler.register(signal.SIGUSR1),
        lambda _ctx: faulthandler.unregister(signal.SIGUSR1),
        "its run changes the handlers of signals (faulthandler.register)",
    ),
    "state in an object": runs(
        check_red,
        lambda ctx: (note_state(ctx), paint(ctx)),
        paint,
        [RED],
        [GREEN],
        "it keeps no state",
        "STATE",
    ),
    "needs annotations": Pair(
        migration(note_of(lambda meta: meta["annotations"].get(NOTE)), note_green),
        migration(note_of(lambda meta: (meta.get("annotations") or {}).get(NOTE)), note_green),
        [NOTED_RED],
        [NOTED_GREEN],
        ("without annotations", "KeyError"),
    ),
    "adds to annotations": runs(
        lacks_note,
        add_note,
        merge_note,
        [annotated({"a": "b"})],
        [annotated({"a": "b", NOTE: "yes"})],
        "without annotations",
    ),
    "undoes once": Pair(
        migration(check_red, paint, undo_once),
        migration(check_red, paint, undo_again),
        [RED],
        [GREEN],
        ("it can be undone", "called once more when all was undone"),
    ),
    "evidence with a version": checks(
        lambda ctx: verdict(
            is_red(ctx), get(ctx, CONFIG, "settings").get("metadata", {}).get("resourceVersion", "")
        ),
        check_red,
        "check returns the same twice",
    ),
    "state in a queue": runs(
        check_red,
        lambda ctx: (note_queue(ctx), paint(ctx)),
        paint,
        [RED],
        [GREEN],
        "it keeps no state",
        "QUEUE",
    ),
}

if sys.version_info < (3, 12):
    del PAIRS["a thread in check"]  # Python does not report it.
if sys.version_info < (3, 13):
    del PAIRS["waits in check"]


# Good ones.


@dataclass(frozen=True)
class Good:
    """A migration that has no flaw."""

    migration: type[Migration]
    before: list[Object]
    after: list[Object]
    options: dict[str, Any] = field(default_factory=dict)


def good(check: Check, run: Run, before: Any, after: Any, undo: Run | None = None, **options: Any) -> Good:
    attributes = {"irreversible": options.pop("irreversible", "")}
    return Good(migration(check, run, undo, **attributes), before, after, options)


OFFERS = ("shop.example.com/v1", "Offer")
OFFER_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "offers.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "scope": "Namespaced",
        "names": {"plural": "offers", "singular": "offer", "kind": "Offer", "listKind": "OfferList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def priceless(ctx: Context) -> list[Object]:
    return [one for one in ctx.cluster.list(*OFFERS).items if NOTE not in meta_of(one, "annotations")]


def price_offers(ctx: Context) -> None:
    for one in priceless(ctx):
        meta = one["metadata"]
        note = {NOTE: str(one["spec"]["price"] * 100)}
        content = {"metadata": {"uid": meta["uid"], "annotations": note}}
        ctx.cluster.patch(*OFFERS, meta["name"], meta["namespace"], content)


def offers(**annotations: Any) -> list[Object]:
    return [made(OFFERS, f"offer-{n}", spec={"price": n}, **annotations.get(f"o{n}", {})) for n in (1, 2)]


def legacy(ctx: Context) -> list[Object]:
    objects = ctx.cluster.list(*CONFIG, SHOP, label_selector="acme.example/dashboard=yes").items
    return [one for one in objects if "old" in (one.get("data") or {})]


def rename_keys(ctx: Context) -> None:
    for one in legacy(ctx):
        value = one["data"]["old"]
        patch(ctx, CONFIG, one["metadata"]["name"], [
            {"op": "test", "path": "/data/old", "value": value},
            {"op": "move", "from": "/data/old", "path": "/data/new"},
        ])  # fmt: skip


def dashboards(key: str) -> list[Object]:
    return [
        made(CONFIG, name, labels={"acme.example/dashboard": "yes"}, data={key: name})
        for name in ("d1", "d2")
    ]


def split_secret(ctx: Context) -> None:
    login = get(ctx, SECRET, "login")
    ctx.cluster.apply(made(SECRET, "pin", data={"pin": login["data"]["pin"]}))
    patch(ctx, SECRET, "login", {"metadata": as_read(login), "data": {"pin": None}})
    ctx.log.info("the PIN is in Secret shop/pin")


def has_pin(ctx: Context) -> Verdict:
    return verdict("pin" in (get(ctx, SECRET, "login").get("data") or {}), "Secret shop/login")


def recreate(ctx: Context) -> None:
    live = get(ctx, DEPLOYMENT, "front")
    ctx.cluster.delete(*DEPLOYMENT, "front", SHOP, uid=live["metadata"]["uid"], propagation="Orphan")
    while not ctx.rehearsal and get(ctx, DEPLOYMENT, "front"):
        ctx.sleep(1)


def is_there(ctx: Context) -> Verdict:
    live = get(ctx, DEPLOYMENT, "front")
    return verdict(live and not live["metadata"].get("deletionTimestamp"), "Deployment shop/front")


def grant(ctx: Context) -> None:
    def once() -> None:
        live = get(ctx, ROLE, "reader")
        rules = [{**one, "verbs": sorted({*one["verbs"], "list"})} for one in live["rules"]]
        patch(ctx, ROLE, "reader", {"metadata": as_read(live), "rules": rules})

    ctx.retry(once, on=(Conflict,))


def lacks_list(ctx: Context) -> Verdict:
    rules = get(ctx, ROLE, "reader").get("rules") or []
    return verdict(any("list" not in one["verbs"] for one in rules), "Role shop/reader")


def scale(ctx: Context) -> None:
    patch(ctx, DEPLOYMENT, "front", {"spec": {"replicas": 3}})


def is_small(ctx: Context) -> Verdict:
    live = get(ctx, DEPLOYMENT, "front")
    return verdict(live and live["spec"]["replicas"] < 3, "Deployment shop/front")


def adopt(ctx: Context) -> None:
    labels = {"app.kubernetes.io/managed-by": "Helm"}
    ctx.cluster.apply(made(CONFIG, "settings", labels=labels), force=True)


def is_not_adopted(ctx: Context) -> Verdict:
    live = get(ctx, CONFIG, "settings")
    return verdict(live and meta_of(live, "labels").get("app.kubernetes.io/managed-by") != "Helm")


def held(*finalizers: str) -> Object:
    offer = made(OFFERS, "offer")
    return {**offer, "metadata": {**offer["metadata"], "finalizers": list(finalizers)}}


def is_held(ctx: Context) -> Verdict:
    return verdict(
        "acme.example/old" in (get(ctx, OFFERS, "offer").get("metadata") or {}).get("finalizers", [])
    )


def release_offer(ctx: Context) -> None:
    metadata = get(ctx, OFFERS, "offer")["metadata"]
    rest = [one for one in metadata.get("finalizers", []) if one != "acme.example/old"]
    content = {"resourceVersion": metadata["resourceVersion"], "finalizers": rest}
    patch(ctx, OFFERS, "offer", {"metadata": content})


def ports(number: int) -> list[Object]:
    return [
        made(SERVICE, "front", spec={"ports": [{"name": "http", "port": number}], "selector": {"a": "b"}})
    ]


def has_port_80(ctx: Context) -> Verdict:
    live = get(ctx, SERVICE, "front")
    return verdict(live and live["spec"]["ports"][0]["port"] == 80, "Service shop/front")


def move_port(ctx: Context) -> None:
    live = get(ctx, SERVICE, "front")
    moved = [{**one, "port": 81} for one in live["spec"]["ports"]]
    patch(ctx, SERVICE, "front", {"metadata": as_read(live), "spec": {"ports": moved}})


def sizes(**replicas: int) -> list[Object]:
    base = deployment(OLD_IMAGE)
    return [{**base, "spec": {**base["spec"], **replicas}}]


NEITHER = blocked("ConfigMap shop/new has other data than ConfigMap shop/old: delete one of them")


def check_rename(ctx: Context) -> Verdict:
    old, new = get(ctx, CONFIG, "old"), get(ctx, CONFIG, "new")
    if old and new and old["data"] != new["data"]:
        return NEITHER
    return verdict(old, "ConfigMap shop/old")


def listing(*verbs: str) -> list[Object]:
    base = role("pods", "secrets")
    return [{**base, "rules": [{**one, "verbs": list(verbs)} for one in base["rules"]]}]


GOOD: dict[str, Good] = {
    "all objects of its own kind": good(
        lambda ctx: verdict(priceless(ctx), "Offers"),
        price_offers,
        offers(),
        offers(o1={"annotations": {NOTE: "100"}}, o2={"annotations": {NOTE: "200"}}),
        crds=[OFFER_CRD],
    ),
    "all that carry its own label": good(
        lambda ctx: verdict(legacy(ctx), "dashboards"), rename_keys, dashboards("old"), dashboards("new")
    ),
    "a Secret is split": good(
        has_pin,
        split_secret,
        [secret(user="admin", pin="48151")],
        [secret(user="admin"), made(SECRET, "pin", data={"pin": encoded("48151")})],
    ),
    "a Deployment is orphaned": good(is_there, recreate, [deployment(OLD_IMAGE)], []),
    "each rule of a Role": good(lacks_list, grant, listing("get"), listing("get", "list")),
    "one number": good(is_small, scale, sizes(replicas=2), sizes(replicas=3)),
    "labels for Helm": good(
        is_not_adopted,
        adopt,
        [LABELLED],
        [
            made(
                CONFIG,
                "settings",
                labels={"team": "a", "app.kubernetes.io/managed-by": "Helm"},
                data={"a": "b"},
            )
        ],
    ),
    "a rename that blocks": good(check_rename, rename(guarded=True), [OLD], [NEW]),
    "all red ones of a namespace": good(named_in(sorted), paint_all, colored("red"), colored("green")),
    "a version in an annotation": good(
        lacks_note,
        lambda ctx: patch(
            ctx, CONFIG, "settings", {"metadata": {"annotations": {NOTE: f"by {ctx.release}"}}}
        ),
        [LABELLED],
        [{**LABELLED, "metadata": {**LABELLED["metadata"], "annotations": {NOTE: "by 1.0"}}}],
    ),
    "one of two finalizers": good(
        is_held,
        release_offer,
        [held("acme.example/old", "acme.example/other")],
        [held("acme.example/other")],
        crds=[OFFER_CRD],
    ),
    "a port without its default protocol": good(has_port_80, move_port, ports(80), ports(81)),
    "its own undo": good(
        check_red,
        paint,
        [RED],
        [GREEN],
        lambda ctx: None if is_red(ctx) else patch(ctx, CONFIG, "settings", {}),
    ),
    "threads in a run": good(check_red, works_in_pool, [RED], [GREEN]),
}
