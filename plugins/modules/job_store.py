# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.job_store."""

from __future__ import annotations

DOCUMENTATION = r"""
module: job_store
short_description: Installs the job store, and sets where lists of jobs are from
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Installs the custom resource definitions of the job store with their ClusterRoles, if they are missing or
    not those of this version.
  - Sets the two switches of the store. Every change of a job is written to Kubernetes and to the definitions
    alike. The switches decide what is read.
  - There are three stages. The first is O(source_of_truth=kubernetes) with O(unknown_jobs=adopt), the second
    O(source_of_truth=storage) with O(unknown_jobs=adopt), and the last O(source_of_truth=storage) with
    O(unknown_jobs=ignore).
  - It refuses a switch that would change a list of jobs, and names each difference, unless O(force=true).
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  source_of_truth:
    description:
      - Where lists of jobs are from. V(kubernetes) lists what runs, V(storage) lists the definitions.
      - Without it, the switch stays. A new store begins with V(kubernetes).
    type: str
    choices: [kubernetes, storage]
  unknown_jobs:
    description:
      - What happens to jobs that have no definition. V(adopt) lists them, and they get a definition when they
        are changed. V(ignore) hides and counts them.
      - Without it, the switch stays. A new store begins with V(adopt).
    type: str
    choices: [adopt, ignore]
  force:
    description:
      - Whether to set the switches although a list of jobs will change.
    type: bool
    default: false
notes:
  - The user needs the rights to install custom resource definitions and ClusterRoles, unless the store is
    installed. To set the switches, the ClusterRole C(kyma-lifecycle-job-store) is enough.
seealso:
  - module: kyma.lifecycle.stored_job
  - module: kyma.lifecycle.stored_job_info
  - module: kyma.lifecycle.stored_job_import
"""

EXAMPLES = r"""
- name: Install the job store
  kyma.lifecycle.job_store:

- name: Show what would change if lists came from the definitions
  kyma.lifecycle.job_store:
    source_of_truth: storage
    force: true
  check_mode: true
  register: flipped

- name: List jobs by their definitions
  kyma.lifecycle.job_store:
    source_of_truth: storage

- name: Hide jobs that have no definition
  kyma.lifecycle.job_store:
    unknown_jobs: ignore
"""

RETURN = r"""
source_of_truth:
  description: Where lists of jobs are from, or would be in check mode.
  returned: success
  type: str
  sample: storage
unknown_jobs:
  description: What happens to jobs that have no definition, or would in check mode.
  returned: success
  type: str
  sample: adopt
differences:
  description: What the switches change in lists of jobs, one line each.
  returned: always
  type: list
  elements: str
  sample: []
definition_installed:
  description: Whether the definitions were installed or updated, or would be in check mode.
  returned: always
  type: bool
  sample: false
not_done:
  description: The definitions and roles that are not installed, as the task was stopped. Run it again.
  returned: if it was stopped
  type: list
  elements: str
  sample: [ClusterRole kyma-lifecycle-jobs-viewer]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.job_store import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
