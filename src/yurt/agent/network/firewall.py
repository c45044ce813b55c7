"""The few rules of the host's firewall that CNI plugins leave to whoever calls them."""

from __future__ import annotations

import asyncio
import re
import shutil

from yurt.agent.network.cni_config import ADMIN_CHAIN
from yurt.agent.settings import ClientSettings
from yurt.observe.logger import get_logger

CALL_LIMIT_S = 30.0
LOCK_WAIT_S = 10
_SEARCH_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
_TABLES = ("nat", "filter")
_TARGET = re.compile(r" -j (CNI-\S+)")

logger = get_logger("network")


async def accept_traffic_to(settings: ClientSettings) -> None:
    """Let packets to the bridge's subnet through, whatever the host's policy for forwarding is.

    Without iptables nothing happens: the plugins will say what they miss.
    """
    subnets = (
        ("iptables", settings.bridge_network_subnet),
        ("ip6tables", settings.bridge_network_subnet_ipv6),
    )
    for program, subnet in subnets:
        if not subnet:
            continue
        rule = [ADMIN_CHAIN, "-o", settings.bridge_network_name, "-d", subnet, "-j", "ACCEPT"]
        await _call(program, "-N", ADMIN_CHAIN)
        if (await _call(program, "-C", *rule))[0] != 0:
            status, output = await _call(program, "-A", *rule)
            if status != 0:
                logger.warning("firewall.rule_not_added", program=program, error=output.strip())


async def remove_rules_of(alloc_id: str) -> None:
    """Remove the rules that name an allocation, with the chains only they lead to."""
    for table in _TABLES:
        _, listed = await _call("iptables", "-t", table, "-S")
        for line in listed.splitlines():
            if alloc_id not in line or not line.startswith("-A "):
                continue
            await _call("iptables", "-t", table, "-D", *_words(line.removeprefix("-A ")))
            if target := _TARGET.search(line):
                await _call("iptables", "-t", table, "-F", target[1])
                await _call("iptables", "-t", table, "-X", target[1])


def _words(rule: str) -> list[str]:
    """The words of a listed rule; comments with blanks stand in quotes, and quotes in them are escaped."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', rule)
    return [re.sub(r"\\(.)", r"\1", quoted) if quoted else plain for quoted, plain in words]


async def _call(program: str, *arguments: str) -> tuple[int, str]:
    path = shutil.which(program, path=_SEARCH_PATH)
    if path is None:
        return -1, f"{program} is not installed"
    process = await asyncio.create_subprocess_exec(
        *(path, "-w", str(LOCK_WAIT_S), *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(CALL_LIMIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        return -1, f"{program} was not done within {CALL_LIMIT_S:.0f} s"
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, output.decode(errors="replace")
