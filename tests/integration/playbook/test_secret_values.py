# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No value of a Secret is shown, logged, recorded or left anywhere, however talkative Ansible is.

Canaries are put wherever values come from: the release's manifests, Helm values and overrides, a migration,
a person's edit, a Secret that the API server refuses. They are searched for in all that is left behind, as
they are and in base64.
"""

from __future__ import annotations

import base64
import gzip
import json
import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import BIN
from tests.support.accounts import deployer_of
from tests.support.extent import IS_FULL, cases
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, Object, SmallRelease, config_map, deployment

from .remote_host import inventory_elsewhere

pytestmark = pytest.mark.control_plane

API = "lifecycle.kyma-project.io/v1"
RECORDS = ("KymaInstallation", "KymaInventory", "KymaRun", "KymaJournalEntry")
CANARIES = {
    name: f"canary-{name}-7c1e55"
    for name in (
        *("data", "typed", "file", "override", "chart", "before", "migrated", "edited", "upgraded"),
        *("immutable", "garbled"),
    )
}
NUMBER = 481516234220815
"""A value that its author forgot to put in quotes: servers quote such in their refusals."""
IMMUTABLE = ("for-ever", "garbled")
POLL_SECONDS = 0.02
FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO

MOVES_TOKEN = """
from base64 import b64encode

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, Phase, Verdict, needed, not_needed,
)


class MovesToken(Migration):
    '''The token lies in another Secret.'''

    component = GLOBAL
    phase = Phase.PRE
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        found = ctx.cluster.get("v1", "Secret", "old-token", "default")
        return needed("it lies in the old one") if found else not_needed("it does not lie in the old one")

    def run(self, ctx: Context) -> None:
        token = ctx.variables["token"]
        meta = {"name": "token", "namespace": "default"}
        data = {"t": b64encode(token.encode()).decode()}
        ctx.cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})
        patch = {"metadata": {"labels": {"moved": "true"}}, "stringData": {"more": token}}
        ctx.cluster.patch("v1", "Secret", "old-token", "default", patch)
        ctx.cluster.delete("v1", "Secret", "old-token", "default")
"""


def secret(name: str, **content: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, **content}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


NEEDLES = tuple(
    needle.encode() for text in (*CANARIES.values(), str(NUMBER)) for needle in (text, encoded(text))
)


def leaks(text: str | bytes) -> set[str]:
    """The canaries in a text."""
    content = text.encode() if isinstance(text, str) else text
    return {needle.decode() for needle in NEEDLES if needle in content}


class FolderWatch:
    """Looks all the time which files with canaries there are below some folders, and who may read them.

    Attributes:
        seen: the permissions of each such file, and of the folder that it lay in.
    """

    def __init__(self, *folders: Path) -> None:
        self.seen: dict[Path, tuple[int, int]] = {}
        self._folders = folders
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> FolderWatch:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def files(self) -> Iterator[Path]:
        for folder in self._folders:
            if folder.exists():
                yield from (path for path in folder.rglob("*") if path.is_file())

    def _look(self) -> None:
        known = set[tuple[Path, int, int]]()
        while not self._over.wait(POLL_SECONDS):
            try:
                for path in self.files():
                    stat_of_file = path.stat()
                    # Its content and its permissions are as they were.
                    version = (path, stat_of_file.st_ino, stat_of_file.st_ctime_ns)
                    if version in known:
                        continue
                    known.add(version)
                    modes, content = (stat_of_file.st_mode, path.parent.stat().st_mode), path.read_bytes()
                    if leaks(content) or leaks(_unpacked(content)):
                        self.seen[path] = modes
            except OSError:
                # Gone in the meantime.
                continue


def _unpacked(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return b""


class Story:
    """A release with Secrets, deployed, upgraded, drifted, refused, undone and deleted.

    Attributes:
        outcomes: what came of each step.
        plan: the text of the plan that was kept.
        watch: what lay in temporary folders meanwhile.
        records: all records of ours and all Events, after each step.
    """

    def __init__(self, cluster: OwnCluster, playbook: Playbook, small: SmallRelease, more: list[str]) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.records = ""
        self.plan = ""
        self._cluster = cluster
        self._playbook = playbook
        self._small = small
        # Elsewhere some steps do, as the first story has told the others.
        self._is_whole = not more or IS_FULL
        self._arguments = ["-vvv", "--diff", *more]
        folder = playbook.folder
        self.log = folder / "ansible.log"
        temporary = {name: folder / name for name in ("tmp", "local", "remote", "async")}
        for place in temporary.values():
            place.mkdir()
        playbook.settings |= {
            "TMPDIR": str(temporary["tmp"]),
            "ANSIBLE_LOCAL_TEMP": str(temporary["local"]),
            "ANSIBLE_REMOTE_TEMP": str(temporary["remote"]),
            "ANSIBLE_ASYNC_DIR": str(temporary["async"]),
            "ANSIBLE_LOG_PATH": str(self.log),
            # Playbooks of the collection look for plugins beside themselves otherwise.
            "ANSIBLE_CONNECTION_PLUGINS": str(folder / "connection_plugins"),
            "PATH": f"{BIN}:{playbook.environment['PATH']}",
        }
        self.watch = FolderWatch(*temporary.values())
        self.values = folder / "values.yaml"
        self.values.write_text(json.dumps({"charted": {"file": CANARIES["file"]}}))

    @property
    def variables(self) -> Mapping[str, Any]:
        return {
            "values_files": [str(self.values)],
            "overrides": [f"charted.override={CANARIES['override']}"],
            "migration_variables": {"token": CANARIES["migrated"]},
            "component_timeout": 15,
        }

    def deploy(self, step: str, *arguments: str, **variables: Any) -> Outcome:
        return self._note(
            step,
            self._playbook.deploy(
                self._small.folder, *self._arguments, *arguments, **{**self.variables, **variables}
            ),
        )

    def _note(self, step: str, outcome: Outcome) -> Outcome:
        self.outcomes[step] = outcome
        api = self._cluster.api
        objects = [obj for kind in RECORDS for obj in api.list(API, kind).items]
        objects += api.list("v1", "Event").items
        self.records += json.dumps(objects) + "".join(map(_content, objects))
        return outcome

    def play(self) -> None:
        """All of it; afterwards the cluster is as before."""
        api = self._cluster.api
        api.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "old-token", "namespace": "default"},
                "data": {"t": encoded(CANARIES["before"])},
            }
        )
        self._small.write("vault", *vault())
        if self._is_whole:
            self.deploy("foretold", "--check").succeeded()
        plan_file = self._playbook.folder / "plan.json"
        self.deploy("kept", plan_out=str(plan_file)).succeeded()
        self.plan = plan_file.read_text()
        self.deploy("carried out", plan=str(plan_file)).failed()
        if self._is_whole:
            self._repair_and_upgrade()
        self._small.write("vault", *refused())
        self.deploy("refused", "--check").failed()
        if self._is_whole:
            self._small.write("vault", *vault(upgraded=True))
            run = self.outcomes["carried out"].run["run"]
            self._note("undone", self._playbook.undo(*self._arguments, undo_run=run).succeeded())
        self._note("deleted", self._playbook.delete(*self._arguments, undo_migrations=True).succeeded())
        assert api.delete("v1", "Secret", "old-token", "default"), "undoing has not brought it back"

    def _repair_and_upgrade(self) -> None:
        """Deploy what is healthy, show and restore what a person has edited, and upgrade."""
        self._small.write("broken", deployment("broken"))
        self.deploy("mended").succeeded()
        edited = {"data": {"password": encoded(CANARIES["edited"])}}
        people = self._cluster.api.with_field_manager("kubectl-edit")
        people.patch("v1", "Secret", "login", NAMESPACE, edited)
        self.deploy("drifted", "--check").succeeded()
        self.deploy("restored").succeeded()
        self._small.write("vault", *vault(upgraded=True))
        self.deploy("upgraded").succeeded()


def vault(*, upgraded: bool = False) -> list[Object]:
    password = CANARIES["upgraded" if upgraded else "data"]
    return [
        secret("login", data={"password": encoded(password)}),
        secret("typed-in", stringData={"password": CANARIES["typed"], "number": NUMBER}),
        *(secret(name, data={"password": encoded("hush")}, immutable=True) for name in IMMUTABLE),
    ]


def refused() -> list[Object]:
    """What the server refuses, each in another way."""
    changed, garbled = IMMUTABLE
    return [
        *vault(upgraded=True)[: -len(IMMUTABLE)],
        secret(changed, data={"password": encoded(CANARIES["immutable"])}, immutable=True),
        secret(garbled, data={"password": f"{CANARIES['garbled']} !"}, immutable=True),
        secret("typed", data={"password": NUMBER}),
    ]


def _content(record: Object) -> str:
    spec = record.get("spec") or {}
    if "encoding" not in spec:
        return ""
    packed = (spec.get(name) or "" for name in ("before", "change"))
    return "".join(gzip.decompress(base64.b64decode(text)).decode() for text in packed if text)


CHART = """
apiVersion: v1
kind: Secret
metadata: {name: charted}
data:
  chart: {{ .Values.chart | b64enc }}
  file: {{ .Values.file | b64enc }}
stringData:
  override: {{ .Values.override }}
"""


@pytest.fixture(scope="module", params=cases(["here"], ["elsewhere"]))
def story(
    request: pytest.FixtureRequest, own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    """Told once where Ansible works itself, and once where it ships modules and the release."""
    folder = tmp_path_factory.mktemp("user")
    playbook = deployer_of(own_cluster, folder)
    playbook.migration("token", MOVES_TOKEN)
    small = SmallRelease(tmp_path_factory.mktemp("release") / "small")
    small.component("vault").component("plain", config_map("plain"))
    small.component("broken", deployment("broken", "broken.invalid/image", progressDeadlineSeconds=4))
    small.chart("charted", f"chart: {CANARIES['chart']}\nfile: ''\noverride: ''\n", secret=CHART)
    more = inventory_elsewhere(folder) if request.param == "elsewhere" else []
    new_story = Story(own_cluster, playbook, small, more)
    with new_story.watch:
        new_story.play()
    return new_story


def test_the_values_are_in_the_cluster(story: Story) -> None:
    """So that there was something to be told."""
    assert story.outcomes["carried out"].components["vault"]["state"] == "succeeded"
    assert "Secret small/charted" in story.outcomes["kept"].text
    if "drifted" in story.outcomes:
        assert "data.password" in story.outcomes["drifted"].text
    assert story.outcomes["carried out"].migrations["global/moves-token"]["wrote"]
    message = story.outcomes["refused"].planning["msg"]
    assert "field is immutable" in message
    assert [name for name in (*IMMUTABLE, "typed") if f"Secret small/{name}" not in message] == []


def test_nothing_is_shown(story: Story) -> None:
    shown = {step: leaks(outcome.text) for step, outcome in story.outcomes.items()}
    assert {step: canaries for step, canaries in shown.items() if canaries} == {}


def test_nothing_is_in_results(story: Story) -> None:
    """Which callbacks get, such as those that write to databases."""
    results = {step: leaks(json.dumps(outcome.results)) for step, outcome in story.outcomes.items()}
    assert {step: canaries for step, canaries in results.items() if canaries} == {}


def test_nothing_is_logged(story: Story) -> None:
    assert story.log.stat().st_size > 10_000
    assert leaks(story.log.read_text()) == set()


def test_nothing_is_recorded(story: Story) -> None:
    assert "data.password" in story.records or "Secret" in story.records
    assert leaks(story.records) == set()


def test_nothing_is_in_a_stored_plan(story: Story) -> None:
    assert "Secret" in story.plan
    assert leaks(story.plan) == set()


def test_files_with_values_are_for_their_owner_alone_and_are_removed(story: Story) -> None:
    assert story.watch.seen
    for path, (mode, of_folder) in story.watch.seen.items():
        # What is shipped lies in a folder of Ansible's, which it makes for the user alone.
        assert not mode & of_folder & FOR_OTHERS, path
        assert not mode & FOR_OTHERS or path.parent.name.startswith("ansible-tmp-"), path
    assert [path for path in story.watch.files() if leaks(path.read_bytes())] == []
