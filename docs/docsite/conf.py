# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration of Sphinx for the site. `make site` copies it beside the pages that it has collected."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import yaml
from docutils import nodes
from docutils.parsers.rst.directives.parts import Contents

HERE = Path(__file__).parent
ANSIBLE = "https://docs.ansible.com/projects/ansible/latest/"
SECONDS_TO_ANSWER = 3
PAGES_OF_ANSIBLE = {
    "action_plugins": "plugins/action.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
    "callback_plugins": "plugins/callback.html",
    "common_return_values": "reference_appendices/common_return_values.html",
}
"""Where the pages are that antsibull-docs refers to, by label."""


def reached(inventory: str) -> bool:
    """Whether the inventory of another project's documentation can be read from here."""
    with suppress(URLError, OSError), urlopen(Request(inventory, method="HEAD"), timeout=SECONDS_TO_ANSWER):
        return True
    return False


def external_reference(_app, _environment, node, content):
    """A link to Ansible's own documentation, where its inventory can't be read."""
    target = node.get("reftarget", "")
    if target in PAGES_OF_ANSIBLE:
        return nodes.reference("", "", content, internal=False, refuri=f"{ANSIBLE}{PAGES_OF_ANSIBLE[target]}")
    if not target.startswith("ansible_collections.") or target.startswith("ansible_collections.kyma."):
        return None
    namespace, collection, plugin = target.removeprefix("ansible_collections.").split("__")[0].split(".", 2)
    address = f"{ANSIBLE}collections/{namespace}/{collection}/{plugin.split('#')[0]}.html"
    return nodes.reference("", "", content, internal=False, refuri=address)


class NoContents(Contents):
    """No list of sections in the text, as the theme shows one beside it."""

    def run(self):
        """Write nothing."""
        return []


def setup(app):
    """Register what the pages need."""
    app.add_directive("contents", NoContents, override=True)
    app.connect("missing-reference", external_reference)
    app.add_css_file("site.css")


project = "kyma.lifecycle"
author = "the kyma.lifecycle authors"
copyright = f"2026, {author}"
version = release = yaml.safe_load((HERE / "galaxy.yml").read_text(encoding="utf-8"))["version"]
html_title = f"{project} {version}"
language = "en"

extensions = ["myst_parser", "sphinx.ext.intersphinx", "sphinx_antsibull_ext", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["static"]
myst_heading_anchors = 6
intersphinx_mapping = {"ansible": (ANSIBLE, None)} if reached(f"{ANSIBLE}objects.inv") else {}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_static_path = ["static"]
html_copy_source = False
html_show_sourcelink = False
# Excerpts of results are fetched, which a browser refuses for pages that are opened as files.
html_show_search_summary = False
antsibull_ext_color_scheme = "none"
