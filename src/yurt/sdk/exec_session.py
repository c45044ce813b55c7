"""Running a command inside a task, over a WebSocket."""

import json
import threading
from collections.abc import Iterator

import msgspec

from yurt.sdk.client import Client
from yurt.sdk.errors import BadAnswer, SdkError
from yurt.sdk.transport import path_segment
from yurt.sdk.websocket import WebSocket

HEARTBEAT_INTERVAL_S = 10.0


class Output(msgspec.Struct, frozen=True):
    """Bytes that the command wrote to one of its streams, or that it closed it."""

    data: bytes = b""
    close: bool = False


class Exited(msgspec.Struct, frozen=True):
    """How the command ended."""

    exit_code: int = 0
    signal: int = 0


class Message(msgspec.Struct, frozen=True):
    """What the server sends."""

    stdout: Output | None = None
    stderr: Output | None = None
    exited: bool = False
    result: Exited | None = None


class ExecSession:
    """An open session. One thread may send input while another reads messages."""

    def __init__(self, socket: WebSocket) -> None:
        """Keeps the session alive until it is closed."""
        self._socket = socket
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="exec-heartbeat", daemon=True)
        self._heart.start()

    @classmethod
    def in_task(
        cls, client: Client, alloc_id: str, *, task: str, command: list[str], tty: bool
    ) -> "ExecSession":
        """Run a command in a task."""
        path = f"/v1/client/allocation/{path_segment(alloc_id)}/exec"
        text = json.dumps(command)
        return cls(WebSocket(client, path, task=task, command=text, tty="true" if tty else "false"))

    @classmethod
    def of_action(
        cls, client: Client, job_id: str, *, alloc_id: str, task: str, action: str, tty: bool
    ) -> "ExecSession":
        """Run a job's named action."""
        path = f"/v1/job/{path_segment(job_id)}/action"
        return cls(
            WebSocket(
                client, path, allocID=alloc_id, task=task, action=action, tty="true" if tty else "false"
            )
        )

    def messages(self) -> Iterator[Message]:
        """Yield what the server sends, until the command has ended. Raises `SdkError`."""
        while True:
            text = self._socket.receive()
            if text is None:
                return
            try:
                message = msgspec.json.decode(text, type=Message)
            except msgspec.MsgspecError as error:
                raise BadAnswer("the exec session", str(error)) from error
            yield message
            if message.exited:
                return

    def send_input(self, data: bytes) -> None:
        """Give the command bytes to read."""
        self._send({"stdin": {"data": data}})

    def close_input(self) -> None:
        """Tell the command that there is nothing more to read."""
        self._send({"stdin": {"close": True}})

    def resize(self, *, height: int, width: int) -> None:
        """Tell the command the size of the terminal."""
        self._send({"tty_size": {"height": height, "width": width}})

    def close(self) -> None:
        """End the session."""
        self._closed.set()
        self._socket.close()

    def _send(self, message: object) -> None:
        with self._lock:
            self._socket.send(msgspec.json.encode(message))

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_INTERVAL_S):
            try:
                self._send({})
            except SdkError:
                return
