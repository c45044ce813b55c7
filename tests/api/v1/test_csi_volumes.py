"""CSI volumes, which no plugin here has: refused as by a cluster without plugins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.v1.served import served

CAPABILITY = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "missing volume definition"),
        (
            {"Volumes": [{}]},
            "validation: missing volume id, missing plugin id, must include at least one capability block",
        ),
        (
            {"Volumes": [{"ID": "v", "PluginID": "p", "RequestedCapabilities": [CAPABILITY]}]},
            "no CSI plugin named: p could be found",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/v1/volumes", "/v1/volume/csi/v", "/v1/volume/csi/v/create"])
async def test_writes_say_what_is_wrong(path: str, body: Any, text: str) -> None:
    reply = await (await served()).call("PUT", path, body)
    assert (reply.status, reply.text) == (500, text)


async def test_deleting_needs_a_proper_force() -> None:
    api = await served()
    reply = await api.call("DELETE", "/v1/volume/csi/v?force=maybe")
    assert (reply.status, reply.text) == (400, "invalid force value")
    reply = await api.call("DELETE", "/v1/volume/csi/v?force=true")
    assert (reply.status, reply.text) == (500, "volume not found: v")


async def test_there_is_nothing_to_make_snapshots_of() -> None:
    api = await served()
    reply = await api.call("PUT", "/v1/volumes/snapshot", {"Snapshots": [{"SourceVolumeID": "v"}]})
    assert (reply.status, reply.text) == (500, "volume not found: v")
    reply = await api.call("PUT", "/v1/volumes/snapshot", {})
    assert (reply.status, reply.text) == (500, "missing snapshot definition")
    reply = await api.call("DELETE", "/v1/volumes/snapshot?plugin_id=p&snapshot_id=s")
    assert (reply.status, reply.text) == (500, "no such plugin")
