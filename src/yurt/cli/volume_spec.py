"""Volume specifications: HCL files into the API's form."""

import json
from typing import Any

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.cli.spec_file import parse_spec, read_text, text_map

WHAT = "volume specification"
SIZE_UNITS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def read_volume(session: Session, path: str) -> dict[str, Any]:
    """Read a specification; the member `Type` says whether it is `host` or `csi`."""
    text = read_text(session, path, WHAT)
    if text.lstrip().startswith("{"):
        try:
            volume = json.loads(text)
        except ValueError as error:
            raise CommandError(f"Error parsing {WHAT}: {error}") from error
        if not isinstance(volume, dict):
            raise CommandError(f"Error parsing {WHAT}: it must be an object")
        return {str(key): value for key, value in volume.items()}
    body = parse_spec(text, path, WHAT)
    kind = str(body.get("type", ""))
    if kind not in {"host", "csi"}:
        raise CommandError(f'Error parsing {WHAT}: type must be "host" or "csi", not {kind!r}')
    volume = _host(body) if kind == "host" else _csi(body)
    return {"Type": kind, **{key: value for key, value in volume.items() if value is not None}}


def _host(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "ID": body.get("id"),
        "Name": body.get("name"),
        "Namespace": body.get("namespace"),
        "PluginID": body.get("plugin_id"),
        "NodePool": body.get("node_pool"),
        "NodeID": body.get("node_id"),
        "HostPath": body.get("host_path"),
        "RequestedCapacityMinBytes": _size(body, "capacity_min"),
        "RequestedCapacityMaxBytes": _size(body, "capacity_max"),
        "CapacityBytes": _size(body, "capacity"),
        "Parameters": text_map(body, "parameters"),
        "RequestedCapabilities": _capabilities(body),
        "Constraints": _constraints(body),
    }


def _csi(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "ID": body.get("id"),
        "Name": body.get("name"),
        "Namespace": body.get("namespace"),
        "PluginID": body.get("plugin_id"),
        "ExternalID": body.get("external_id"),
        "SnapshotID": body.get("snapshot_id"),
        "CloneID": body.get("clone_id"),
        "AccessMode": body.get("access_mode"),
        "AttachmentMode": body.get("attachment_mode"),
        "RequestedCapacityMin": _size(body, "capacity_min"),
        "RequestedCapacityMax": _size(body, "capacity_max"),
        "Parameters": text_map(body, "parameters"),
        "Secrets": text_map(body, "secrets"),
        "Context": text_map(body, "context"),
        "RequestedCapabilities": _capabilities(body),
    }


def _size(body: dict[str, Any], name: str) -> int | None:
    """Read a size: a number of bytes, or a text such as `10GiB`."""
    value = body.get(name)
    if value is None or isinstance(value, int):
        return value
    text = str(value).strip().lower().removesuffix("ib").removesuffix("b")
    unit = text[-1:] if text[-1:].isalpha() else ""
    number = text.removesuffix(unit).strip()
    if unit not in SIZE_UNITS or not number.replace(".", "", 1).isdigit():
        raise CommandError(f"Error parsing {WHAT}: {name} must be a size such as 10GiB, not {value!r}")
    return int(float(number) * SIZE_UNITS[unit])


def _blocks(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = body.get(name) or []
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]


def _capabilities(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    found = [
        {"AccessMode": part.get("access_mode", ""), "AttachmentMode": part.get("attachment_mode", "")}
        for part in _blocks(body, "capability")
    ]
    return found or None


def _constraints(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    found = [
        {
            "LTarget": part.get("attribute", ""),
            "RTarget": str(part.get("value", "")),
            "Operand": part.get("operator", "="),
        }
        for part in _blocks(body, "constraint")
    ]
    return found or None
