"""The client side of a WebSocket, as far as exec sessions need it: whole text messages both ways."""

import base64
import os
import re
import socket
import struct
from contextlib import suppress

from yurt.sdk.client import Client
from yurt.sdk.errors import ApiError, BadAnswer, SdkError, ServerUnreachable
from yurt.sdk.transport import Param, describe, query_text

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
MESSAGE_BYTES_MAX = 16 * 1024 * 1024
HEAD_BYTES_MAX = 64 * 1024


class SocketClosed(SdkError):
    """The server ended the session with a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason or f"the session was closed with code {code}")
        self.code = code
        self.reason = reason


class WebSocket:
    """An open session. One thread may send while another receives."""

    def __init__(self, client: Client, path: str, **params: Param) -> None:
        """Connect and upgrade. Raises `ApiError` or `ServerUnreachable`."""
        transport = client.transport
        scoped = client.scope(params)
        self._url = transport.url(path, scoped)
        self._socket: socket.socket = transport.detach_socket()
        self._received = b""
        key = base64.b64encode(os.urandom(16)).decode()
        headers = {
            "Host": transport.host_header,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            **transport.auth_headers(),
        }
        lines = [f"GET {transport.base_path}{path}{query_text(scoped)} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        try:
            self._send_bytes("\r\n".join([*lines, "", ""]).encode())
            self._read_upgrade()
        except BaseException:
            self._socket.close()
            raise
        self._socket.settimeout(None)

    def send(self, text: bytes) -> None:
        """Send a text message."""
        self._send_frame(TEXT, text)

    def receive(self) -> bytes | None:
        """Wait for a message; None when the server has ended the session without a reason.

        Raises `SocketClosed` when it gives one.
        """
        message = b""
        while True:
            final, kind, payload = self._read_frame()
            if kind is None:
                return None
            if kind == PING:
                self._send_frame(PONG, payload)
            elif kind == CLOSE:
                code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                reason = payload[2:].decode(errors="replace")
                if code in {1000, 1005} and not reason:
                    return None
                raise SocketClosed(code, reason)
            elif kind != PONG:
                message += payload
                if len(message) > MESSAGE_BYTES_MAX:
                    raise BadAnswer(self._url, f"a message of more than {MESSAGE_BYTES_MAX} bytes")
                if final:
                    return message

    def close(self) -> None:
        """Drop the connection; a `receive` in another thread returns."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _read_upgrade(self) -> None:
        while b"\r\n\r\n" not in self._received:
            if len(self._received) > HEAD_BYTES_MAX or not self._fill():
                raise BadAnswer(self._url, "no answer to the upgrade to a WebSocket")
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status != 101:
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = self._take(min(int(length[1]), HEAD_BYTES_MAX)) if length else None
            raise ApiError(status, (body or self._received).decode(errors="replace"))

    def _read_frame(self) -> tuple[bool, int | None, bytes]:
        head = self._take(2)
        if head is None:
            return True, None, b""
        length = head[1] & 0x7F
        for marker, size, form in ((126, 2, "!H"), (127, 8, "!Q")):
            if length == marker:
                extended = self._take(size)
                if extended is None:
                    return True, None, b""
                length = struct.unpack(form, extended)[0]
                break
        if length > MESSAGE_BYTES_MAX:
            raise BadAnswer(self._url, f"a message of more than {MESSAGE_BYTES_MAX} bytes")
        payload = self._take(length)
        if payload is None:
            return True, None, b""
        return bool(head[0] & 0x80), head[0] & 0x0F, payload

    def _take(self, count: int) -> bytes | None:
        while len(self._received) < count:
            if not self._fill():
                return None
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _fill(self) -> bool:
        try:
            chunk = self._socket.recv(64 * 1024)
        except OSError as error:
            raise ServerUnreachable(method="GET", url=self._url, cause=describe(error)) from error
        self._received += chunk
        return bool(chunk)

    def _send_frame(self, kind: int, payload: bytes) -> None:
        length = len(payload)
        if length < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, length)
        mask = os.urandom(4)
        masked = (
            int.from_bytes(payload, "big") ^ int.from_bytes((mask * (length // 4 + 1))[:length], "big")
        ).to_bytes(length, "big")
        self._send_bytes(head + mask + masked)

    def _send_bytes(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise ServerUnreachable(method="GET", url=self._url, cause=describe(error)) from error
