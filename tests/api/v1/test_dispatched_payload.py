"""The payload of a dispatched job is shown as it was sent."""

from __future__ import annotations

from base64 import b64encode

from tests.api.v1.served import served


async def test_a_payload_is_read_as_it_was_sent() -> None:
    api = await served()
    sent = b64encode(b"hello hello hello").decode()
    await api.register("task", Type="batch", ParameterizedJob={})
    reply = await api.call("PUT", "/v1/job/task/dispatch", {"Payload": sent})
    assert reply.status == 200, reply.text
    path = f"/v1/job/{reply.json['DispatchedJobID']}"
    assert (await api.call("GET", path)).json["Payload"] == sent
    (version,) = (await api.call("GET", f"{path}/versions")).json["Versions"]
    assert version["Payload"] == sent
    assert (await api.call("GET", "/v1/job/task")).json["Payload"] is None
