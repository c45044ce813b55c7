"""Volumes that are made on this node at run time, by plugins."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from yurt.agent.settings import ClientSettings
from yurt.agent.state_db import StateDb
from yurt.errors import YurtError
from yurt.model.client_protocol import MakeVolume, VolumeMade
from yurt.model.node import HostVolume, Node
from yurt.observe.logger import get_logger

MKDIR = "mkdir"
PLUGIN_LIMIT_S = 60.0
_DEFAULT_MODE = "0700"
_DB_KEY = "host_volumes"

logger = get_logger("host_volumes")


class VolumeFailed(YurtError):
    """A volume could not be made or deleted; the text says why."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A volume that this node has, with what it was asked for."""

    asked: MakeVolume
    path: str


class HostVolumes:
    """The volumes of this node; `on_change` is told the volumes to offer whenever they change."""

    def __init__(
        self, settings: ClientSettings, db: StateDb, node: Node, on_change: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._db = db
        self._node = node
        self._on_change = on_change
        stored = db.meta(_DB_KEY)
        kept = msgspec.msgpack.decode(stored, type=dict[str, _Kept]) if stored else {}
        self._wanted: dict[str, _Kept] = kept
        self._offered: dict[str, HostVolume] = {}

    @property
    def offered(self) -> dict[str, HostVolume]:
        """All volumes that jobs may use here, by name."""
        return self._settings.host_volumes | self._offered

    async def restore(self) -> None:
        """Make again what an earlier agent had; what cannot be made is not offered."""
        for kept in list(self._wanted.values()):
            try:
                await self.create(kept.asked)
            except VolumeFailed as error:
                logger.warning("host_volume.not_restored", volume_id=kept.asked.id, error=str(error))

    async def create(self, asked: MakeVolume) -> VolumeMade:
        """Make a volume, or find it, and offer it. Safe to call again. Raises VolumeFailed."""
        holder = self.offered.get(asked.name)
        if holder is not None and holder.id != asked.id:
            raise VolumeFailed(f'this node has another volume "{asked.name}"; choose another name')
        if asked.host_path:
            if not await asyncio.to_thread(os.path.isdir, asked.host_path):
                raise VolumeFailed(f"host path {asked.host_path} is no directory on this node")
            made = VolumeMade(path=asked.host_path)
        elif asked.plugin_id == MKDIR:
            made = await asyncio.to_thread(self._mkdir, asked)
        else:
            made = await self._ask_plugin("create", asked)
        self._wanted[asked.id] = _Kept(asked=asked, path=made.path)
        self._offered[asked.name] = HostVolume(name=asked.name, path=made.path, id=asked.id)
        self._changed()
        return made

    async def delete(self, volume_id: str) -> None:
        """Delete a volume with its data; one that is not here is gone already. Raises VolumeFailed."""
        kept = self._wanted.get(volume_id)
        if kept is None:
            return
        asked = kept.asked
        if not asked.host_path:
            if asked.plugin_id == MKDIR:
                await asyncio.to_thread(shutil.rmtree, kept.path, ignore_errors=True)
            else:
                await self._ask_plugin("delete", asked, {"DHV_CREATED_PATH": kept.path})
        del self._wanted[volume_id]
        self._offered.pop(asked.name, None)
        self._changed()

    def _changed(self) -> None:
        self._db.put_meta(_DB_KEY, msgspec.msgpack.encode(self._wanted))
        self._on_change()

    def _mkdir(self, asked: MakeVolume) -> VolumeMade:
        path = Path(self._settings.host_volumes_dir, asked.id)
        parameters = asked.parameters
        try:
            mode = int(parameters.get("mode", _DEFAULT_MODE), 8)
            uid, gid = int(parameters.get("uid", "-1")), int(parameters.get("gid", "-1"))
        except ValueError as error:
            raise VolumeFailed(f"mkdir: mode is octal, uid and gid are numbers: {error}") from error
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(exist_ok=True)
            path.chmod(mode)
            os.chown(path, uid, gid)
        except OSError as error:
            raise VolumeFailed(f"mkdir: {error}") from error
        return VolumeMade(path=str(path))

    async def _ask_plugin(
        self, operation: str, asked: MakeVolume, more: Mapping[str, str] | None = None
    ) -> VolumeMade:
        directory = self._settings.host_volume_plugin_dir
        if not asked.plugin_id or "/" in asked.plugin_id:
            raise VolumeFailed(f"{asked.plugin_id!r} cannot be the name of a plugin")
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "DHV_OPERATION": operation,
            "DHV_VOLUMES_DIR": self._settings.host_volumes_dir,
            "DHV_PLUGIN_DIR": directory,
            "DHV_NAMESPACE": asked.namespace,
            "DHV_VOLUME_NAME": asked.name,
            "DHV_VOLUME_ID": asked.id,
            "DHV_NODE_ID": str(self._node.id),
            "DHV_NODE_POOL": self._node.node_pool,
            "DHV_CAPACITY_MIN_BYTES": str(asked.capacity_min_bytes),
            "DHV_CAPACITY_MAX_BYTES": str(asked.capacity_max_bytes),
            "DHV_PARAMETERS": msgspec.json.encode(asked.parameters).decode(),
            **(more or {}),
        }
        output = await _run(f"{directory}/{asked.plugin_id}", operation, env)
        if operation != "create":
            return VolumeMade()
        try:
            made = msgspec.json.decode(output, type=VolumeMade)
        except msgspec.MsgspecError as error:
            raise VolumeFailed(f"plugin {asked.plugin_id}: its answer cannot be read: {error}") from error
        if not os.path.isabs(made.path):
            raise VolumeFailed(f"plugin {asked.plugin_id}: its path {made.path!r} is not absolute")
        return made


async def _run(program: str, operation: str, env: Mapping[str, str]) -> bytes:
    name = os.path.basename(program)
    try:
        process = await asyncio.create_subprocess_exec(
            *(program, operation),
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise VolumeFailed(f"plugin {name} cannot be run: {error}") from error
    try:
        async with asyncio.timeout(PLUGIN_LIMIT_S):
            output, errors = await process.communicate()
    except TimeoutError:
        raise VolumeFailed(f"plugin {name} was not done within {PLUGIN_LIMIT_S:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        reason = errors.decode(errors="replace").strip() or f"exit code {process.returncode}"
        raise VolumeFailed(f"plugin {name} failed to {operation} the volume: {reason}")
    return output
