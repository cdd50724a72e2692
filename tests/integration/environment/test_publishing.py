# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a release manager does: a changelog of the fragments, and a tarball whose signature Ansible checks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from tests.cluster.paths import BUILD, ROOT
from tests.make import content, release, tarball
from tests.make.command import CommandError
from tests.make.environments import LINT, MAIN
from tests.support.extent import IS_FULL

AUTHOR = ("-c", "user.name=a test", "-c", "user.email=test@example.com")


def run(folder: Path, *command: str | Path, fine: bool = True, **variables: str) -> str:
    """The output of a command in a folder."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **LINT.variables, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is fine, done.stdout
    return done.stdout


def copy_of_collection(collections: Path) -> Path:
    """A copy of what Git tracks, beside the collection that it depends on."""
    target = collections / "ansible_collections" / "kyma" / "lifecycle"
    for path in content.tracked_files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target / path)
    (collections / "ansible_collections" / "kubernetes").symlink_to(
        BUILD / "ansible_collections" / "kubernetes"
    )
    run(target, "git", "init", "--quiet")
    return target


def commit(folder: Path) -> None:
    """Commit all that differs in a work tree."""
    for words in (["add", "--all"], [*AUTHOR, "commit", "--quiet", "--message", "all"]):
        run(folder, "git", *words)


def write_fragment(path: Path, text: str) -> None:
    """Write a fragment of the changelog."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\nminor_changes:\n  - {text}\n")


if IS_FULL:  # Each takes a quarter of a minute.

    def test_a_page_becomes_the_first_release_and_fragments_the_next_one(tmp_path: Path) -> None:
        copy = copy_of_collection(tmp_path)
        metadata = copy / release.CHANGELOG
        page = {"changes": {"release_summary": "What it does."}}
        metadata.write_text(yaml.safe_dump({"ancestor": None, "releases": {"1.0.0": page}}))
        fragments = copy / "changelogs" / "fragments"
        write_fragment(fragments / "before.yml", "What no user has had.")

        commit(copy)
        assert release.prepare(copy, "1.0.0-rc.1", "2030-01-02").failed == 0
        assert "\nv1.0.0-rc.1\n===========\n" in (copy / "CHANGELOG.rst").read_text()
        assert "release_date: '2030-01-02'" in metadata.read_text()
        assert "kyma-lifecycle-1.0.0-rc.1.tar.gz" in (copy / "README.md").read_text()
        assert list(fragments.glob("*.yml")) == []

        release.write_notes(copy, tmp_path / "notes.md")
        assert "What it does" in (tmp_path / "notes.md").read_text()
        commit(copy)
        assert release.prepare(copy, "1.0.0", "2030-02-03").failed == 0
        changelog = (copy / "CHANGELOG.rst").read_text()
        assert re.findall(r"^v.*$", changelog, re.MULTILINE) == ["v1.0.0"]
        assert "What it does." in changelog
        assert "What no user has had." not in changelog

        commit(copy)
        write_fragment(fragments / "trial.yml", "A trial of a release.")
        commit(copy)
        assert release.prepare(copy, "1.1.0", "2030-03-04").failed == 0
        changelog = (copy / "CHANGELOG.rst").read_text()
        assert re.findall(r"^v.*$", changelog, re.MULTILINE) == ["v1.1.0", "v1.0.0"]
        assert "- A trial of a release." in changelog
        release.write_notes(copy, tmp_path / "notes.md")
        notes = (tmp_path / "notes.md").read_text()
        assert "A trial of a release" in notes
        assert "What it does" not in notes
        with pytest.raises(CommandError, match="is not newer"):
            release.prepare(copy, "1.1.0", "2030-03-04")

    @pytest.fixture
    def keyring() -> Iterator[Path]:
        """A folder of GnuPG with a key that only this test has, and its keyring as users import it."""
        # In a short path: the agent's socket is in it, and the path of a socket has at most 107 characters.
        with TemporaryDirectory(prefix="gpg-") as folder:
            home = Path(folder)
            new_key = ("--quick-generate-key", "release@example.com", "ed25519", "sign", "1d")
            loopback = ("--pinentry-mode", "loopback", "--passphrase", "")
            run(home, "gpg", "--batch", *loopback, *new_key, GNUPGHOME=folder)
            run(home, "gpg", "--batch", "--output", "kyma.gpg", "--export", GNUPGHOME=folder)
            yield home
            run(home, "gpgconf", "--kill", "all", GNUPGHOME=folder)

    def test_the_workflow_signs_a_manifest_with_a_key_that_has_a_passphrase(tmp_path: Path) -> None:
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
        steps = workflow["jobs"]["publish"]["steps"]
        (script,) = [step["run"] for step in steps if "--detach-sign" in step.get("run", "")]
        (tmp_path / "release").mkdir()
        (tmp_path / "release" / "MANIFEST.json").write_text("{}")
        # In a short path, as the keyring above.
        with TemporaryDirectory(prefix="gpg-") as home:
            batch = ("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "a pass phrase")
            new_key = ("--quick-generate-key", "release@example.com", "ed25519", "sign", "1d")
            run(tmp_path, *batch, *new_key, GNUPGHOME=home)
            key = run(tmp_path, *batch, "--armor", "--export-secret-keys", GNUPGHOME=home)
            bash = ("bash", "-euo", "pipefail", "-c", script)
            run(tmp_path, *bash, KEY=key, PASSPHRASE="a pass phrase", GNUPGHOME=f"{home}/unused")
            signature = tmp_path / "release" / "MANIFEST.json.asc"
            checked = run(tmp_path, "gpg", "--verify", signature, "release/MANIFEST.json", GNUPGHOME=home)
            run(tmp_path, "gpgconf", "--kill", "all", GNUPGHOME=home)
        assert "Good signature" in checked

    def test_a_signed_release_is_installed_and_another_one_is_refused(tmp_path: Path, keyring: Path) -> None:
        copy = copy_of_collection(tmp_path / "copy")
        built = tarball.build(copy, tmp_path, 1_800_000_000)
        run(tmp_path, "tar", "-xzf", built, "MANIFEST.json")
        sign = ("gpg", "--batch", "--armor", "--detach-sign", "MANIFEST.json")
        run(tmp_path, *sign, GNUPGHOME=str(keyring))
        checks = ("--keyring", keyring / "kyma.gpg", f"--signature=file://{tmp_path}/MANIFEST.json.asc")
        galaxy = (MAIN.bin / "ansible-galaxy", "collection")
        place = {"HOME": str(tmp_path), "ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "installed")}

        def install(path: Path, *, fine: bool) -> str:
            with server_of(path) as address:
                words = ("kyma.lifecycle", "--server", address, "--no-deps", "--force")
                return run(tmp_path, *galaxy, "install", *words, *checks, fine=fine, **place)

        assert "kyma.lifecycle:" in install(built, fine=True)
        verify = (*galaxy, "verify", "kyma.lifecycle", "--offline", *checks)
        assert "Successfully verified" in run(tmp_path, *verify, **place)
        (copy / "README.md").write_text("another one\n")
        other = tarball.build(copy, tmp_path / "copy", 1_800_000_000)
        assert "GnuPG signature verification failed" in install(other, fine=False)
        # A tarball that is installed from a file is verified afterwards: ansible-galaxy can't do it before.
        run(tmp_path, *galaxy, "install", other, "--offline", "--no-deps", "--force", **place)
        assert "verification failed" in run(tmp_path, *verify, fine=False, **place)


@contextmanager
def server_of(path: Path) -> Iterator[str]:
    """The address of a Galaxy server that has this tarball alone, by version 3 of its API."""
    version = path.name.split("-")[2].removesuffix(".tar.gz")
    versions = "/api/v3/collections/kyma/lifecycle/versions/"
    answers: dict[str, Any] = {
        "/api/": {"available_versions": {"v3": "v3/"}},
        "/api/v3/collections/kyma/lifecycle/": {"updated_at": "2026-01-01T00:00:00Z"},
        versions: {"data": [{"version": version}], "links": {"next": None}},
        f"{versions}{version}/": {
            "namespace": {"name": "kyma"},
            "collection": {"name": "lifecycle"},
            "version": version,
            "download_url": f"/{path.name}",
            "artifact": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
            "metadata": {"dependencies": {}},
            "href": f"{versions}{version}/",
        },
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = self.path.partition("?")[0]
            is_tarball = place == f"/{path.name}"
            body = path.read_bytes() if is_tarball else json.dumps(answers.get(place, {})).encode()
            self.send_response(200 if is_tarball or place in answers else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api/"
        finally:
            server.shutdown()
            thread.join()
