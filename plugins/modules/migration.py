# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.migration."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration
short_description: Runs migrations, if they are needed, or undoes them
version_added: "0.1.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Asks migrations whether they are needed, and runs those that are. They decide from the cluster's state, so
    that a second run changes nothing.
  - M(kyma.lifecycle.component) runs those of its components by itself. This module is for the global ones,
    and for playbooks of one's own.
  - The task fails if a migration does. In a run, set C(ignore_errors) for it, as for
    M(kyma.lifecycle.component).
  - In check mode they are rehearsed, nothing that they write is kept, and diff mode shows it.
  - What they write is journaled in the cluster, so that O(state=undone) can take it back, also where no
    release ships the migration any more.
  - The usual options are O(ids), O(state), O(component), O(phase), O(release), O(release_checksum),
    O(profile), O(values_files) and O(overrides). All other options are for experts.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kyma.lifecycle.release
  - kyma.lifecycle.migrations
  - kyma.lifecycle.migrations.running
  - kyma.lifecycle.stopping
  - kyma.lifecycle.lease
  - kyma.lifecycle.attributes
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
  diff_mode:
    description: Tells what has changed in C(diff) mode.
    support: full
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
      - V(present) brings about what the migration is for.
      - V(undone) takes back what migrations have written, newest first, by the journal that the cluster
        keeps of it beside the record of the run. Neither a release nor the migration itself is needed for it.
      - What a migration has changed goes back field by field where it still is as the migration wrote it.
        What was changed since is told as a warning and stays, unless O(force) is set, as do fields of others.
      - An object that is made anew comes back without its uid, its status, a clusterIP, node ports, and
        owners that are gone. Data is not restored.
      - What a migration declares as irreversible, and what the API server refuses, is told by name as a
        warning. The task only fails if something could not be tried to the end, so that it may be tried
        again.
      - A migration that is still shipped and has an C(undo) of its own does the rest, after the journal.
      - The run's record says who has undone it and when. The next deployment needs the migration again,
        unless it is left out by O(skip_migrations) there.
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
      - The phase whose migrations to run. Without it, both, those of V(pre) first.
      - It is refused with O(state=undone).
    type: str
    choices: [pre, post]
  # Expert options.
  run:
    description:
      - With O(state=present), the run that this is a part of, from M(kyma.lifecycle.run).
      - With O(state=undone), the run of which to undo migrations, as M(kyma.lifecycle.run_info) lists it.
        Without O(ids) and O(component) all of them.
    type: str
  force:
    description:
      - With O(state=undone), overwrite what was changed since, and delete namespaces and definitions that a
        migration made with all that lives in them by now.
    type: bool
    default: false
notes:
  - The journal of a run is kept as long as the run's record, which is one of the newest twenty. Reading and
    writing it takes the rights to C(journalentries.lifecycle.kyma-project.io), and for a Secret to Secrets
    of its namespace, as what that was is kept in another one beside it.
seealso:
  - module: kyma.lifecycle.migration_info
  - module: kyma.lifecycle.component
"""

EXAMPLES = r"""
- name: Grow Loki's volume if it is too small
  kyma.lifecycle.migration:
    id: logging/grow-loki-volume
    release: releases/2.11

- name: Run all that logging needs before it is upgraded, with migrations of one's own
  kyma.lifecycle.migration:
    component: logging
    phase: pre
    release: releases/2.11
    migration_paths:
      - ../migrations

- name: Take back what this migration has written, also in a release that does not ship it any more
  kyma.lifecycle.migration:
    id: certificates/adopt-gateway
    state: undone

- name: Take back what all migrations of a run have written
  kyma.lifecycle.migration:
    run: 20261121-201045-a1b2c3
    state: undone
"""

RETURN = r"""
migrations:
  description: What came of each migration.
  returned: with O(state=present)
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
        - How it ended, V(done), V(not_needed), V(warned) for what was done with a warning, V(blocked) where a
          person has to do something, V(failed), V(timeout), V(cancelled), or V(skipped) after one that had to
          be done before.
      type: str
      sample: done
    verdict:
      description:
        - What its check said at first, V(needed), V(not_needed) or V(blocked). Empty if it said nothing.
      type: str
      sample: needed
    evidence:
      description: What in the cluster led to it.
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
      description: Whether it had nothing to do, and yet took longer than 0.2 seconds to say so.
      type: bool
      sample: false
    warnings:
      description: What it told as a warning.
      type: list
      elements: str
      sample: []
    wrote:
      description: Whether it was begun, so that it may have written something.
      type: bool
      sample: true
    fatal:
      description: Whether it fails its component, or the run if it is global.
      type: bool
      sample: false
undone:
  description: What came of undoing each migration, the newest first.
  returned: with O(state=undone)
  type: list
  elements: dict
  contains:
    id:
      description: The migration's id.
      type: str
      sample: certificates/adopt-gateway
    runs:
      description: The runs in which it had written this.
      type: list
      elements: str
      sample: [20261121-201045-a1b2c3]
    state:
      description:
        - V(undone), V(partly) where something of it stays, or V(failed) where it may be tried again.
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
      description: What it had written and was not undone before.
      type: list
      elements: dict
      contains:
        kind:
          description: The object's kind.
          type: str
          sample: Gateway
        group:
          description: The object's API group.
          type: str
          sample: networking.istio.io
        namespace:
          description: The object's namespace, or empty.
          type: str
          sample: kyma-system
        name:
          description: The object's name.
          type: str
          sample: kyma-gateway
        migrations:
          description: The migrations that had written it.
          type: list
          elements: str
          sample: [certificates/adopt-gateway]
        state:
          description:
            - V(restored), V(recreated) or V(deleted), V(as_before) where there was nothing to do,
              V(changed_since) where others have changed all of it, V(irreversible) where the migration says
              that it can't be undone, V(refused) where the API server does, or V(failed).
          type: str
          sample: restored
        fields:
          description: Paths of what went back.
          type: list
          elements: str
          sample: [metadata.annotations.meta.helm.sh/release-name]
        kept:
          description: Paths of what was changed since, and stays.
          type: list
          elements: str
          sample: []
        lost:
          description: What does not come back with an object that was made anew.
          type: list
          elements: str
          sample: []
        reason:
          description: Why something of it is not as before, or empty.
          type: str
          sample: ""
    own_undo:
      description: What came of its own C(undo), as in RV(migrations[].state). Empty if it has none.
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
  returned: with O(state=present)
  type: list
  elements: dict
  contains:
    kind:
      description: V(plan), V(phase), V(component), V(module), V(migration) or V(errand).
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
      description: Whether a migration had nothing to do, and yet took long to say so.
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
