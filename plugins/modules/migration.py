# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.migration."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration
short_description: Runs migrations, if they are needed, or undoes them
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Checks whether migrations are needed, and runs those that are. They decide from the state of the cluster,
    so a second run changes nothing.
  - M(kyma.lifecycle.component) runs the migrations of its components itself. This module is for global
    migrations, and for playbooks of your own.
  - The task fails if a migration fails. In a run, set C(ignore_errors) for it, as for
    M(kyma.lifecycle.component).
  - In check mode they are rehearsed, and nothing is written. Diff mode shows what they would write.
  - A journal in the cluster records what they write. O(state=undone) uses it to undo the migration, even if
    no release ships the migration any more.
  - The usual options are O(ids), O(state), O(component), O(phase), O(release), O(release_checksum),
    O(profile), O(values_files) and O(overrides). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.release
  - kyma.lifecycle.limits
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.lease.account
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  # Usual options, in the order in which they are needed.
  ids:
    description:
      - The migrations to run or to undo, as C(component/name).
      - One of O(ids) and O(component) is required, with O(state=undone) one of O(ids), O(component) and
        O(run).
      - Mutually exclusive with O(component).
    type: list
    elements: str
    aliases: [id]
  state:
    description:
      - V(present) runs the migration if it is needed.
      - V(undone) undoes what migrations have written, newest first, from the journal in the cluster. It needs
        neither a release nor the migration itself.
      - Each field that still has the value of the migration gets its earlier value. Fields that changed since
        then stay, with a warning, unless O(force) is set. Fields of others stay too.
      - A recreated object has no uid, status, clusterIP, node ports, and owners that are gone. Data is not
        restored.
      - Warnings list what a migration declares as irreversible, and what the API server refuses. The task
        fails only if an attempt did not end, so that it may be tried again.
      - A migration that is still shipped and has a method C(undo) does the rest, after the journal.
      - The record of the run says who has undone it and when. The next deployment runs the migration again,
        unless it is in O(skip_migrations).
    type: str
    choices: [present, undone]
    default: present
  component:
    description:
      - The component whose migrations to run or to undo, or V(global).
      - Mutually exclusive with O(ids).
    type: str
  phase:
    description:
      - The phase whose migrations to run. If it is empty, both, V(pre) first.
      - Not allowed with O(state=undone).
    type: str
    choices: [pre, post]
  # Expert options.
  run:
    description:
      - With O(state=present), the run that this is a part of, from M(kyma.lifecycle.run).
      - With O(state=undone), the run whose migrations to undo, as M(kyma.lifecycle.run_info) lists it.
        Without O(ids) and O(component), all of its migrations.
    type: str
  force:
    description:
      - With O(state=undone), whether to overwrite fields that changed since then, and to delete namespaces
        and CRDs that a migration created, with all their content. What others have recreated stays.
    type: bool
    default: false
notes:
  - The cluster has the journals of the newest twenty runs, like their records. To read and write them you
    need rights on C(kymajournalentries.lifecycle.kyma-project.io). For a Secret you also need rights on
    Secrets of its namespace, because the earlier values are in another Secret there.
seealso:
  - module: kyma.lifecycle.migration_info
  - module: kyma.lifecycle.component
"""

EXAMPLES = r"""
- name: Grow Loki's volume if it is too small
  kyma.lifecycle.migration:
    id: logging/grow-loki-volume
    release: releases/2.11

- name: Run all migrations before the upgrade of logging, with your own migrations
  kyma.lifecycle.migration:
    component: logging
    phase: pre
    release: releases/2.11
    migration_paths:
      - ../migrations

- name: Undo this migration, also if the release does not ship it any more
  kyma.lifecycle.migration:
    id: certificates/adopt-gateway
    state: undone

- name: Undo all migrations of a run
  kyma.lifecycle.migration:
    run: 20261121-201045-a1b2c3
    state: undone
"""

RETURN = r"""
state:
  description: That the run was cancelled.
  returned: if O(run) was cancelled
  type: str
  sample: cancelled
seconds:
  description: How long the run took.
  returned: if O(run) was cancelled
  type: float
  sample: 41.3
migrations:
  description: The result of each migration.
  returned: with O(state=present), except after a failure with O(run); the record of the run has it
  type: list
  elements: dict
  contains:
    id:
      description: The migration's id.
      type: str
      sample: logging/grow-loki-volume
    component:
      description: The component that it belongs to, or V(global).
      type: str
      sample: logging
    phase:
      description: V(pre) or V(post).
      type: str
      sample: pre
    state:
      description:
        - How it ended. V(done), V(not_needed), V(warned) if it was done with a warning, V(blocked) if a
          person must act, V(failed), V(timeout), V(cancelled), or V(skipped) if a migration that it needs did
          not end well. V(running) from before its first write.
      type: str
      sample: done
    verdict:
      description:
        - The first verdict of its check, V(needed), V(not_needed) or V(blocked). Empty if there is none.
      type: str
      sample: needed
    evidence:
      description: The state in the cluster that led to the verdict.
      type: str
      sample: >-
        PersistentVolumeClaim kyma-system/storage-logging-loki-0 requests 10Gi, and the release wants 30Gi
    error:
      description: What failed, why, and what to do. Empty if nothing did.
      type: str
      sample: ""
    seconds:
      description: How long it took.
      type: float
      sample: 0.4
    started_at:
      description: When it began, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:18:54.123Z"
    finished_at:
      description: When it ended, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:19:06.423Z"
    requests:
      description: How many times it called the cluster.
      type: int
      sample: 5
    slow:
      description: Whether it was not needed, and its check took longer than 0.2 seconds.
      type: bool
      sample: false
    warnings:
      description: Its warnings.
      type: list
      elements: str
      sample: []
    wrote:
      description: Whether it began, so that it may have written something.
      type: bool
      sample: true
    fatal:
      description: Whether it fails its component, or the run if it is global.
      type: bool
      sample: false
undone:
  description: The result of undoing each migration, the newest first.
  returned: with O(state=undone)
  type: list
  elements: dict
  contains:
    id:
      description: The migration's id.
      type: str
      sample: certificates/adopt-gateway
    runs:
      description: The runs in which it wrote this, or else the newest.
      type: list
      elements: str
      sample: [20261121-201045-a1b2c3]
    state:
      description: V(undone), V(partly) if a part of it stays, or V(failed) if it may be tried again.
      type: str
      sample: undone
    at:
      description: When it was undone.
      type: str
      sample: "2026-11-21T20:15:00Z"
    by:
      description: By whom.
      type: str
      sample: alice@bastion
    objects:
      description: The objects that it wrote and that were not undone before.
      type: list
      elements: dict
      contains:
        group:
          description: The object's API group. Empty for the core group.
          type: str
          sample: networking.istio.io
        kind:
          description: Its kind.
          type: str
          sample: Gateway
        namespace:
          description: Its namespace. Empty for cluster-scoped kinds.
          type: str
          sample: kyma-system
        name:
          description: Its name.
          type: str
          sample: kyma-gateway
        migrations:
          description: The migrations that had written it.
          type: list
          elements: str
          sample: [certificates/adopt-gateway]
        state:
          description:
            - V(restored), V(recreated) or V(deleted). V(as_before) if there was nothing to do.
              V(changed_since) if others have changed all of it. V(irreversible) if the migration declares
              that. V(refused) if the API server refuses it. V(failed) if it could not be tried completely, so
              that it may be tried again.
          type: str
          sample: restored
        fields:
          description: Paths of the restored fields.
          type: list
          elements: str
          sample: [metadata.annotations.meta.helm.sh/release-name]
        kept:
          description: Paths of the fields that changed since then, and stay.
          type: list
          elements: str
          sample: []
        lost:
          description: What a recreated object does not get back.
          type: list
          elements: str
          sample: []
        reason:
          description: Why a part of it is not as before, or empty.
          type: str
          sample: ""
    own_undo:
      description: The state of the migration's own undo method. Empty if it has none.
      type: str
      sample: ""
    error:
      description: Why that failed, or empty.
      type: str
      sample: ""
summary:
  description: The same for people, in lines.
  returned: with O(state=undone)
  type: list
  elements: str
durations:
  description: How long each migration took, as rows of a table.
  returned: with O(state=present), except after a failure with O(run); the record of the run has it
  type: list
  elements: dict
  contains:
    kind:
      description: What was measured. V(plan), V(phase), V(component), V(module), V(errand) or V(migration).
      type: str
      sample: component
    name:
      description: The name of what was measured, or the migration's id.
      type: str
      sample: logging
    state:
      description: How it ended.
      type: str
      sample: succeeded
    seconds:
      description: How long it took, by a monotonic clock.
      type: float
      sample: 12.3
    slow:
      description: Whether the check of a migration that was not needed took long.
      type: bool
      sample: false
    started_at:
      description: When it began, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:18:54.123Z"
    finished_at:
      description: When it ended, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:19:06.423Z"
    component:
      description: The component of a migration. Empty for all else.
      type: str
      sample: ""
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.migration import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
