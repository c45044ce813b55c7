"""A WebSocket server for tests: it upgrades any request and hands the conversation to a function."""

import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType


class Conversation:
    """The server's end of a session."""

    def __init__(self, connection: socket.socket, target: str) -> None:
        self.target = target
        self._connection = connection

    def receive(self) -> bytes:
        """The next message, unmasked."""
        head = self._take(2)
        length = head[1] & 0x7F
        if length == 126:
            length = struct.unpack("!H", self._take(2))[0]
        elif length == 127:
            length = struct.unpack("!Q", self._take(8))[0]
        mask = self._take(4)
        return bytes(byte ^ mask[position % 4] for position, byte in enumerate(self._take(length)))

    def send(self, text: bytes, *, kind: int = 1) -> None:
        length = len(text)
        size = struct.pack("!B", length) if length < 126 else struct.pack("!BH", 126, length)
        self._connection.sendall(struct.pack("!B", 0x80 | kind) + size + text)

    def close(self, code: int, reason: str) -> None:
        self.send(struct.pack("!H", code) + reason.encode(), kind=8)

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self._connection.recv(count - len(data))
            if not chunk:
                raise EOFError
            data += chunk
        return data


class WebSocketServer:
    """Serves one session at a time with `talk`."""

    def __init__(
        self, talk: Callable[[Conversation], None], *, status: str = "101 Switching Protocols"
    ) -> None:
        self._talk = talk
        self._status = status
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "WebSocketServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._thread.join(timeout=5)

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            connection.sendall(f"HTTP/1.1 {self._status}\r\n\r\n".encode())
            try:
                self._talk(Conversation(connection, head.split(b" ")[1].decode()))
                # Closed with something unread, a connection is reset, and what was sent may be lost.
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
            except (EOFError, OSError):
                return
