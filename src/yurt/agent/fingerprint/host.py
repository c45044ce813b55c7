"""The host's name, operating system, kernel."""

from __future__ import annotations

import os
import platform
import sys

from yurt.agent.fingerprint.facts import Facts, Probe


def fingerprint_host(probe: Probe) -> Facts:
    """Describe the operating system."""
    os_name, os_version = _release(probe)
    host = os.uname()
    attributes = {
        "kernel.name": sys.platform,
        "kernel.version": host.release,
        "kernel.arch": host.machine,
        "os.name": os_name,
        "os.version": os_version,
        "unique.hostname": host.nodename,
    }
    if host_id := _host_id(probe):
        attributes["unique.host_id"] = host_id
    if probe.settings.http_address:
        attributes["unique.advertise.address"] = probe.settings.http_address
    return Facts(attributes=attributes)


def _release(probe: Probe) -> tuple[str, str]:
    fields = {}
    for line in probe.text("/etc/os-release").splitlines():
        key, _, value = line.partition("=")
        fields[key] = value.strip().strip("\"'")
    name = fields.get("ID", platform.system().lower())
    version = fields.get("VERSION_ID", "")
    if name == "debian":
        # os-release names the major version only; testing releases have a code name here.
        full = probe.text("/etc/debian_version")
        version = full if full[:1].isdecimal() else version
    return name, version


def _host_id(probe: Probe) -> str:
    """The machine's own id: of its firmware, else of its installation."""
    firmware_id = probe.text("/sys/class/dmi/id/product_uuid").lower()
    if firmware_id:
        return firmware_id
    machine_id = probe.text("/etc/machine-id")
    if len(machine_id) != 32:
        return ""
    return "-".join((machine_id[:8], machine_id[8:12], machine_id[12:16], machine_id[16:20], machine_id[20:]))
