"""Exec sessions over a WebSocket."""

import base64
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.sdk.websocket_server import Conversation, WebSocketServer
from yurt.sdk import ApiError, Client
from yurt.sdk.exec_session import ExecSession
from yurt.sdk.websocket import SocketClosed


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def open_session(server: WebSocketServer) -> ExecSession:
    client = Client(server.address, token="secret", namespace="team")
    return ExecSession.in_task(client, "alloc", task="main", command=["sh", "-c", "x y"], tty=False)


def test_streams_and_exit_code() -> None:
    targets = []

    def talk(conversation: Conversation) -> None:
        targets.append(conversation.target)
        typed = json.loads(conversation.receive())["stdin"]["data"]
        assert json.loads(conversation.receive()) == {"stdin": {"close": True}}
        conversation.send(b"", kind=9)
        conversation.send(json.dumps({"stdout": {"data": typed}}).encode())
        conversation.send(json.dumps({"stderr": {"data": encoded(b"x" * 200)}}).encode())
        conversation.send(json.dumps({"exited": True, "result": {"exit_code": 7}}).encode())

    with WebSocketServer(talk) as server:
        session = open_session(server)
        session.send_input(b"hello" * 100)
        session.close_input()
        messages = list(session.messages())
        session.close()
    assert messages[0].stdout is not None
    assert messages[0].stdout.data == b"hello" * 100
    assert messages[1].stderr is not None
    assert messages[2].result is not None
    assert messages[2].result.exit_code == 7
    query = parse_qs(urlsplit(targets[0]).query)
    assert query["command"] == ['["sh", "-c", "x y"]']
    assert (query["task"], query["tty"], query["namespace"]) == (["main"], ["false"], ["team"])


def test_server_closes_with_a_reason() -> None:
    with WebSocketServer(lambda conversation: conversation.close(1011, "task not found")) as server:
        session = open_session(server)
        with pytest.raises(SocketClosed, match="task not found"):
            list(session.messages())
        session.close()


def test_refused_upgrade_is_an_api_error() -> None:
    with WebSocketServer(lambda _: None, status="403 Forbidden") as server, pytest.raises(ApiError):
        open_session(server)
