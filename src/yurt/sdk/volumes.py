"""Calls about volumes and storage plugins."""

from collections.abc import Mapping, Sequence
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.errors import ApiError
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.wire import Record

SECRETS_HEADER = "X-Nomad-CSI-Secrets"


class HostVolume(Record, frozen=True):
    """A directory on a node that jobs can ask for."""

    id: str = ""
    name: str = ""
    namespace: str = ""
    plugin_id: str = ""
    node_id: str = ""
    node_pool: str = ""
    capacity_bytes: int = 0
    state: str = ""
    host_path: str = ""
    requested_capabilities: tuple["Capability", ...] = ()
    allocations: tuple[AllocStub, ...] = ()


class Capability(Record, frozen=True):
    """How a volume may be used."""

    access_mode: str = ""
    attachment_mode: str = ""


class HostVolumeAnswer(Record, frozen=True):
    """The answer to making or registering a volume."""

    volume: HostVolume = HostVolume()
    warnings: str = ""


class CsiVolume(Record, frozen=True):
    """A volume of a storage plugin."""

    id: str = ""
    name: str = ""
    namespace: str = ""
    external_id: str = ""
    plugin_id: str = ""
    provider: str = ""
    provider_version: str = ""
    capacity: int = 0
    schedulable: bool = False
    controllers_healthy: int = 0
    controllers_expected: int = 0
    nodes_healthy: int = 0
    nodes_expected: int = 0
    access_mode: str = ""
    attachment_mode: str = ""
    requested_capabilities: tuple[Capability, ...] = ()
    allocations: tuple[AllocStub, ...] = ()


class CsiPlugin(Record, frozen=True):
    """A storage plugin."""

    id: str = ""
    provider: str = ""
    version: str = ""
    controllers_healthy: int = 0
    controllers_expected: int = 0
    nodes_healthy: int = 0
    nodes_expected: int = 0
    allocations: tuple[AllocStub, ...] = ()


class Claim(Record, frozen=True):
    """A sticky claim of a job on a volume."""

    id: str = ""
    namespace: str = ""
    job_id: str = ""
    volume_id: str = ""
    volume_name: str = ""


def list_host(client: Client, /, **params: Param) -> Answer[tuple[HostVolume, ...]]:
    """List host volumes; `prefix`, `node_id`, `node_pool` may be given."""
    return client.get("/v1/volumes", tuple[HostVolume, ...], type="host", **params)


def list_csi(client: Client, /, **params: Param) -> Answer[tuple[CsiVolume, ...]]:
    """List volumes of storage plugins; `prefix`, `node_id`, `plugin_id` may be given."""
    return client.get("/v1/volumes", tuple[CsiVolume, ...], type="csi", **params)


def read_host(client: Client, volume_id: str) -> Answer[HostVolume]:
    """Read a host volume."""
    return client.get(f"/v1/volume/host/{path_segment(volume_id)}", HostVolume)


def read_csi(client: Client, volume_id: str) -> Answer[CsiVolume]:
    """Read a volume of a storage plugin."""
    return client.get(f"/v1/volume/csi/{path_segment(volume_id)}", CsiVolume)


def create_host(
    client: Client, volume: Mapping[str, Any], *, policy_override: bool
) -> Answer[HostVolumeAnswer]:
    """Make a host volume."""
    body = {"Volume": volume, "PolicyOverride": policy_override}
    return client.put("/v1/volume/host/create", HostVolumeAnswer, body=body)


def register_host(
    client: Client, volume: Mapping[str, Any], *, policy_override: bool
) -> Answer[HostVolumeAnswer]:
    """Register a directory that is there already."""
    body = {"Volume": volume, "PolicyOverride": policy_override}
    return client.put("/v1/volume/host/register", HostVolumeAnswer, body=body)


def delete_host(client: Client, volume_id: str, *, force: bool) -> None:
    """Delete a host volume."""
    client.send("DELETE", f"/v1/volume/host/{path_segment(volume_id)}", force=force)


def register_csi(client: Client, volume: Mapping[str, Any]) -> None:
    """Register storage that is there already."""
    client.send("PUT", f"/v1/volume/csi/{path_segment(str(volume['ID']))}", body={"Volumes": [volume]})


def create_csi(client: Client, volume: Mapping[str, Any]) -> None:
    """Have a storage plugin make a volume."""
    path = f"/v1/volume/csi/{path_segment(str(volume['ID']))}/create"
    client.send("PUT", path, body={"Volumes": [volume]})


def deregister_csi(client: Client, volume_id: str, *, force: bool) -> None:
    """Forget a volume; its storage stays."""
    client.send("DELETE", f"/v1/volume/csi/{path_segment(volume_id)}", force=force)


def delete_csi(client: Client, volume_id: str, *, secrets: Mapping[str, str] | None = None) -> None:
    """Have a storage plugin destroy a volume; `secrets` are for the plugin."""
    # Secrets travel in a header, as addresses are logged.
    headers = (
        {SECRETS_HEADER: ",".join(f"{key}={value}" for key, value in secrets.items())} if secrets else {}
    )
    path = f"/v1/volume/csi/{path_segment(volume_id)}/delete"
    status, _, body = client.exchange("DELETE", path, headers=headers)
    if status >= 400:
        raise ApiError(status, body.decode(errors="replace"))


def detach_csi(client: Client, volume_id: str, node_id: str) -> None:
    """Detach a volume from a node."""
    client.send("DELETE", f"/v1/volume/csi/{path_segment(volume_id)}/detach", node=node_id)


def list_plugins(client: Client, /, **params: Param) -> Answer[tuple[CsiPlugin, ...]]:
    """List storage plugins."""
    return client.get("/v1/plugins", tuple[CsiPlugin, ...], type="csi", **params)


def read_plugin(client: Client, plugin_id: str) -> Answer[CsiPlugin]:
    """Read a storage plugin."""
    return client.get(f"/v1/plugin/csi/{path_segment(plugin_id)}", CsiPlugin)


def list_claims(client: Client, /, **params: Param) -> Answer[tuple[Claim, ...]]:
    """List sticky claims; `job_id`, `task_group`, `volume_name` may be given."""
    return client.get("/v1/volumes/claims", tuple[Claim, ...], **params)


def delete_claim(client: Client, claim_id: str) -> None:
    """Delete a sticky claim."""
    client.send("DELETE", f"/v1/volumes/claim/{path_segment(claim_id)}")


def register_csi_volumes(client: Client, volumes: Sequence[Mapping[str, Any]]) -> None:
    """Register storage that is there already, several volumes at once."""
    client.send("PUT", "/v1/volumes", body={"Volumes": list(volumes)})


def list_external(client: Client, plugin_id: str, /, **params: Param) -> Answer[dict[str, Any]]:
    """Ask a storage plugin for its volumes."""
    return client.get("/v1/volumes/external", dict[str, Any], plugin_id=plugin_id, **params)


def list_snapshots(client: Client, plugin_id: str, /, **params: Param) -> Answer[dict[str, Any]]:
    """Ask a storage plugin for its snapshots."""
    return client.get("/v1/volumes/snapshot", dict[str, Any], plugin_id=plugin_id, **params)


def create_snapshots(client: Client, snapshots: Sequence[Mapping[str, Any]]) -> Answer[dict[str, Any]]:
    """Have storage plugins make snapshots of volumes; each names its `SourceVolumeID`."""
    return client.put("/v1/volumes/snapshot", dict[str, Any], body={"Snapshots": list(snapshots)})


def delete_snapshot(client: Client, plugin_id: str, snapshot_id: str) -> None:
    """Have a storage plugin delete a snapshot."""
    client.send("DELETE", "/v1/volumes/snapshot", plugin_id=plugin_id, snapshot_id=snapshot_id)
