# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding migrations in files: the same from folders and from an archive, and all problems at once."""

from __future__ import annotations

import ast
import dataclasses
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import run_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.loader import (
    BadArchive,
    load_archive,
    load_folders,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
    UnreadableMigration,
    own_folder,
    pack_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_set import MigrationSet
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migrations.discovery import (
    discover_migrations,
    folders_of,
)

from tests.support.migrations import setting

CONTRACT = "ansible_collections.kyma.lifecycle.plugins.module_utils.migration"
HEAD = f"from {CONTRACT} import *\nfrom {CONTRACT} import needed, not_needed\n\n"

GOOD_BODY = 'component = "logging"\nphase = Phase.PRE\nremove_in = "9.9"'

Load = Callable[[Path], MigrationSet]


def source(name: str = "Mark", body: str = "", *, base: str = "Migration", doc: str = '"""Marks."""') -> str:
    """A class; ``body`` replaces what it says by default."""
    lines = body or GOOD_BODY
    inside = "".join(f"    {line}\n" for line in [*([doc] if doc else []), *lines.splitlines()])
    methods = (
        "    def check(self, ctx):\n        return not_needed('nothing to do')\n"
        "    def run(self, ctx):\n        pass\n"
    )
    return f"class {name}({base}):\n{inside}{methods}\n"


def from_folder(path: Path) -> MigrationSet:
    return load_folders([MigrationFolder("yours", str(path))])


def from_archive(path: Path) -> MigrationSet:
    archive = pack_migrations([MigrationFolder("yours", str(path))])
    target = path.parent / f"migrations-{time.monotonic_ns()}.zip"
    target.write_bytes(archive)
    return load_archive(target)


@pytest.fixture(params=[from_folder, from_archive])
def load(request: pytest.FixtureRequest) -> Load:
    """Either way to load."""
    answer: Load = request.param
    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "kyma_migrations"
    path.mkdir()
    return path


def ids(loaded: MigrationSet) -> list[str]:
    return [migration.id() for migration in loaded.migrations]


def test_a_folder_and_its_archive_load_the_same_migrations_and_problems(folder: Path) -> None:
    (folder / "good.py").write_text(HEAD + source("GrowIt"))
    (folder / "bad.py").write_text(HEAD + source("NoComponent", "phase = Phase.PRE\nkeep = 'ever'"))
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "raises.py").write_text("import nothing_of_that_name\n")
    one, other = from_folder(folder), from_archive(folder)
    assert one.migrations == other.migrations == ()
    assert one.problems == other.problems
    assert len(one.problems) == 3
    assert one.searched == other.searched == (f"{folder} (yours)",)


def test_the_digest_of_a_folder_and_of_its_archive_change_with_each_file(folder: Path) -> None:
    place = str(folder)

    def code() -> str:
        one, other = from_folder(folder), from_archive(folder)
        assert one.code == other.code
        return one.code[place]

    nothing = code()
    (folder / "good.py").write_text(HEAD + source("GrowIt"))
    (folder / "inner").mkdir()
    (folder / "inner" / "_shared.py").write_text("A = 1\n")
    before = code()
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "notes.txt").write_text("no code")
    assert code() == before
    (folder / "inner" / "_shared.py").write_text("A = 2\n")
    edited = code()
    (folder / "inner" / "_shared.py").rename(folder / "_shared.py")
    assert len({nothing, before, edited, code()}) == 4
    shutil.rmtree(folder)
    assert code() == nothing


def test_siblings_are_imported_relatively_and_counted_once(folder: Path, load: Load) -> None:
    (folder / "__init__.py").write_text("WHERE = 'the package'\n")
    (folder / "_shared.py").write_text(
        HEAD + "class Base(Migration):\n    component = 'logging'\n    phase = Phase.PRE\n    keep = 'ever'\n"
    )
    (folder / "first.py").write_text(
        HEAD
        + "from . import WHERE\nfrom ._shared import Base\nfrom .helpers.deep import DEPTH\n"
        + source("First", "irreversible = WHERE + str(DEPTH)", base="Base")
    )
    (folder / "second.py").write_text(
        HEAD + "from .first import First\n" + source("Second") + "Alias = Second\n"
    )
    (folder / "helpers").mkdir()
    (folder / "helpers" / "deep.py").write_text("DEPTH = 2\n")
    before = list(sys.path)
    loaded = load(folder)
    assert loaded.problems == ()
    assert ids(loaded) == ["logging/first", "logging/second"]
    assert loaded.migrations[0].irreversible == "the package2"
    assert sys.path == before


def test_folders_in_it_are_searched_too_but_not_what_begins_with_an_underscore(
    folder: Path, load: Load
) -> None:
    for place in ("logging/disks", "_drafts", ".git", "logging/_old"):
        (folder / place).mkdir(parents=True)
        (folder / place / "a.py").write_text("raise RuntimeError('imported')\n")
    (folder / "_shared.py").write_text("WHY = 'a disk stays'\n")
    (folder / "logging" / "disks" / "a.py").write_text(
        HEAD + "from ..._shared import WHY\n" + source("Deep", GOOD_BODY + "\nirreversible = WHY")
    )
    (folder / "logging" / "flat.py").write_text(HEAD + source("Flat"))
    loaded = load(folder)
    assert loaded.problems == ()
    assert ids(loaded) == ["logging/deep", "logging/flat"]
    assert loaded.migrations[0].irreversible == "a disk stays"
    assert loaded.files["logging/deep"] == f"{folder}/logging/disks/a.py"


def test_problems_of_nested_folders_name_their_true_place(folder: Path, load: Load) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "__init__.py").write_text("\n1 / 0\n")
    (folder / "sub" / "a.py").write_text(HEAD + source())
    (folder / "my-own").mkdir()
    (folder / "my-own" / "a.py").write_text(HEAD + source())
    (folder / "tests").mkdir()
    (folder / "tests" / "test_a.py").write_text("import nothing_of_that_name\n")
    problems = load(folder).problems
    assert problems[0].startswith(f"{folder}/my-own/a.py:1: 'my-own' is no Python name")
    assert problems[1] == (
        f"{folder}/sub/__init__.py:2: can't be imported: ZeroDivisionError: division by zero"
    )
    assert problems[2].startswith(f"{folder}/tests/test_a.py:1: can't be imported: ModuleNotFoundError")
    assert problems[2].endswith(
        "or let the file's name, or its folder's, begin with _ if it is no migration)"
    )
    assert len(problems) == 3


def test_a_file_that_was_added_to_a_nested_folder_is_loaded(folder: Path, load: Load) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.py").write_text(HEAD + source("One"))
    assert ids(load(folder)) == ["logging/one"]
    (folder / "sub" / "b.py").write_text(HEAD + source("Two"))
    assert ids(load(folder)) == ["logging/one", "logging/two"]


def test_bases_are_no_migrations(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text(
        HEAD
        + "from abc import ABC\n"
        + "class Plain(Migration):\n    component = 'logging'\n\n"
        + "class Marked(Migration, ABC):\n    pass\n\n"
        + source("_Hidden", "pass")
        + source("Real", "phase = Phase.PRE\nremove_in = '9'", base="Plain")
    )
    loaded = load(folder)
    assert loaded.problems == ()
    assert ids(loaded) == ["logging/real"]


def test_a_migration_that_lacks_run_is_no_base(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text(
        HEAD
        + "\nclass Forgot(Migration):\n    '''Doc.'''\n    component = 'logging'\n    phase = Phase.PRE\n"
        + "    keep = 'ever'\n    def check(self, ctx):\n        return needed('x')\n"
    )
    [problem] = load(folder).problems
    assert problem.startswith(f"{folder}/a.py:5: Forgot: it lacks run")


GOOD = {"component": '"logging"', "phase": "Phase.PRE", "remove_in": '"9.9"'}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"component": None}, "it has no component"),
        ({"component": "3"}, "component must be a component's name, not 3"),
        ({"component": '"a b"'}, "component must be"),
        ({"phase": None}, "it has no phase"),
        ({"phase": '"pre"'}, "phase must be Phase.PRE or Phase.POST, not 'pre'"),
        ({"remove_in": None}, "neither remove_in"),
        ({"keep": '"ever"'}, "both remove_in and keep"),
        ({"remove_in": "2.12"}, "remove_in must be a version in quotes, such as '2.12', not 2.12"),
        ({"remove_in": '"soon"'}, "remove_in must be a version"),
        ({"after": '"logging/x"'}, "after must be a list of ids"),
        ({"after": "[1]"}, "after must be a list of ids"),
        ({"after": '["logging/x"]'}, "after names 'logging/x', and there is no such migration"),
        ({"on_failure": '"ignore"'}, "on_failure must be one of fail, warn, not 'ignore'"),
        ({"timeout": "0"}, "timeout must be a number of seconds above 0, not 0"),
        ({"timeout": "True"}, "timeout must be"),
        ({"timeout": '"5"'}, "timeout must be"),
        ({"name": '"a/b"'}, "name must consist of"),
        ({"irreversible": "True"}, "irreversible must be a text"),
        ({"irreversible": "'x'", "irreversible_kinds": "'Secret'"}, "irreversible_kinds must be a list"),
        ({"irreversible_kinds": "['Secret']"}, "irreversible does not say why"),
        ({"undo": "'by hand'"}, "undo must be a function, not 'by hand'"),
    ],
)
def test_problems_of_a_class_name_file_and_line(
    folder: Path, load: Load, changes: dict[str, str | None], expected: str
) -> None:
    attributes = {**GOOD, **changes}
    body = "\n".join(f"{name} = {value}" for name, value in attributes.items() if value is not None)
    (folder / "a.py").write_text(HEAD + "\n\n" + source("Wrong", body))
    problems = load(folder).problems
    assert any(p.startswith(f"{folder}/a.py:6: Wrong: ") and expected in p for p in problems), problems
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("onfailure = 'warn'", "onfailure is no attribute of a migration: did you mean on_failure?"),
        ("onFailure = 'warn'", "onFailure is no attribute of a migration: did you mean on_failure?"),
        ("removed_in = '9.9'", "removed_in is no attribute of a migration: did you mean remove_in?"),
        ("time_out = 5", "time_out is no attribute of a migration: did you mean timeout?"),
        ("irreversable = 'no'", "irreversable is no attribute of a migration: did you mean irreversible?"),
        ("def un_do(self, ctx): pass", "un_do is no attribute of a migration: did you mean undo?"),
        (
            "colour = 'red'",
            "colour is no attribute of a migration; an attribute of your own begins with an under",
        ),
    ],
)
@pytest.mark.parametrize("base", [False, True])
def test_an_unknown_attribute_is_reported(
    folder: Path, load: Load, line: str, expected: str, base: bool
) -> None:
    if base:
        text = source("_Base", f"{GOOD_BODY}\n{line}") + source(base="_Base")
    else:
        text = source("Mark", f"{GOOD_BODY}\n{line}")
    (folder / "one.py").write_text(HEAD + text)
    [problem] = load(folder).problems
    assert f": Mark: {expected}" in problem


def test_private_members_of_a_class_are_no_problem(folder: Path, load: Load) -> None:
    mixin = "class Mixin:\n    color = 'red'\n\n\n"
    own = "_color = 'red'\nCOLOR = 'red'\nsize: int\nclass Helper: pass\ndef helper(self): pass\n"
    own += "@property\ndef checks(self): return 1\n@staticmethod\ndef runs(): pass"
    text = source("Mark", f"{GOOD_BODY}\n{own}", base="Mixin, Migration")
    (folder / "one.py").write_text(HEAD + mixin + text)
    assert load(folder).problems == ()


def test_a_missing_docstring_and_an_async_run_are_reported(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text(HEAD + source(doc="").replace("def run", "async def run"))
    problems = load(folder).problems
    assert [p.partition(": Mark: ")[2][:20] for p in problems] == [
        "run must be a plain ",
        "it has no docstring:",
    ]


def test_duplicate_ids_name_both_places(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text(HEAD + source("Mark"))
    (folder / "b.py").write_text(HEAD + "\n" + source("Mark"))
    assert load(folder).problems == (
        f"{folder}/b.py:5: Mark: the id logging/mark is already taken by {folder}/a.py:4",
    )


def test_a_cycle_is_reported_once_with_all_its_places(folder: Path, load: Load) -> None:
    body = 'component = "logging"\nphase = Phase.PRE\nremove_in = "9"\nafter = ["logging/{}"]'
    (folder / "a.py").write_text(HEAD + source("A", body.format("b")) + source("B", body.format("a")))
    (folder / "c.py").write_text(HEAD + source("C", body.format("c")))
    problems = load(folder).problems
    assert len(problems) == 2
    assert "logging/a -> logging/b" in problems[0]
    assert "logging/b -> logging/a" in problems[0]
    assert f"{folder}/a.py:4" in problems[0]
    assert f"{folder}/a.py:15" in problems[0]
    assert problems[1].startswith(f"{folder}/c.py:4: C: after makes a cycle: logging/c -> logging/c")


def test_after_stays_within_component_and_phase(folder: Path, load: Load) -> None:
    body = 'component = "logging"\nphase = Phase.{}\nremove_in = "9"'
    (folder / "a.py").write_text(
        HEAD + source("A", body.format("PRE")) + source("B", body.format("POST") + '\nafter = ["logging/a"]')
    )
    [problem] = load(folder).problems
    assert "after names logging/a, which belongs to logging (pre)" in problem


def test_syntax_and_import_errors_name_the_true_file_and_line(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text("x = 1\ndef f(:\n")
    (folder / "b.py").write_text("x = 1\n\nraise RuntimeError('no such luck')\n")
    (folder / "c.py").write_text("from . import _helper\n")
    (folder / "_helper.py").write_text("\n\n1 / 0\n")
    (folder / "d.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "e-f.py").write_text("")
    (folder / "g.py").write_bytes(b"x = 1\0")
    problems = load(folder).problems
    assert problems[0].startswith(f"{folder}/a.py:2: ")
    assert problems[1] == f"{folder}/b.py:3: can't be imported: RuntimeError: no such luck"
    assert problems[2] == f"{folder}/_helper.py:3: can't be imported: ZeroDivisionError: division by zero"
    assert problems[3].startswith(f"{folder}/d.py:2: can't be imported: SystemExit: 3 (")
    assert problems[4].startswith(f"{folder}/e-f.py:1: 'e-f' is no Python name")
    assert problems[5].startswith(f"{folder}/g.py:1: ")
    assert len(problems) == 6


def test_packing_runs_nothing(folder: Path) -> None:
    (folder / "a.py").write_text("def f(:\n")
    (folder / "b.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    archive = pack_migrations([MigrationFolder("yours", str(folder))])
    assert not (folder / "ran").exists()
    assert archive == pack_migrations([MigrationFolder("yours", str(folder))])


def test_an_error_while_running_names_the_true_file(folder: Path, load: Load) -> None:
    text = HEAD + source("Mark").replace("not_needed('nothing to do')", "1 / 0")
    (folder / "a.py").write_text(text)
    [outcome] = run_migrations(load(folder).migrations, setting())
    line = text.splitlines().index("        return 1 / 0") + 1
    assert outcome.error == f"ZeroDivisionError: division by zero ({folder}/a.py:{line})"


def test_a_folder_that_is_not_there_is_named_and_does_no_harm(tmp_path: Path, load: Load) -> None:
    loaded = load(tmp_path / "nowhere")
    assert loaded.migrations == ()
    assert loaded.problems == ()
    assert loaded.searched == (f"{tmp_path / 'nowhere'} (yours): not there",)


def test_a_folder_named_twice_is_searched_once(folder: Path) -> None:
    (folder / "a.py").write_text(HEAD + source())
    (folder.parent / "link").symlink_to(folder)
    twice = [
        MigrationFolder("acme.platform", str(folder)),
        MigrationFolder("yours", str(folder.parent / "link")),
    ]
    loaded = load_folders(twice)
    assert ids(loaded) == ["logging/mark"]
    assert loaded.searched == (f"{folder} (acme.platform)",)


def test_an_edited_file_is_loaded_again(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text(HEAD + source("One"))
    assert ids(load(folder)) == ["logging/one"]
    (folder / "a.py").write_text(HEAD + "\n" + source("Another"))
    assert ids(load(folder)) == ["logging/another"]


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArchive, match="can't be read"):
        load_archive(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(BadArchive, match="can't be read"):
        load_archive(tmp_path / "text.zip")


def test_the_collections_own_are_found_both_ways(tmp_path: Path) -> None:
    mine = tmp_path / "kyma_migrations"
    mine.mkdir()
    (mine / "a.py").write_text(HEAD + source())
    direct = discover_migrations([str(mine)], [])
    archive = tmp_path / "all.zip"
    archive.write_bytes(pack_migrations(folders_of([str(mine)], [])))
    sent = load_archive(archive)
    assert (
        ids(direct)
        == ids(sent)
        == [
            "certificates/adopt-gateway",
            "logging/grow-loki-volume",
            "logging/mark",
        ]
    )
    assert direct.problems == sent.problems == ()
    assert direct.searched == sent.searched
    assert direct.searched[0] == f"{own_folder().path} (kyma.lifecycle)"
    assert direct.files == sent.files == {"logging/mark": f"{mine}/a.py"}


def test_the_collections_own_import_nothing_but_the_contract() -> None:
    # Inside a packed module only what is imported statically is there, and they are sent along as files.
    for path in Path(own_folder().path).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ansible_collections."):
                assert node.module == CONTRACT, path


def discover_shipped(collections: list[str], target: Path) -> MigrationSet:
    target.write_bytes(pack_migrations(folders_of([], collections)))
    return load_archive(target)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nobody.here", "which is not installed in "),
        ("kyma.lifecycel", "did you mean kyma.lifecycle?"),
        ("kyma.lifecycle", "there are no migrations in its folder"),
        ("platform", "which is no collection's name: it must be namespace.name"),
        ("../etc", "which is no collection's name"),
    ],
)
def test_a_collection_that_has_none_is_refused_with_what_to_do(
    tmp_path: Path, name: str, expected: str
) -> None:
    loaded = discover_migrations([], [name])
    [problem] = loaded.problems
    assert problem.startswith(f"migration_collections lists {name}") or repr(name) in problem
    assert expected in problem
    assert loaded.migrations == ()
    assert f"({name}): not there" in loaded.searched[1]
    assert discover_shipped([name], tmp_path / "all.zip") == loaded


@pytest.fixture
def collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which collections ``acme.<name>`` are installed."""
    import ansible_collections

    root = tmp_path / "ansible_collections"
    monkeypatch.setattr(ansible_collections, "__path__", [*ansible_collections.__path__, str(root)])
    yield root / "acme"
    for name in [name for name in sys.modules if name.startswith("ansible_collections.acme")]:
        del sys.modules[name]


def test_ids_collide_over_collections_with_both_places(collections: Path, tmp_path: Path) -> None:
    places = [collections / name / "plugins" / "module_utils" / "kyma_migrations" for name in ("one", "two")]
    for place in places:
        place.mkdir(parents=True)
        (place / "marks.py").write_text(HEAD + source("Mark"))
    loaded = discover_migrations([], ["acme.one", "acme.two"])
    assert loaded.problems == (
        f"{places[1]}/marks.py:4: Mark: the id logging/mark is already taken by {places[0]}/marks.py:4",
    )
    assert discover_shipped(["acme.one", "acme.two"], tmp_path / "all.zip") == loaded
    (places[1] / "marks.py").write_text(HEAD + source("Other"))
    both = discover_migrations([], ["acme.one", "acme.two"])
    assert ids(both)[2:] == ["logging/mark", "logging/other"]
    assert [entry.rpartition("(")[2] for entry in both.searched] == [
        "kyma.lifecycle)",
        "acme.one)",
        "acme.two)",
    ]


def test_an_import_that_fails_says_what_to_do(folder: Path, load: Load) -> None:
    (folder / "a.py").write_text("import nothing_of_that_name.inside\n")
    (folder / "b.py").write_text("from .sibling import THING\n")
    (folder / "c.py").write_text("from ansible_collections.acme.nowhere.plugins import thing\n")
    (folder / "d.py").write_text("raise SystemExit\n")
    library, sibling, other, ending = load(folder).problems
    place = f"{folder}/a.py:1: can't be imported: ModuleNotFoundError"
    assert library.startswith(place)
    assert f"(install it for {sys.executable}, which runs the migrations, or do without it, or let" in library
    assert "import each other relatively" in sibling
    assert "of collections only the contract" in other
    assert ending.startswith(f"{folder}/d.py:1: can't be imported: SystemExit (")


def test_a_file_that_can_not_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.py").write_text(HEAD + source())

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UnreadableMigration, match=f"{folder}/a.py: can't be read: Permission denied"):
        pack_migrations([MigrationFolder("yours", str(folder))])


def test_a_file_that_prints_when_it_is_imported_is_no_problem(
    folder: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(HEAD + "print('{')\n" + source())
    assert ids(load(folder)) == ["logging/mark"]
    assert capsys.readouterr().out == "{\n"


@pytest.mark.parametrize("arguments", ["self", "self, ctx, more", "self, *, ctx", ""])
def test_methods_must_take_the_context(folder: Path, load: Load, arguments: str) -> None:
    (folder / "a.py").write_text(HEAD + source().replace("check(self, ctx)", f"check({arguments})"))
    [problem] = load(folder).problems
    assert "check must take one argument beside self, the context: def check(self, ctx)" in problem


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("logging/grow-t", "did you mean logging/grow-it?"),
        ("istio/labels", "if it has been retired, take it out of after"),
    ],
)
def test_an_unknown_id_in_after_says_what_to_do(folder: Path, load: Load, after: str, expected: str) -> None:
    (folder / "a.py").write_text(
        HEAD
        + source("GrowIt")
        + source("Next", f'component = "logging"\nphase = Phase.PRE\nkeep = "x"\nafter = ["{after}"]')
    )
    [problem] = load(folder).problems
    assert f"after names {after!r}, and there is no such migration: {expected}" in problem


def test_nothing_is_loaded_of_a_collection_that_is_not_listed_or_from_a_release(
    collections: Path, tmp_path: Path
) -> None:
    release = tmp_path / "kyma-2.9"
    for place in (
        collections / "one" / "plugins" / "module_utils" / "kyma_migrations",
        release / "kyma_migrations",
    ):
        place.mkdir(parents=True)
        (place / "marks.py").write_text("raise SystemExit(1)\n")
    loaded = discover_migrations([str(tmp_path / "users")], [])
    assert len(loaded.searched) == 2
    assert not any(name in entry for entry in loaded.searched for name in ("acme", "kyma-2.9"))


def test_sets_are_plain_values(folder: Path) -> None:
    assert dataclasses.is_dataclass(from_folder(folder))
