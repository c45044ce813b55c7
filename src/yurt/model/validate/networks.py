"""Problems with the networks and volumes of a group."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.model.go_text import quoted
from yurt.model.resources import NetworkResource, Port
from yurt.model.volume import VolumeRequest

PORT_MAX = 65535
TO_SAME_PORT = -1
HOSTNAME_MAX = 254
LABEL_MAX = 63

_READ_ONLY_MODES = ("single-node-reader-only", "multi-node-reader-only")
_SOLE_USE = {
    "single-node-reader-only": "reader",
    "single-node-writer": "reader or writer",
    "multi-node-single-writer": "writer",
}
_HOST_MODES = (
    "",
    "single-node-reader-only",
    "single-node-writer",
    "single-node-single-writer",
    "single-node-multi-writer",
)


def networks_errors(networks: Sequence[NetworkResource] | None) -> list[str]:
    """Check the ports, hostnames and CNI arguments of a group's networks."""
    errors: list[str] = []
    labels: set[str] = set()
    static: dict[tuple[str, int], str] = {}
    cni_args: set[str] = set()
    for network in networks or ():
        # Reserved ports come first: a label that both use is blamed on the dynamic one.
        for port in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
            if port.label in labels:
                errors.append(f"Port label {port.label} already in use by taskgroup network")
                continue
            labels.add(port.label)
            errors += _port_errors(port, mode=network.mode, static=static)
        errors += _cni_errors(network, seen=cni_args)
        if network.hostname and not _is_hostname(network.hostname):
            errors.append("Hostname is not a valid DNS name")
    return errors


def _port_errors(port: Port, *, mode: str, static: dict[tuple[str, int], str]) -> list[str]:
    errors = []
    if port.value != 0:
        place = (port.host_network, port.value)
        if port.value > PORT_MAX:
            errors.append(f"Port {port.label} ({port.value}) cannot be greater than {PORT_MAX}")
        elif place in static and not port.ignore_collision:
            errors.append(f"Static port {port.value} already reserved by taskgroup network:{static[place]}")
        else:
            static[place] = port.label
    if port.to < TO_SAME_PORT:
        errors.append(f"Port {quoted(port.label)} cannot be mapped to negative value {port.to}")
    if port.to > PORT_MAX:
        errors.append(
            f"Port {quoted(port.label)} cannot be mapped to a port ({port.to}) greater than {PORT_MAX}"
        )
    if port.ignore_collision and mode not in ("", "host"):
        errors.append(
            f"Port {quoted(port.label)} collision may not be ignored on non-host network mode {quoted(mode)}"
        )
    return errors


def _cni_errors(network: NetworkResource, *, seen: set[str]) -> list[str]:
    """Check the arguments for CNI plugins; those of earlier networks are `seen`, and these join them."""
    errors = []
    for key, value in ((network.cni and network.cni.args) or {}).items():
        if key in seen:
            errors.append(f"duplicate CNI arg {quoted(key)}")
        seen.add(key)
        if ";" in key:
            errors.append(f"invalid ';' character in CNI arg key {quoted(key)}")
        if ";" in value:
            errors.append(f"invalid ';' character in CNI arg value {quoted(value)}")
    return errors


def _is_hostname(hostname: str) -> bool:
    """Whether a DNS library would take it: no empty label, none too long."""
    labels = hostname.removesuffix(".").split(".")
    return len(hostname) <= HOSTNAME_MAX and all(0 < len(label) <= LABEL_MAX for label in labels)


def volume_errors(volume: VolumeRequest, *, is_system: bool, has_canaries: bool, count: int) -> list[str]:
    """Check a volume that a group asks for."""
    errors = []
    if not volume.source:
        errors.append("volume has an empty source")
    if volume.per_alloc:
        if is_system:
            errors.append("volume cannot be per_alloc for system or sysbatch jobs")
        if has_canaries:
            errors.append("volume cannot be per_alloc when canaries are in use")
        if volume.sticky:
            errors.append("volume cannot be per_alloc and sticky at the same time")
    if volume.type == "host":
        return errors + _host_volume_errors(volume)
    return errors + _csi_volume_errors(volume, shared=count > 1 and not volume.per_alloc)


def _host_volume_errors(volume: VolumeRequest) -> list[str]:
    errors = []
    if volume.mount_options is not None:
        errors.append("host volumes cannot have mount options")
    if volume.access_mode not in _HOST_MODES:
        errors.append(f"host volumes cannot be mounted with {volume.access_mode} access mode")
    elif volume.access_mode in _READ_ONLY_MODES and not volume.read_only:
        errors.append(f"{volume.access_mode} volumes must be read-only")
    return errors


def _csi_volume_errors(volume: VolumeRequest, *, shared: bool) -> list[str]:
    errors = []
    if not volume.attachment_mode:
        errors.append("CSI volumes must have an attachment mode")
    if volume.attachment_mode == "block-device" and volume.mount_options is not None:
        errors.append("block devices cannot have mount options")
    if not volume.access_mode:
        errors.append("CSI volumes must have an access mode")
    elif volume.access_mode in _READ_ONLY_MODES and not volume.read_only:
        errors.append(f"{volume.access_mode} volumes must be read-only")
    allowed = _SOLE_USE.get(volume.access_mode)
    if allowed is not None and shared and not (allowed == "writer" and volume.read_only):
        errors.append(f"volume with {volume.access_mode} access mode allows only one {allowed}")
    return errors
