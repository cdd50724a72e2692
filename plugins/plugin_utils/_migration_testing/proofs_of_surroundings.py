# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that a migration respects its environment: Secrets, manifests, and the process."""

from __future__ import annotations

import inspect
import io
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace

from ...module_utils.migration import Migration
from .attempt_record import AttemptRecord, attempt_migration, check_migration
from .case import Case
from .process_state import is_of_author
from .secret_values import secret_values, shows, texts_in
from .state import bullet_list

Problems = Iterator[str]

OTHER_RELEASES = ("0.0.1", "98.7.6")
MOST_RELEASES = 10
RELEASE = re.compile(r"""["']([1-9]\d?(?:\.\d{1,2}){0,2})\.?["']|\(([1-9]\d?), (\d{1,2})\)""")
"""A release in the code of a migration, or its parts."""
DECIDE = "it decides by ctx.release. Let it decide from the cluster, which may have come from any release"


def keeps_secrets(case: Case) -> Problems:
    """No value of a Secret is in its evidence, its log, its output, or an object that is no Secret."""
    with _output() as output:
        cluster = case.start()
        attempts = [case.attempt(cluster), check_migration(case.migration, case.start_after(), case.around)]
    said = {
        "evidence": [verdict.evidence for attempt in attempts for verdict in attempt.verdicts],
        "log or errors": [*case.said, *(text for one in attempts for text in (*one.said, one.error))],
        "output": [output.getvalue()],
    }
    public = [text for obj in case.before if obj["kind"] != "Secret" for text in texts_in(obj)]
    others = {ref: obj for ref, obj in case.undisturbed[1].items() if obj and ref.kind != "Secret"}
    for ref, key, value in secret_values([*case.before, *case.after]):
        places = [f"its {place}" for place, texts in said.items() if shows(texts, value)]
        if not shows(public, value):
            places += [str(other) for other, obj in others.items() if shows(texts_in(obj), value)]
        for place in places:
            yield f"the value of data.{key} of {ref} is in {place}: name the Secret and its key instead"


@contextmanager
def _output() -> Iterator[io.StringIO]:
    """Everything that any thread prints, or logs by Python's logging."""
    output = io.StringIO()
    handler, logger = logging.StreamHandler(output), logging.getLogger()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            yield output
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def leaves_release_alone(case: Case) -> Problems:
    """It does not change its copies of the manifests of components and of the user's variables."""
    attempts = [case.undisturbed[0], check_migration(case.migration, case.start_after(), case.around)]
    contexts = [context for attempt in attempts for context in attempt.contexts]
    for name, component in case.around.components.items():
        original = list(component.objects)
        if any(
            name not in one.components or list(one.components[name].objects) != original for one in contexts
        ):
            yield (
                f"it changes ctx.components[{name!r}], which says what the release wants: copy an object "
                f"(copy.deepcopy) before changing it"
            )
    if any(one.variables != case.around.variables for one in contexts):
        yield "it changes ctx.variables, which says what the user wants: copy it before changing it"


def decides_without_release(case: Case) -> Problems:
    """For other releases, its check decides the same, and its run has the same result."""
    undisturbed, reached = case.undisturbed
    done = check_migration(case.migration, case.start_after(), case.around)
    if case.server.waits or undisturbed.error or done.error:
        return
    for release in (*OTHER_RELEASES, *_releases_named_in(case.migration)):
        around = replace(case.around, release=release)
        cluster = case.start()
        attempt = attempt_migration(case.migration, cluster, around)
        again = check_migration(case.migration, case.start_after(), around)
        for name, was, now in (("before", undisturbed, attempt), ("after", done, again)):
            if now.error or now.verdict != was.verdict:
                said = now.error or now.reason
                yield f"on `{name}`, check said {was.reason}, and for release {release} {said}: {DECIDE}"
                return
        problems = case.differences(case.state(cluster), reached, f"release {case.around.release}")
        if problems := [problem for problem in problems if release not in problem]:
            yield f"for release {release}, its run has another result: {DECIDE}" + bullet_list(problems)
            return


def _releases_named_in(migration: type[Migration]) -> list[str]:
    """Releases that the files of its classes may mean: ``"2.9"``, ``"2."``, ``(2, 9)``."""
    modules = {one.__module__ for one in migration.__mro__ if is_of_author(one.__module__)}
    sources = " ".join(inspect.getsource(sys.modules[one]) for one in modules)
    named = {".".join(filter(None, parts)) for parts in RELEASE.findall(sources)}
    precise_first = sorted(named, key=lambda text: (-text.count("."), text))[:MOST_RELEASES]
    return [text if "." in text else f"{text}.0" for text in precise_first]


def check_stands_an_empty_cluster(case: Case) -> Problems:
    """On an empty cluster, even without the kinds, its check returns a verdict, and does not block."""
    attempt = check_migration(case.migration, case.server.hold([]), case.around)
    said = attempt.error or (attempt.reason if attempt.verdict == "blocked" else "")
    if said:
        yield (
            f"on an empty cluster, {said}: it would block each first installation. Let check say not_needed "
            f"where there is nothing to migrate; get answers None and list nothing for what is not there"
        )


def check_uses_the_cluster_alone(case: Case) -> Problems:
    """Its check decides from the cluster, and uses no file, program, socket, clock or random value."""
    for name, cluster in (("before", case.start()), ("after", case.start_after())):
        attempt: AttemptRecord = check_migration(case.migration, cluster, case.around)
        for use in attempt.process.in_check:
            yield (
                f"on `{name}`, check {use}: it decides from the cluster alone, as it is asked again in "
                f"another process, on another machine and at another time. What it has to know beside that "
                f"comes by ctx.variables"
            )
