# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.pictures.rooms`: draw the rooms of the collection from the imports of its files."""

from __future__ import annotations

from tests.cluster.paths import ROOT
from tests.support.rooms import floors_of, graph_in, room_of, rooms_of

from .rooms_svg import render_rooms

PICTURE = ROOT / "docs" / "images" / "rooms.svg"
CORE = "module_utils"
OTHERS = ("action", "callback", "filter", "modules", "plugin_utils")


def render() -> str:
    """The picture of the imports that the files have now."""
    core = graph_in(CORE)
    ground = sorted(room for room, floor in floors_of(rooms_of(core)).items() if floor == 1)

    def room_of_core(module: str) -> str:
        return " ".join(ground) if room_of(module) in ground else room_of(module)

    def room_of_others(module: str) -> str:
        folder, *inner = module.split(".")
        return inner[0] if folder == "plugin_utils" and inner else folder

    return render_rooms(
        {
            "plugins/: what Ansible loads, and what only the controller does (plugin_utils)": {
                **rooms_of(graph_in(*OTHERS, CORE), room_of_others),
                CORE: (),
            },
            "plugins/module_utils/: the core, by floors": rooms_of(core, room_of_core),
        }
    )


def write() -> None:
    """Write the picture."""
    PICTURE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    write()
