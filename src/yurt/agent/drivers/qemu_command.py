"""The command line of a virtual machine."""

from __future__ import annotations

import os

import msgspec

from yurt.agent.drivers.driver import DriverError, TaskSpec

MONITOR, GUEST_AGENT = "qm.sock", "qa.sock"
_KVM = "kvm"


class QemuConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A task's `config { }`."""

    image_path: str
    emulator: str = "x86_64"
    machine_type: str = "pc"
    drive_interface: str = "ide"
    accelerator: str = "tcg"
    graceful_shutdown: bool = False
    guest_agent: bool = False
    args: tuple[str, ...] = ()
    port_map: dict[str, int] = {}


def qemu_arguments(spec: TaskSpec, config: QemuConfig, image: str) -> tuple[str, ...]:
    """What follows the emulator. Sockets are named from the task's directory. Raises DriverError."""
    drive = f"file={_escaped(image)},if={config.drive_interface},id=image0"
    arguments = [
        *("-machine", f"type={config.machine_type},accel={config.accelerator}"),
        *("-name", _escaped(os.path.basename(image))),
        *("-m", f"{spec.resources.memory_mb}M"),
        *("-drive", drive),
        "-nographic",
    ]
    if config.graceful_shutdown:
        arguments += ["-monitor", f"unix:{MONITOR},server=on,wait=off"]
    if config.guest_agent:
        arguments += [
            *("-chardev", f"socket,path={GUEST_AGENT},server=on,wait=off,id=qga0"),
            *("-device", "virtio-serial"),
            *("-device", "virtserialport,chardev=qga0,name=org.qemu.guest_agent.0"),
        ]
    arguments += config.args
    if config.port_map:
        arguments += ["-netdev", f"user,id=user.0,{_forwards(spec, config)}"]
        arguments += ["-device", "virtio-net,netdev=user.0"]
    if config.accelerator == _KVM:
        arguments.append("-enable-kvm")
        if spec.resources.cores and "-smp" not in config.args:
            arguments += ["-smp", str(len(spec.resources.cores))]
    return tuple(arguments)


def _forwards(spec: TaskSpec, config: QemuConfig) -> str:
    ports = {port.label: port.host_port for port in spec.ports}
    for label in config.port_map:
        if label not in ports:
            raise DriverError(f'unknown port label "{label}"; the network block of the task has no such port')
    return ",".join(
        f"hostfwd={protocol}::{ports[label]}-:{guest_port}"
        for label, guest_port in config.port_map.items()
        for protocol in ("udp", "tcp")
    )


def _escaped(text: str) -> str:
    """A value in a list of options, where a comma would end it."""
    return text.replace(",", ",,")
