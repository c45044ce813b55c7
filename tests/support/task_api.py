"""Calls on the socket that a task finds the API on."""

from __future__ import annotations

import http.client
import os
import socket
from pathlib import Path


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket, whose path may be longer than the address of one."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        directory = os.open(self._path.parent, os.O_PATH)
        try:
            self.sock.connect(f"/proc/self/fd/{directory}/{self._path.name}")
        finally:
            os.close(directory)


def call_as_task(
    task_dir: Path, path: str, *, token: str = "", method: str = "GET", body: str = ""
) -> tuple[int, str]:
    """Call from a task's directory; never compressed."""
    connection = UnixConnection(task_dir / "secrets/api.sock")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, body or None, {**headers, "Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    assert answer.getheader("Content-Encoding") is None
    text = answer.read().decode()
    connection.close()
    return answer.status, text
