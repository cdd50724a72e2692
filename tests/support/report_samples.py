# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of `run_info` for tests of the report: runs of any size and any end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report import records
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import ClusterReport

START = datetime(2026, 11, 21, 13, 18, 54, tzinfo=UTC)
read_cluster = partial(records.read_cluster, now=START + timedelta(days=1))
LONG_NAME = "a-component-with-a-name-of-sixty-three-characters-as-labels-allow"
LONG_TEXT = (
    (
        "Deployment kyma-system/checkout is not healthy after 600 s: 1 of 2 replicas updated;"
        " Pod checkout-7d9c5b6f8-x2k9p: Unschedulable: 0/12 nodes are available: 3 node(s) had untolerated"
        " taint {node.kubernetes.io/unreachable: }, 9 node(s) didn't match Pod's node affinity/selector. "
    )
    * 3
    + "https://registry.example.com/"
    + "very-long-path/" * 12
    + " <script>alert('no')</script>"
)


def moment(seconds: float) -> str:
    """A moment after the start of the samples, as rows of durations have it."""
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def row(
    kind: str, name: str, start: float | None, seconds: float, state: str = "succeeded"
) -> dict[str, Any]:
    """A row of durations; without a start, it is one of an older record."""
    one = {"kind": kind, "name": name, "state": state, "seconds": seconds, "slow": False, "component": ""}
    if start is None:
        return one
    return {**one, "started_at": moment(start), "finished_at": moment(start + seconds)}


def component(name: str, seconds: float, state: str = "succeeded", error: str = "") -> dict[str, Any]:
    """The result of a component."""
    parts = {"pre": 0.1 * seconds, "apply": 0.2 * seconds, "wait": 0.6 * seconds, "post": 0.1 * seconds}
    return {
        "name": name,
        "kind": "component",
        "component_version": "1.4.0",
        "state": state,
        "error": error,
        "seconds": seconds,
        "phases": {} if state == "not started" else parts,
        "objects": 21,
        "created": 1,
        "changed": 2,
        "replaced": 0,
        "deleted": 0,
        "warnings": [],
    }


def migration(identity: str, of: str, phase: str = "pre", state: str = "done", **more: Any) -> dict[str, Any]:
    """The result of a migration."""
    check = {"verdict": "needed", "evidence": "PersistentVolumeClaim kyma-system/storage-loki-0 has 5Gi"}
    return {"id": identity, "component": of, "phase": phase, "state": state, "seconds": 0.4, **check, **more}


def run(
    *,
    seconds: float,
    state: str = "succeeded",
    start: float = 0.0,
    components: Sequence[dict[str, Any]] = (),
    migrations: Sequence[dict[str, Any]] = (),
    durations: Sequence[dict[str, Any]] = (),
    failures: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """A run as `run_info` returns it."""
    ended = state not in ("running", "lost")
    return {
        "name": "20261121-131854-a1b2c3",
        "action": "deploy",
        "version": "2.11",
        "previous": "2.10",
        "profile": "production",
        "started_by": "ci@runner-3",
        "started_at": moment(start),
        "finished_at": moment(start + seconds) if ended else "",
        "written_at": moment(start + seconds),
        "note": "" if ended else "the run has not ended",
        "cancelled": "",
        "message": "",
        "state": state,
        "seconds": seconds if ended else 0.0,
        "components": list(components),
        "failures": list(failures),
        "migrations": list(migrations),
        "durations": list(durations),
        "undone": [],
        **more,
    }


def recorded(*runs: dict[str, Any], version: str = "2.11", target: str = "2.11") -> dict[str, Any]:
    """The result of `run_info`."""
    installation = {"version": version, "target": target, "profile": "production", "hold": None}
    return {"changed": False, "installation": installation, "runs": list(runs)}


def errand_run(
    number: int, start: float, seconds: float, state: str = "succeeded", message: str = ""
) -> dict[str, Any]:
    """A run of an errand that has ended, as `errand_info` returns it."""
    has_failed = state == "failed"
    return {
        "run": number,
        "state": state,
        "outcome": "ContainerFailed" if has_failed else "Completed",
        "message": message,
        "exit_code": 3 if has_failed else 0,
        "started": moment(start).replace(".000Z", "Z"),
        "finished": moment(start + seconds).replace(".000Z", "Z"),
        "seconds": seconds,
        "trigger": "manual",
        "secrets": [],
        "pruned": [],
    }


def errands(**runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The result of `errand_info`: errands of the namespace shop, each with its runs, the newest first."""
    listed = [
        {"namespace": "shop", "name": name, "run": history[0], "history": list(history)}
        for name, history in runs.items()
    ]
    return {"changed": False, "errands": listed}


def large_run() -> dict[str, Any]:
    """A run of 40 components, of which two failed and five did not start."""
    names = [f"component-{number:02}" for number in range(39)] + [LONG_NAME]
    components, rows, now = [], [row("phase", "global pre", 0.0, 1.5)], 1.5
    for number, name in enumerate(names):
        if number in range(30, 35):
            components.append(component(name, 0.0, "not started", "component-12 failed, which it needs"))
            rows.append(row("component", name, None, 0.0, "not started"))
            continue
        bad = number in (12, 39)
        seconds = 0.0 if number % 9 == 4 else 2.0 + number * 0.7
        state = "failed" if bad else "succeeded"
        components.append(component(name, seconds, state, f"{number}: {LONG_TEXT}" if bad else ""))
        rows.append(row("component", name, now, seconds, state))
        now += seconds if number % 4 == 3 else 0.0
    migrations = [
        migration("logging/grow-loki-volume", "component-03", seconds=1.2, wrote=True),
        migration("global/" + LONG_NAME, "global", state="failed", error=LONG_TEXT, seconds=1.5, wrote=True),
        *(
            migration(
                f"component-{n:02}/adopt", f"component-{n:02}", state="not_needed", verdict="not_needed"
            )
            for n in range(8)
        ),
    ]
    rows.append(row("migration", "logging/grow-loki-volume", 3.0, 1.2, "done"))
    rows.append(row("migration", "global/" + LONG_NAME, 0.0, 1.5, "failed"))
    rows += [row("migration", f"component-{n:02}/adopt", 2.0, 0.02, "not_needed") for n in range(8)]
    end = max([now, *(1.5 + one["seconds"] for one in rows)]) + 30.0
    rows.append(row("phase", "prune", end - 0.2, 0.2))
    failures = [
        f"migration global/{LONG_NAME}: {LONG_TEXT}",
        *(f"component {one['name']}: {one['error']}" for one in components if one["state"] == "failed"),
        "never started: component-30, component-31, component-32, component-33, component-34"
        " (component-12 failed, which it needs)",
    ]
    return run(
        seconds=end,
        state="failed",
        components=components,
        migrations=migrations,
        durations=rows,
        failures=failures,
    )


def small_run(start: float = 0.0, state: str = "succeeded") -> dict[str, Any]:
    """A run of two components."""
    rows = [
        row("phase", "global pre", start, 0.0),
        row("component", "logging", start + 1, 12.0),
        row("component", "monitoring", start + 1, 30.25),
        row("module", "docker-registry", start + 32, 4.0),
    ]
    components = [component("logging", 12.0), component("monitoring", 30.25)]
    return run(seconds=40.0, start=start, state=state, components=components, durations=rows)


def failing_run() -> dict[str, Any]:
    """A run with a plan, of which a component failed, and so another one did not start; one was cancelled."""
    rows = [
        row("plan", "plan", -3.0, 2.0),
        row("phase", "lease", 0.2, 0.3),
        row("phase", "begin", 0.5, 0.5),
        row("phase", "components", 1.0, 12.0, "failed"),
        row("component", "logging", 1.0, 4.0),
        row("component", "checkout", 1.0, 12.0, "failed"),
        row("component", "search", 5.0, 8.0, "cancelled"),
        row("component", "mailer", None, 0.0, "not started"),
        row("migration", "logging/grow", 1.0, 0.4, "warned"),
        row("phase", "end", 13.1, 0.5),
        row("phase", "other", None, 0.1),
    ]
    reason = (
        "Deployment shop/checkout: 0 of 1; pod checkout-5878d48b7-lxpcw, container main: CrashLoopBackOff"
    )
    components = [
        component("logging", 4.0),
        component("checkout", 12.0, "failed", reason),
        component("search", 8.0, "cancelled", "the run was cancelled"),
        component("mailer", 0.0, "not started", "it needs checkout, which failed"),
    ]
    grown = migration("logging/grow", "logging", state="warned")
    return run(seconds=15.4, state="failed", components=components, migrations=[grown], durations=rows)


def every_end() -> tuple[ClusterReport, ...]:
    """Clusters that ended in every way, with names and texts of every length."""
    ran = errands(
        backup=[errand_run(2, 9, 30), errand_run(1, 2, 4)],
        reindex=[errand_run(7, 12, 3, "failed", LONG_TEXT)],
    )
    return (
        read_cluster("live-eu", [recorded(large_run(), version="2.10", target="2.11")]),
        read_cluster(f"staging-{LONG_NAME}.{LONG_NAME}", [recorded({**large_run(), "name": "older"})]),
        read_cluster("canary", [recorded(small_run(5, "running"))]),
        read_cluster("errands", [recorded(small_run()), ran]),
        read_cluster("far", [{"unreachable": True, "msg": LONG_TEXT}]),
        read_cluster("quiet", [recorded()]),
    )
