# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.report. Its action plugin does all of its work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Writes files that show how runs went
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Writes one HTML file with a timeline of phases, components, migrations, modules and errands. It shows what
    failed and why, the verdicts of migrations with their evidence, and what to do next.
  - The file has no script, and opening it sends no request. It follows the light or dark mode of the browser.
  - Hosts are clusters. The tasks of all hosts of one C(ansible-playbook) that name the same file add to one
    report, and each of them writes it. So the file that the last host writes has all clusters.
  - A host of the play without a result is in the report, too, with the state that the tasks of its deployment
    have reported so far. V(not started) is the state of one without such a task.
  - The same clusters can be written as Markdown and as a document of JUnit.
  - With C(kyma_rings) the files have the rings too, as they were decided last.
  - The same results give the same files. Then the task changes nothing.
options:
  path:
    description:
      - The HTML file on the controller. A relative path starts where C(ansible-playbook) was started.
      - The folder must exist. The task replaces a file that exists.
      - At least one of O(path), O(summary) and O(junit) is required.
    type: path
  summary:
    description:
      - A Markdown file for a ticket, a chat or the page of a CI job, as O(path). It has the table over the
        clusters, all reasons, and what to do next.
    type: path
  junit:
    description:
      - An XML file for tools that read test results, as O(path). Each cluster is a suite, with a case for
        the cluster and one for each of its components.
      - What is held, not started, or waits for an earlier ring is skipped. A cluster that does not answer is
        an error. What has failed, or was refused, lost or cancelled, is a failure.
    type: path
  results:
    description:
      - The results of tasks on this cluster. M(kyma.lifecycle.run_info) returns what the timeline needs, and
        M(kyma.lifecycle.errand_info) what the one of errands needs.
      - The result of M(kyma.lifecycle.plan) says why there is no run. If no record can be read, the report
        has the results of other modules that return C(durations).
      - The task ignores empty dictionaries, so that the default of a variable can be one.
    type: list
    elements: dict
    required: true
  cluster:
    description:
      - The name of the cluster in the report. By default the name of the host.
    type: str
    default: ''
  title:
    description:
      - The title of the report. By default it says what was done, on which cluster or on how many.
    type: str
    default: ''
  scope:
    description:
      - Which runs of the records the report shows. With V(playbook) these are the runs that began after this
        C(ansible-playbook) had started. A cluster without such a run is V(unchanged).
      - The task compares the clocks of controller and host. A run whose own result is in O(results) is always
        shown.
    type: str
    choices: [all, playbook]
    default: all
extends_documentation_fragment:
  - kyma.lifecycle.attributes.controller
  - kyma.lifecycle.attributes.diff
seealso:
  - module: kyma.lifecycle.run_info
  - module: kyma.lifecycle.errand_info
"""

EXAMPLES = r"""
- name: Read the last run of each cluster
  kyma.lifecycle.run_info:
    limit: 1
  register: recorded

- name: Write a report on all clusters of the play
  kyma.lifecycle.report:
    path: report.html
    results: "{{ [recorded] }}"

- name: Write a summary for a ticket, and results for a CI job
  kyma.lifecycle.report:
    summary: summary.md
    junit: junit.xml
    results: "{{ [recorded] }}"
"""

RETURN = r"""
path:
  description: The absolute path of the HTML file.
  returned: if O(path) is set
  type: str
  sample: /home/alice/report.html
summary:
  description: The absolute path of the Markdown file.
  returned: if O(summary) is set
  type: str
  sample: /home/alice/summary.md
junit:
  description: The absolute path of the XML file.
  returned: if O(junit) is set
  type: str
  sample: /home/alice/junit.xml
clusters:
  description:
    - The state of each cluster in the report, by its name. It is one of those that C(kyma_result) can have.
  returned: success
  type: dict
  sample: {live-eu: failed, staging: succeeded}
"""
