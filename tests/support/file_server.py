# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A local HTTP server for the files of a folder."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any


@dataclass
class FileServer:
    """The server.

    Attributes:
        folder: that it serves.
        address: its URL, without a slash at the end.
        requested: the requested paths, in their order.
    """

    folder: Path
    address: str = ""
    requested: list[str] = field(default_factory=list)

    def put(self, name: str, text: str) -> str:
        """Serve a text under a name; return its URL."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return f"{self.address}/{name}"


@contextmanager
def serve_files(folder: Path) -> Iterator[FileServer]:
    """Serve the content of a folder, and stop at the end."""
    folder.mkdir(exist_ok=True)
    server = FileServer(folder)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requested.append(self.path)
            super().do_GET()

        def log_message(self, *_arguments: Any) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    server.address = f"http://127.0.0.1:{listening.server_port}"
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
