"""All networks of allocations on a node: made, found again after a restart, and taken down."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from yurt.agent.drivers import Driver, DriverError
from yurt.agent.network import firewall, namespaces
from yurt.agent.network.cni_config import BadCniConfig, CniConfig, bridge_config, read_configs
from yurt.agent.network.cni_plugins import Attachment, CniFailed, CniPlugins
from yurt.agent.network.group_network import (
    GroupNetwork,
    NamespaceMaker,
    network_status,
    port_mappings,
)
from yurt.agent.network.resolver_files import resolv_conf
from yurt.agent.settings import ClientSettings
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.alloc import NetworkStatus
from yurt.model.allocated import AllocatedPort
from yurt.model.resources import DNSConfig
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

BRIDGE, NONE, CNI_PREFIX = "bridge", "none", "cni/"
JOIN_TRIES_MAX = 3
JOIN_RETRY_S = 0.1
HOST_RESOLV_CONF = Path("/etc/resolv.conf")
_RECORD = "network.json"
_RESOLV_CONF = "resolv.conf"
_FOLDER_MODE = 0o755

logger = get_logger("network")


class NetworkFailed(YurtError):
    """An allocation's network could not be made."""


class WantedNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """What an allocation asks for. `maker` is the driver that has to make the namespace, if one has to."""

    alloc_id: AllocID
    mode: str
    hostname: str = ""
    dns: DNSConfig | None = None
    ports: tuple[AllocatedPort, ...] = ()
    args: dict[str, str] = {}
    maker: str = ""


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be known to take a network down, whatever becomes of job and settings meanwhile."""

    namespace: str = ""
    maker: str = ""
    attachment: Attachment | None = None
    result: dict[str, Any] | None = None


class Networks:
    """The networks of a node's allocations. `folder` is theirs, and only the agent may write there."""

    def __init__(
        self, settings: ClientSettings, folder: Path, *, drivers: Mapping[str, Driver], clock: Clock
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._drivers = drivers
        self._clock = clock
        self._plugins = CniPlugins(settings.cni_path)
        # The first to join makes the bridge and the firewall's chains, which two at once would both try.
        self._first = asyncio.Lock()
        self._has_joined = False

    async def provide(self, wanted: WantedNetwork) -> GroupNetwork:
        """Make the allocation's network, or find the one it has. Raises NetworkFailed."""
        folder = self._folder / wanted.alloc_id
        try:
            await asyncio.to_thread(_make_folder, folder)
            record = await self._namespaced(wanted) if wanted.mode else _Record()
        except (OSError, DriverError, CniFailed, BadCniConfig, msgspec.MsgspecError) as error:
            raise NetworkFailed(f"failed to configure networking for alloc: {error}") from error
        status = network_status(record.result) if record.result else NetworkStatus()
        dns = wanted.dns or status.dns
        return GroupNetwork(
            namespace=record.namespace,
            hostname=wanted.hostname,
            folder=str(folder),
            resolv_conf=await asyncio.to_thread(_write_resolv_conf, folder, dns) if dns else "",
            status=status,
        )

    async def remove(self, alloc_id: AllocID) -> None:
        """Take an allocation's network down; its tasks must have ended. What fails is told, and goes on."""
        folder = self._folder / alloc_id
        record = await asyncio.to_thread(_load, folder)
        if record is not None:
            await self._take_down(alloc_id, record)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def remove_all_but(self, known: Iterable[AllocID]) -> None:
        """Take down networks of allocations that nobody knows any more."""
        names = await asyncio.to_thread(_names, self._folder)
        for name in sorted(names - set(known)):
            await self.remove(AllocID(name))

    async def _namespaced(self, wanted: WantedNetwork) -> _Record:
        """The allocation's namespace in its network."""
        folder = self._folder / wanted.alloc_id
        known = await asyncio.to_thread(_load, folder)
        path = await self._find_namespace(wanted)
        if known is not None:
            if known.namespace == path and await asyncio.to_thread(_is_whole, known):
                return known
            # The machine was started anew, or the set-up was cut short.
            await self._take_down(wanted.alloc_id, known)
            path = await self._find_namespace(wanted)
        record = _Record(namespace=path, maker=wanted.maker)
        await asyncio.to_thread(_save, folder, record)
        if not wanted.maker:
            await asyncio.to_thread(_make_anew, path)
        config = await self._config(wanted.mode)
        if config is None:
            return record
        attachment = Attachment(
            container_id=wanted.alloc_id,
            namespace=path,
            config=config,
            args=wanted.args,
            ports=port_mappings(wanted.ports, every_address=self._binds_every_address),
        )
        record = msgspec.structs.replace(record, attachment=attachment)
        await asyncio.to_thread(_save, folder, record)
        result = await self._join_in_turn(attachment, is_bridge=wanted.mode == BRIDGE)
        record = msgspec.structs.replace(record, result=result)
        await asyncio.to_thread(_save, folder, record)
        return record

    @property
    def _binds_every_address(self) -> bool:
        return self._settings.bind_wildcard_default_host_network and not self._settings.host_networks

    async def _find_namespace(self, wanted: WantedNetwork) -> str:
        """The path of the namespace; a driver that makes it does so now."""
        if not wanted.maker:
            return namespaces.namespace_path(wanted.alloc_id)
        maker: object = self._drivers[wanted.maker]
        assert isinstance(maker, NamespaceMaker)
        return await maker.create_network(wanted.alloc_id, hostname=wanted.hostname)

    async def _config(self, mode: str) -> CniConfig | None:
        if mode == NONE:
            return None
        if mode == BRIDGE:
            return bridge_config(self._settings)
        name = mode.removeprefix(CNI_PREFIX)
        directory = self._settings.cni_config_dir
        config = (await asyncio.to_thread(read_configs, Path(directory))).get(name)
        if config is None:
            raise BadCniConfig(
                f'there is no CNI network "{name}" in {directory}; add its configuration there'
            )
        return config

    async def _join_in_turn(self, attachment: Attachment, *, is_bridge: bool) -> dict[str, Any]:
        if self._has_joined:
            return await self._join(attachment)
        async with self._first:
            if is_bridge:
                await firewall.accept_traffic_to(self._settings)
            result = await self._join(attachment)
            self._has_joined = True
            return result

    async def _join(self, attachment: Attachment) -> dict[str, Any]:
        """Try to join, a few times: others change the machine's firewall, too."""
        for tries_left in reversed(range(JOIN_TRIES_MAX)):
            try:
                return await self._plugins.join(attachment)
            except CniFailed as error:
                logger.warning("network.not_joined", alloc_id=attachment.container_id, error=str(error))
                with contextlib.suppress(CniFailed):
                    await self._plugins.leave(attachment, None)
                if not tries_left:
                    raise
            await self._clock.sleep(JOIN_RETRY_S)
        raise AssertionError("the last try returns or raises")

    async def _take_down(self, alloc_id: AllocID, record: _Record) -> None:
        if record.attachment is not None:
            try:
                await self._plugins.leave(record.attachment, record.result)
            except CniFailed as error:
                logger.warning("network.not_left", alloc_id=alloc_id, error=str(error))
                await firewall.remove_rules_of(alloc_id)
        maker: object = self._drivers.get(record.maker)
        if isinstance(maker, NamespaceMaker):
            try:
                await maker.destroy_network(alloc_id)
            except DriverError as error:
                logger.warning("network.namespace_left", alloc_id=alloc_id, error=str(error))
        elif not record.maker:
            await asyncio.to_thread(namespaces.remove_namespace, record.namespace)


def _make_anew(path: str) -> None:
    namespaces.remove_namespace(path)  # an empty file of before a reboot
    namespaces.make_namespace(path)


def _is_whole(record: _Record) -> bool:
    """Whether a network that was made is still as it was. Blocks."""
    if not namespaces.has_namespace(record.namespace):
        return False
    if record.attachment is None:
        return True
    if record.result is None:
        return False
    status = network_status(record.result)
    wanted = {address for address in (status.address, status.address_ipv6) if address}
    try:
        return wanted <= namespaces.addresses_in(record.namespace)
    except OSError:
        return False


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _load(folder: Path) -> _Record | None:
    try:
        return msgspec.json.decode((folder / _RECORD).read_bytes(), type=_Record)
    except (OSError, msgspec.MsgspecError):
        return None


def _save(folder: Path, record: _Record) -> None:
    """Replace the record as a whole: half of one would leave the network standing for ever."""
    fresh = folder / f"{_RECORD}.new"
    fresh.write_bytes(msgspec.json.encode(record))
    os.replace(fresh, folder / _RECORD)


def _write_resolv_conf(folder: Path, dns: DNSConfig) -> str:
    try:
        host = HOST_RESOLV_CONF.read_text(errors="replace")
    except OSError:
        host = ""
    path = folder / _RESOLV_CONF
    path.write_text(resolv_conf(dns, host))
    path.chmod(0o644)
    return str(path)
