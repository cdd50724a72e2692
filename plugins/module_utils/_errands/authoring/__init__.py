# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What authors of errands do: declare one, have it validated, run it, and read what came of it.

From outside: `errand_object` (from options to an object), `preflight` (what the server says of it),
`errand_writing` (reading and applying), `requested_run` (running and waiting), `errand_report`.
"""
