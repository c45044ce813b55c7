"""Call CNI plugins: put a namespace into a network, and take it out again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.network.cni_config import CniConfig
from yurt.errors import YurtError

PLUGIN_LIMIT_S = 60.0
INTERFACE = "eth0"
# Plugins call iptables, which is not on every user's path.
_PROGRAM_DIRS = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


class CniFailed(YurtError):
    """A plugin did not do what it was asked."""

    def __init__(self, plugin: str, reason: str) -> None:
        super().__init__(f'plugin type="{plugin}" failed: {reason}')
        self.plugin = plugin


class PortMapping(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A port of the host that leads into a namespace; an empty `hostIP` is every address of the host."""

    host_port: int
    container_port: int
    protocol: str
    host_ip: str = msgspec.field(default="", name="hostIP")


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A namespace in a network: all that both joining and leaving have to know."""

    container_id: str
    namespace: str
    config: CniConfig
    args: dict[str, str] = {}
    ports: tuple[PortMapping, ...] = ()


class _Error(msgspec.Struct):
    msg: str = ""
    details: str = ""


class CniPlugins:
    """The plugins in the directories of `path`, which are separated by colons."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def join(self, attachment: Attachment) -> dict[str, Any]:
        """Put the namespace into the network; returns what the last plugin answered. Raises CniFailed.

        After a failure the namespace may be half in the network: `leave` it.
        """
        result: dict[str, Any] = {}
        for plugin in attachment.config.plugins:
            answer = await self._call("ADD", plugin, attachment, result)
            try:
                result = msgspec.json.decode(answer, type=dict[str, Any])
            except msgspec.MsgspecError as error:
                raise CniFailed(plugin["type"], f"its answer cannot be read: {error}") from error
        return result

    async def leave(self, attachment: Attachment, result: Mapping[str, Any] | None) -> None:
        """Take the namespace out of the network, whatever of it is left. Raises the first CniFailed.

        `result` is what `join` returned, None when it did not. Every plugin is called, since each has its
        own things to remove.
        """
        failure: CniFailed | None = None
        for plugin in reversed(attachment.config.plugins):
            try:
                await self._call("DEL", plugin, attachment, result or {})
            except CniFailed as error:
                failure = failure or error
        if failure is not None:
            raise failure

    async def _call(
        self, command: str, plugin: dict[str, Any], attachment: Attachment, result: Mapping[str, Any]
    ) -> bytes:
        kind = plugin["type"]
        program = self._find(kind)
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                env=self._environment(command, attachment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise CniFailed(kind, str(error)) from error
        try:
            async with asyncio.timeout(PLUGIN_LIMIT_S):
                output, errors = await process.communicate(_input(plugin, attachment, result))
        except TimeoutError:
            raise CniFailed(kind, f"it was not done within {PLUGIN_LIMIT_S:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            raise CniFailed(kind, _reason(output) or errors.decode(errors="replace").strip())
        return output

    def _find(self, kind: str) -> str:
        for directory in self._path.split(":"):
            program = f"{directory}/{kind}"
            if directory and os.access(program, os.X_OK):
                return program
        raise CniFailed(kind, f"it is in none of the directories of cni_path, {self._path}; install it")

    def _environment(self, command: str, attachment: Attachment) -> dict[str, str]:
        return {
            "CNI_COMMAND": command,
            "CNI_CONTAINERID": attachment.container_id,
            "CNI_NETNS": attachment.namespace,
            "CNI_IFNAME": INTERFACE,
            "CNI_PATH": self._path,
            "CNI_ARGS": ";".join(f"{name}={value}" for name, value in attachment.args.items()),
            "PATH": f"{os.environ.get('PATH', '')}:{_PROGRAM_DIRS}",
        }


def _input(plugin: dict[str, Any], attachment: Attachment, result: Mapping[str, Any]) -> bytes:
    """A plugin's configuration with what it needs of the network, and what those before it did."""
    config = {**plugin, "name": attachment.config.name, "cniVersion": attachment.config.version}
    capabilities = plugin.get("capabilities")
    if isinstance(capabilities, dict) and capabilities.get("portMappings"):
        config["runtimeConfig"] = {"portMappings": attachment.ports}
    if result:
        config["prevResult"] = result
    return msgspec.json.encode(config)


def _reason(output: bytes) -> str:
    try:
        error = msgspec.json.decode(output, type=_Error)
    except msgspec.MsgspecError:
        return output.decode(errors="replace").strip()
    return "; ".join(filter(None, (error.msg, error.details)))
