"""A connection to a port of an allocation, over a WebSocket."""

import socket
import threading
from contextlib import suppress

import msgspec

from yurt.sdk.client import Client
from yurt.sdk.errors import BadAnswer, SdkError
from yurt.sdk.transport import path_segment
from yurt.sdk.websocket import WebSocket

READ_BYTES_MAX = 64 * 1024


class TunnelMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes of the connection, or that one side has sent its last."""

    data: bytes = b""
    close: bool = False


def carry(client: Client, alloc_id: str, port: str, local: socket.socket) -> None:
    """Connect `local` to a port, by label or number, until both sides have sent their last.

    Takes over `local` and closes it. Raises `SdkError` when the port cannot be reached.
    """
    try:
        tunnel = WebSocket(client, f"/v1/client/allocation/{path_segment(alloc_id)}/tunnel", port=port)
    except BaseException:
        local.close()
        raise
    sender = threading.Thread(target=_send, args=(tunnel, local), name="tunnel-send", daemon=True)
    sender.start()
    try:
        _receive(tunnel, local)
    finally:
        with suppress(OSError):
            local.shutdown(socket.SHUT_RDWR)
        tunnel.close()
        sender.join()
        local.close()


def _receive(tunnel: WebSocket, local: socket.socket) -> None:
    while (text := tunnel.receive()) is not None:
        try:
            message = msgspec.json.decode(text, type=TunnelMessage)
        except msgspec.MsgspecError as error:
            raise BadAnswer("the tunnel", str(error)) from error
        with suppress(OSError):
            local.sendall(message.data)
        if message.close:
            return


def _send(tunnel: WebSocket, local: socket.socket) -> None:
    with suppress(OSError, SdkError):
        while data := local.recv(READ_BYTES_MAX):
            tunnel.send(msgspec.json.encode(TunnelMessage(data=data)))
        tunnel.send(msgspec.json.encode(TunnelMessage(close=True)))
