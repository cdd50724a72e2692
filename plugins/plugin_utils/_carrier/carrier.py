# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of all our action plugins: it brings a task's function to the host where it works."""

from __future__ import annotations

import json
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ansible import constants as C
from ansible.errors import AnsibleAction, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from ...module_utils._carrier.module_materials import NO_MODULE_MATERIALS
from ...module_utils._carrier.options import (
    CARRIER_ARGUMENT,
    CATALOG,
    MIGRATIONS_ARCHIVE,
    MODULES_FILE,
    RELEASE_BUNDLE,
    RENDERING_OPTIONS,
    full_argument_spec,
    release_request,
    requested_profile,
)
from ...module_utils._carrier.progress_file import ProgressLine
from ...module_utils._carrier.task import NO_NOTES, ControllerNotes, Result, TaskDefinition
from ...module_utils._carrier.task_call import (
    WANTED_PROFILE,
    call_task_function,
    defect_result,
    error_result,
    failed_result,
)
from ...module_utils._errors import LifecycleError
from ...module_utils._migrations.migration_set import MigrationSet
from ...module_utils._progress import Progress, no_progress
from ...module_utils._redaction import without_logins
from ...module_utils._release.model import Release
from ...module_utils._runs.cluster_state import attempt_of_result
from ...module_utils._runs.outcomes import SUCCEEDED
from .._release.cache import ReleaseCache
from .arguments import Arguments, validate
from .cluster_log import CLUSTER_LOG
from .command_target import CommandTarget, with_whole_commands
from .interpreter import has_libraries, import_early, with_own_python
from .materials import ControllerMaterials
from .mistyped_options import VERBOSITY_VARIABLE, texts_below, variable_warnings, verbosity_of
from .paths import SearchPath, absolute_kubeconfigs, folders_of_named_files, resolve_paths
from .role_options import is_in_own_role, role_options
from .role_search import missing_roles
from .screen.brief_output import brief_summary, brief_warnings
from .screen.console import host_label, is_stdout_for_people, label_lines, print_block, print_line
from .screen.progress_view import PrintedLine, ProgressView, Verbosity
from .screen.terminal import sanitize_result, with_host
from .signals import cancelled_result, defer_signals, is_stop_requested, restore_signals
from .task_end import counted_result, ends_play
from .task_target import task_target
from .temporary_files import TEMPORARY_FOLDER_CLEANUP
from .url_logins import UrlLogins

if TYPE_CHECKING:
    from .._modules.module_sources import ModuleSources

TaskVars = dict[str, Any]

# Every task needs them to reach a cluster.
import_early("urllib3", "yaml")

ROLE_OPTIONS = ("component_roles", "migration_roles")
"""The options that name Ansible roles, by component; a module has both or neither."""
MIGRATIONS_FOLDER = "kyma_migrations"
"""The folder beside a playbook or an inventory whose migrations take part by themselves."""


class Carrier(ActionBase):
    """Runs the function of one :class:`~.task.TaskDefinition`.

    Attributes:
        definition: the task to run; on other hosts, the module of the task's own name runs it.
    """

    definition: TaskDefinition
    checks_variables: ClassVar[bool] = False
    """Whether it warns of misspelt variables where a role of this collection calls it."""
    manifests: Sequence[str] = ()
    """Links of manifests that a module on another host has asked for."""

    sent_profile: str | None = None
    """The profile in which a module on another host has asked for the release."""

    is_log = False
    """Whether each report is a line of its own, as the task has no end."""

    _supports_check_mode = True
    _supports_async = True

    @abstractmethod
    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """Run the function where it works, and return its result."""

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See ActionBase."""
        super().run(tmp, task_vars)
        if is_stop_requested():
            return cancelled_result("it was not started, as ansible-playbook was asked to stop")
        try:
            verbosity = (task_vars or {}).get(VERBOSITY_VARIABLE, Verbosity.NORMAL.value)
            shown = verbosity_of(self._templar.template(verbosity))
            self._view = ProgressView(shown, is_log=self.is_log, has_notices=self._display.verbosity > 0)
        except (ValueError, AnsibleError) as error:
            return failed_result(str(error))
        restore_signals()
        host = _host_of(task_vars or {})
        try:
            result = self._carried(task_vars or {})
        except AnsibleConnectionFailure as error:
            result = {"unreachable": True, "changed": False, "msg": str(error)}
        except AnsibleAction:
            raise
        except AnsibleError as error:
            # Such as an undefined variable, or a file that cannot be decrypted.
            result = failed_result(str(error))
        except Exception as error:
            result = defect_result(error)
        result = with_host(sanitize_result(result), host)
        if "invocation" in result:
            result["invocation"] = without_logins(result["invocation"])
        if warnings := self._variable_warnings(task_vars or {}):
            result["warnings"] = [*result.get("warnings", ()), *warnings]
        if result.get("warnings") and not getattr(self._task, "no_log", False):
            CLUSTER_LOG.write_warnings(result["warnings"])
        if self._is_brief() and result.get("warnings"):
            result["warnings"] = brief_warnings(result["warnings"])
        self.log_attempt(result, task_vars or {})
        defer_signals()
        self._summarise(result, host)
        if not is_stop_requested():
            return result
        # They are logged, and would not fit into a pipe without a reader.
        result.pop("failures", None)
        return cancelled_result("ansible-playbook was asked to stop", result)

    def log_attempt(self, result: Result, task_vars: TaskVars) -> None:
        """Report in the table over all clusters if the task ends the play for its host, or was a run."""
        counted = counted_result(self._task, result, task_vars)
        host, is_run = _host_of(task_vars), bool(result.get("run")) and isinstance(result["run"], str)
        CLUSTER_LOG.write(
            [host] if is_run else (),
            attempt_of_result(counted, host),
            self._task,
            counts=ends_play(self._task, counted) or (is_run and result.get("state") == SUCCEEDED),
            target=self.target,
        )

    def _variable_warnings(self, task_vars: TaskVars) -> list[str]:
        if not (self.checks_variables and is_in_own_role(self._task)):
            return []
        own_folder = Path(str(task_vars.get("playbook_dir") or "."))
        return variable_warnings(
            task_vars,
            task_vars.get("ansible_play_hosts_all") or (),
            lambda host: dict(task_vars["hostvars"].raw_get(host)),
            lambda: texts_below([own_folder, *map(Path, C.DEFAULT_ROLES_PATH)]),
        )

    def _carried(self, task_vars: TaskVars) -> Result:
        spec = full_argument_spec(self.definition.argument_spec)
        own = role_options(self._task, spec, task_vars, self._templar.template)
        self._task.args = {**self._task.args, **own}
        if self._connection.transport == "local" and has_libraries():
            task_vars = with_own_python(task_vars, self._task.delegate_to)
        arguments = validate(self.definition, self._task.args, self._task.action)
        if refusal := self.refusal(arguments):
            return failed_result(refusal)
        try:
            paths = resolve_paths(
                arguments.params,
                self._places(task_vars),
                decrypted=self._loader.get_real_file,
                local_connection=self._connection.transport == "local",
            )
            arguments = arguments.with_paths(paths)
            with self._environment():
                self._read_target = cache(partial(task_target, arguments.params, task_vars, self.is_local))
                result = with_whole_commands(self.carry(arguments, task_vars), self._read_target)
                self.target = self._read_target() if result.get("failed") else None
                if self.definition.names_target:
                    result["command_target"] = asdict(self._read_target())
                return result
        except LifecycleError as error:
            message = "\n".join([*arguments.bad_numbers.values(), str(error)])
            return {**error_result(error), "msg": message}

    def refusal(self, arguments: Arguments) -> str:
        """The reason why the task can't work with its options; empty if it can."""
        return "\n".join(one for one in (*arguments.bad_numbers.values(), arguments.problem) if one)

    @property
    def is_local(self) -> bool:
        """Whether the work is done on this machine, as this user."""
        become = self._connection.become
        other_user = become and self.get_become_option("become_user") != self._get_remote_user()
        return self._connection.transport == "local" and not other_user

    _view = ProgressView()
    target: CommandTarget | None = None
    """The cluster of a task that has failed."""
    _read_target: Callable[[], CommandTarget] = CommandTarget
    """Reads what commands in messages need to reach the cluster."""

    def show(self, line: ProgressLine, task_vars: TaskVars) -> None:
        """Take a report of progress, and print at once what the user wants to see of it."""
        self._print(self._view.take(line, time.monotonic()), task_vars)

    def show_due(self, task_vars: TaskVars) -> None:
        """Print a line for a step that lasts too long; to be called a few times a second, or less often."""
        self._print(self._view.due(time.monotonic()), task_vars)

    def _print(self, lines: Sequence[PrintedLine], task_vars: TaskVars) -> None:
        if not self._task.no_log:
            for line in lines:
                color = C.COLOR_ERROR if line.is_failure else None
                text = with_whole_commands({"msg": line.text}, self._read_target)["msg"]
                print_line(self._host_line(text, task_vars), color)

    def _host_line(self, line: object, task_vars: TaskVars) -> str:
        return host_label(_host_of(task_vars), str(line))

    def _summarise(self, result: Result, host: str) -> None:
        """Print the output of a task for people: a short plan, a table of durations."""
        if not (self._task.no_log or is_stop_requested()):
            whole = [str(line) for line in result.get("summary") or ()]
            lines = brief_summary(result) if self._is_brief() else whole
            print_block(label_lines(lines, host), is_plan="plan" in result)

    def _is_brief(self) -> bool:
        """Whether the screen shows less than all: for a person who watches a real run, without ``-v``."""
        whole = (
            self._task.check_mode or self._task.diff or self._display.verbosity or not is_stdout_for_people()
        )
        return not whole

    def materials(
        self, params: Mapping[str, Any], task_vars: TaskVars, progress: Progress = no_progress
    ) -> ControllerMaterials:
        """The controller's material for this task; its reads are reported to ``progress``."""
        folders = [str(folder / MIGRATIONS_FOLDER) for folder in folders_of_named_files(task_vars)]
        return ControllerMaterials(
            self.url_logins.complete(release_request(params)),
            migration_folders=tuple(dict.fromkeys([*folders, *(params.get("migration_paths") or ())])),
            migration_collections=tuple(params.get("migration_collections") or ()),
            bundles=ReleaseCache(
                C.DEFAULT_LOCAL_TMP,
                lambda text: print_line(self._host_line(text, task_vars)),
                before_writing=TEMPORARY_FOLDER_CLEANUP.remove_after_exit,
            ),
            hide_login=self.url_logins.hide,
            catalog=params.get("release_catalog") if params.get("hops") == "auto" else None,
            modules=self.modules(params) or NO_MODULE_MATERIALS,
            missing_roles=lambda names: missing_roles(names, self._loader, self._task.collections or ()),
            on_release_read=lambda release: self.on_release_read(release, params),
            on_migrations_found=lambda migration_set: self.on_migrations_found(migration_set, params),
            progress=progress,
        )

    @property
    def url_logins(self) -> UrlLogins:
        """The logins of URLs that no result has."""
        return UrlLogins(C.DEFAULT_LOCAL_TMP, TEMPORARY_FOLDER_CLEANUP.remove_after_exit)

    def _without_logins(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The options with URLs as the function of the task, or the module, gets them."""
        if not self.definition.needs_modules:
            catalog = params.get("release_catalog")
            return {"release_catalog": without_logins(catalog)} if catalog else {}
        from .._modules.hidden_logins import options_without_logins

        return options_without_logins(params)

    def modules(self, params: Mapping[str, Any]) -> ModuleSources | None:
        """The catalog of modules that the options name, if they name any."""
        if not self.definition.needs_modules:
            return None
        # Only tasks about modules need it.
        from .._modules.module_sources import ModuleSources

        return ModuleSources(params)

    def on_release_read(self, release: Release, params: Mapping[str, Any]) -> None:
        """Receive the task's release after it was read, in this process or in the one that works."""

    def on_migrations_found(self, migration_set: MigrationSet, params: Mapping[str, Any]) -> None:
        """Receive the task's migrations, in the same way."""

    def call(
        self,
        arguments: Arguments,
        task_vars: TaskVars,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> Result:
        """Call the function in this process; the arguments are those of :class:`~.task.Task`."""
        result = call_task_function(
            self.definition,
            {**arguments.params, **self._without_logins(arguments.params)},
            materials=self.materials(arguments.params, task_vars, progress),
            progress=progress,
            cancelled=cancelled,
            check_mode=self._task.check_mode,
            diff=self._task.diff,
            notes=self.notes(arguments),
        )
        return arguments.complete(result)

    def notes(self, arguments: Arguments) -> ControllerNotes:
        """The facts about these options that only the controller knows."""
        del arguments
        return NO_NOTES

    def ship(
        self, arguments: Arguments, task_vars: TaskVars, *, background: bool, progress_file: str = ""
    ) -> Result:
        """Run the module on the task's host, with what it needs from the controller sent along.

        Only the module reads which profile the cluster has. If the options name none, it first gets only the
        fingerprint of the release, and asks for the release if it needs it.

        Args:
            arguments: the task's options.
            task_vars: Ansible's variables for the task.
            background: only start it; the answer names the job, not the result.
            progress_file: the file on the host for the module's progress; empty for none.
        """
        hidden = self._without_logins(arguments.params)
        written = {**self._task.args, **arguments.paths}
        written |= {option: hidden[option] for option in hidden.keys() & written.keys()}
        args = {option: value for option, value in written.items() if option not in arguments.bad_numbers}
        if self._sends_release(arguments.params):
            # The module no longer needs them, and a value that a user overrides may be a secret.
            args = {option: value for option, value in args.items() if option not in RENDERING_OPTIONS}
        args[CARRIER_ARGUMENT] = {
            **self._send_materials(arguments.params, task_vars),
            "notes": asdict(self.notes(arguments)),
            "progress_file": progress_file,
        }
        result: Result = self._execute_module(
            module_name=self._task.action,
            module_args=args,
            task_vars=task_vars,
            wrap_async=background,
            # The module does not know CARRIER_ARGUMENT; the user's options were validated here.
            ignore_unknown_opts=True,
        )
        if self.must_send_release(result):
            return self.ship(arguments, task_vars, background=background, progress_file=progress_file)
        return result

    def must_send_release(self, result: Result) -> bool:
        """Whether the module has asked for the release in a profile in which it was not sent."""
        profile = result.pop(WANTED_PROFILE, None)
        if profile in (None, self.sent_profile):
            return False
        self.sent_profile = profile
        return True

    def _sends_release(self, params: Mapping[str, Any]) -> bool:
        return self.definition.needs_release and bool(params.get("release"))

    def _send_materials(self, params: Mapping[str, Any], task_vars: TaskVars) -> dict[str, Any]:
        """Send what the definition needs to the task's temporary folder, which goes when the module ends.

        The answer is for the module: the place of the files, and facts about them.
        """
        materials = self.materials(params, task_vars)
        shell = self._connection._shell
        remote: list[str] = []
        sent: dict[str, Any] = {}

        def path_of(name: str) -> str:
            remote.append(shell.join_path(shell.tmpdir or self._make_tmp_path(), name))
            return remote[-1]

        if self._sends_release(params):
            sent["fingerprint"] = materials.fingerprint()
            sent["profile"] = requested_profile(params) if params["profile"] else self.sent_profile
        if sent.get("profile") is not None:
            materials = materials.for_profile(sent["profile"])
            self._transfer_file(str(materials.release_bundle()), path_of(RELEASE_BUNDLE))
            catalog = send_catalog(materials, lambda file, name: self._transfer_file(file, path_of(name)))
            if catalog:
                self._transfer_data(path_of(CATALOG), catalog)
            if ROLE_OPTIONS[0] in params:
                roles = materials.named_roles().union(*(params[option].values() for option in ROLE_OPTIONS))
                sent["missing_roles"] = sorted(materials.missing_roles(roles))
        if self.definition.needs_migrations:
            self._transfer_data(path_of(MIGRATIONS_ARCHIVE), materials.migrations_archive())
        if sources := self.modules(params):
            self._transfer_data(path_of(MODULES_FILE), json.dumps(sources.content(self.manifests)).encode())
        if not remote:
            return sent
        if self.is_local:
            # A copied file gets the user's umask here; elsewhere it keeps the original's mode.
            for path in remote:
                Path(path).chmod(0o600)
        self._fixup_perms2([shell.tmpdir, *remote], execute=False)
        return {**sent, "workdir": str(shell.tmpdir)}

    def _places(self, task_vars: TaskVars) -> SearchPath:
        return SearchPath([*folders_of_named_files(task_vars), Path.cwd()])

    @contextmanager
    def _environment(self) -> Iterator[None]:
        """The task's ``environment`` in this process, as a module would get it."""
        before = dict(os.environ)
        variables: dict[str, Any] = {}
        self._compute_environment_string(variables)
        os.environ.update({name: str(value) for name, value in variables.items()})
        os.environ.update(absolute_kubeconfigs(os.environ))
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _host_of(task_vars: TaskVars) -> str:
    return str(task_vars.get("inventory_hostname") or "")


def send_catalog(materials: ControllerMaterials, send: Callable[[str, str], object]) -> bytes:
    """Send the other available releases along, and return their list; empty if there are none.

    Args:
        materials: of the task.
        send: takes a file's path and its name in the task's folder.
    """
    listed: list[dict[str, Any]] = []
    for release, bundle in materials.available_bundles():
        name = f"{len(listed)}.{RELEASE_BUNDLE}"
        send(str(bundle), name)
        listed.append(
            {
                "version": release.version,
                "upgrades_from": list(release.upgrades_from),
                "options": dict(release.options),
                "bundle": name,
                "fingerprint": release.materials.fingerprint(),
            }
        )
    return json.dumps(listed).encode() if listed else b""
