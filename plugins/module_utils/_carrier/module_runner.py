# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's side of a task: options in, one call, result out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .._progress import no_progress
from .forked_worker import ProcessLost, run_in_forked_worker
from .options import CARRIER_ARGUMENT, full_argument_spec, remember_secrets, scalar_texts
from .progress_file import CANCEL_SUFFIX, ProgressFile
from .shipped_materials import ShippedMaterials
from .stop_cause import PLAYBOOK_END, note_playbook_end
from .task import ControllerNotes, Result, TaskDefinition
from .task_call import call_task_function, defect_result, error_result

HIDDEN = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
"""What Ansible shows in place of the value of an option with ``no_log``."""


def run_module(definition: TaskDefinition) -> None:
    """Be the module of ``definition``: validate the options, call its function, print the result, exit."""
    module = AnsibleModule(
        argument_spec=full_argument_spec(definition.argument_spec),
        mutually_exclusive=definition.mutually_exclusive,
        required_one_of=definition.required_one_of,
        required_if=definition.required_if,
        supports_check_mode=True,
    )
    sent = module.params.pop(CARRIER_ARGUMENT, {})
    params = dict(module.params)
    module.no_log_values |= remember_secrets(definition, params)
    module.no_log_values -= scalar_texts(params, definition.secret_options)
    # The module shows these with its invocation, also under their aliases.
    module.params.update((name, HIDDEN) for name in definition.secret_names if name in params)
    # Output of a migration must not end up in the result, which Ansible reads from the standard output.
    with redirect_stdout(sys.stderr):
        result = _run(definition, partial(_call, module, params, definition, sent))
    for warning in result.pop("warnings", ()):
        module.warn(warning)
    if result.get("failed"):
        module.fail_json(**{"msg": "the task failed", **result})
    module.exit_json(**{"changed": False, **result})


def _run(definition: TaskDefinition, call: Callable[[], Result]) -> Result:
    try:
        if not definition.needs_migrations:
            return call()
        return run_in_forked_worker(lambda _progress, _cancelled: call(), outlives_parent=False)
    except ProcessLost as error:
        return error_result(error)
    except Exception as error:
        return defect_result(error)


def _call(
    module: AnsibleModule, params: Mapping[str, Any], definition: TaskDefinition, sent: Mapping[str, Any]
) -> Result:
    progress_file = sent.get("progress_file")
    return call_task_function(
        definition,
        params,
        materials=ShippedMaterials(
            sent.get("workdir"),
            missing_roles=sent.get("missing_roles", ()),
            fingerprint=sent.get("fingerprint", ""),
            profile=sent.get("profile"),
        ),
        progress=ProgressFile(progress_file) if progress_file else no_progress,
        cancelled=_cancelled(progress_file),
        check_mode=module.check_mode,
        diff=module._diff,
        notes=ControllerNotes(**sent.get("notes", {})),
    )


def _cancelled(progress_file: str | None) -> Callable[[], bool]:
    if not progress_file:
        return lambda: False
    request = Path(progress_file + CANCEL_SUFFIX)

    def is_cancelled() -> bool:
        with suppress(FileNotFoundError):
            if request.read_text() == PLAYBOOK_END:
                note_playbook_end()
            return True
        return False

    return is_cancelled
