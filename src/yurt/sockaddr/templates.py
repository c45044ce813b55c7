"""Address templates such as `{{ GetInterfaceIP "eth0" }}`, in the forms that configurations use."""

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from yurt.jobspec.hcl.diagnostics import closest_name
from yurt.sockaddr.interfaces import InterfaceAddress

Addresses: TypeAlias = list[InterfaceAddress]
Result: TypeAlias = Addresses | str

_TEMPLATE = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|(\|)|([^\s|"`]+))')

_IPV4_NETWORKS_RFC1918 = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_RFC4193 = ("fc00::/7",)


class BadTemplate(ValueError):
    """The template cannot be read or gives no address; the text says why."""


def expand(text: str, interfaces: Sequence[InterfaceAddress]) -> str:
    """Replace every `{{ … }}` in `text`. Raises BadTemplate, also for a template that finds nothing."""

    def one(template: re.Match[str]) -> str:
        result = evaluate(template[1], interfaces)
        if not result:
            raise BadTemplate(f"{template[0]} finds no address on this machine; write the address itself")
        return result

    expanded = _TEMPLATE.sub(one, text).strip()
    if "{{" in expanded:
        raise BadTemplate(f'"{text}" has an opening {{{{ without a closing }}}}')
    return expanded


def evaluate(pipeline: str, interfaces: Sequence[InterfaceAddress]) -> str:
    """What stands between `{{` and `}}`; empty when it finds nothing. Raises BadTemplate."""
    result = _run(pipeline, list(interfaces))
    return result if isinstance(result, str) else " ".join(str(found.address) for found in result)


def private_address(interfaces: Sequence[InterfaceAddress]) -> str | None:
    """The address that other machines of a private network reach this one at, if it has one."""
    found = _private(list(interfaces))
    return str(found[0].address) if found else None


def _run(pipeline: str, interfaces: Addresses) -> Result:
    commands: list[list[str]] = [[]]
    at = 0
    text = pipeline.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadTemplate(f"cannot read {text[at:]!r} in {{{{ {text} }}}}; check its quotes")
        at = token.end()
        if token[3]:
            commands.append([])
        else:
            commands[-1].append(next(part for part in (token[1], token[2], token[4]) if part is not None))
    if not all(commands):
        raise BadTemplate(f"{{{{ {text} }}}} has an empty step")
    (name, *arguments), *filters = commands
    result = _source(name, arguments, interfaces)
    for name, *arguments in filters:
        if isinstance(result, str):
            raise BadTemplate(f"nothing can follow {name!r}'s predecessor: it already gives text")
        result = _filter(name, arguments, result)
    return result


def _source(name: str, arguments: list[str], interfaces: Addresses) -> Result:
    if name in ("GetInterfaceIP", "GetInterfaceIPs"):
        (wanted,) = _arguments(name, arguments, 1)
        found = [
            a for a in _sorted(interfaces) if re.fullmatch(wanted, a.interface) and not _is_link_local(a)
        ]
        return _first(found) if name == "GetInterfaceIP" else _all(found)
    if name not in _SOURCES:
        raise _unknown(name, [*_SOURCES, "GetInterfaceIP", "GetInterfaceIPs"])
    _arguments(name, arguments, 0)
    return _SOURCES[name](interfaces)


def _filter(name: str, arguments: list[str], addresses: Addresses) -> Result:
    match name:
        case "include" | "exclude":
            by, wanted = _arguments(name, arguments, 2)
            return [a for a in addresses if _matches(a, by, wanted) == (name == "include")]
        case "sort":
            (keys,) = _arguments(name, arguments, 1)
            return _sorted_by(addresses, keys)
        case "limit" | "offset":
            (count,) = _arguments(name, arguments, 1)
            if not count.isdecimal():
                raise BadTemplate(f"{name} takes a number, got {count!r}")
            return addresses[: int(count)] if name == "limit" else addresses[int(count) :]
        case "unique":
            (attribute,) = _arguments(name, arguments, 1)
            # The first of each counts, in the order found.
            return list({_attribute(a, attribute): a for a in reversed(addresses)}.values())[::-1]
        case "attr":
            (attribute,) = _arguments(name, arguments, 1)
            return _attribute(addresses[0], attribute) if addresses else ""
        case "join":
            attribute, separator = _arguments(name, arguments, 2)
            return separator.join(_attribute(a, attribute) for a in addresses)
    raise _unknown(name, ["include", "exclude", "sort", "limit", "offset", "unique", "attr", "join"])


def _matches(found: InterfaceAddress, by: str, wanted: str) -> bool:
    try:
        match by.lower():
            case "name":
                return re.search(wanted, found.interface) is not None
            case "address":
                return re.search(wanted, str(found.address)) is not None
            case "network":
                return _in_networks(found, wanted.split("|"))
            case "type":
                return wanted.lower() in ("ip", f"ipv{found.address.version}")
            case "flag" | "flags":
                return all(_has_flag(found, flag) for flag in wanted.split("|"))
            case "rfc":
                return any(_in_rfc(found, rfc) for rfc in wanted.split("|"))
            case "size":
                return found.prefix_length == int(wanted.lstrip("/"))
    except (ValueError, re.error) as error:
        raise BadTemplate(f"{by} {wanted!r}: {error}") from error
    raise _unknown(by, ["name", "address", "network", "type", "flags", "rfc", "size"])


def _has_flag(found: InterfaceAddress, flag: str) -> bool:
    match flag.strip().lower():
        case "up":
            return found.is_up
        case "loopback":
            return found.address.is_loopback
        case "forwardable":
            return _is_forwardable(found)
        case "global unicast":
            return not (found.address.is_loopback or found.address.is_multicast or _is_link_local(found))
        case "link-local unicast":
            return _is_link_local(found)
    raise ValueError(f"unknown flag {flag!r}")


def _in_rfc(found: InterfaceAddress, rfc: str) -> bool:
    match rfc.strip():
        case "1918":
            return _in_networks(found, _IPV4_NETWORKS_RFC1918)
        case "4193":
            return _in_networks(found, _RFC4193)
        case "6890":
            return found.address.is_private or found.address.is_loopback or _is_link_local(found)
    raise ValueError("only 1918, 4193 and 6890 are known")


def _in_networks(found: InterfaceAddress, networks: Sequence[str]) -> bool:
    return any(found.address in ipaddress.ip_network(network.strip(), strict=False) for network in networks)


def _attribute(found: InterfaceAddress, attribute: str) -> str:
    match attribute.lower():
        case "address":
            return str(found.address)
        case "name":
            return found.interface
        case "network" | "cidr":
            return str(ipaddress.ip_network(f"{found.address}/{found.prefix_length}", strict=False))
        case "size":
            return str(found.prefix_length)
        case "type":
            return f"IPv{found.address.version}"
    raise _unknown(attribute, ["address", "name", "network", "size", "type"])


def _all_addresses(interfaces: Addresses) -> Addresses:
    return interfaces


def _default(interfaces: Addresses) -> Addresses:
    return _sorted([a for a in interfaces if a.is_default and a.is_up and _is_forwardable(a)])


def _private(interfaces: Addresses) -> Addresses:
    return _sorted([a for a in interfaces if a.is_up and _is_forwardable(a) and a.address.is_private])


def _public(interfaces: Addresses) -> Addresses:
    return _sorted([a for a in interfaces if a.is_up and _is_forwardable(a) and not a.address.is_private])


def _sorted(addresses: Addresses) -> Addresses:
    return _sorted_by(addresses, "default,type,size")


def _sorted_by(addresses: Addresses, keys: str) -> Addresses:
    """Sort by comma-separated keys, the first one counting most; a `-` before one turns it round."""
    for key in reversed(keys.split(",")):
        name = key.strip().lstrip("+-").lower()
        if name not in _SORT_KEYS:
            raise _unknown(name, list(_SORT_KEYS))
        addresses = sorted(addresses, key=_SORT_KEYS[name], reverse=key.strip().startswith("-"))
    return addresses


def _is_forwardable(found: InterfaceAddress) -> bool:
    address = found.address
    return not (
        address.is_loopback or address.is_multicast or address.is_unspecified or _is_link_local(found)
    )


def _is_link_local(found: InterfaceAddress) -> bool:
    return found.address.is_link_local


def _first(addresses: Addresses) -> str:
    return str(addresses[0].address) if addresses else ""


def _all(addresses: Addresses) -> str:
    return " ".join(str(a.address) for a in addresses)


_SORT_KEYS: dict[str, Callable[[InterfaceAddress], Any]] = {
    "default": lambda a: not a.is_default,
    "type": lambda a: a.address.version,
    # The smallest network is the one with the longest prefix.
    "size": lambda a: -a.prefix_length,
    "name": lambda a: a.interface,
    "address": lambda a: (a.address.version, int(a.address)),
    "private": lambda a: not a.address.is_private,
}

_SOURCES: dict[str, Callable[[Addresses], Result]] = {
    "GetAllInterfaces": _all_addresses,
    "GetDefaultInterfaces": _default,
    "GetPrivateInterfaces": _private,
    "GetPublicInterfaces": _public,
    "GetPrivateIP": lambda interfaces: _first(_private(interfaces)),
    "GetPrivateIPs": lambda interfaces: _all(_private(interfaces)),
    "GetPublicIP": lambda interfaces: _first(_public(interfaces)),
    "GetPublicIPs": lambda interfaces: _all(_public(interfaces)),
}


def _arguments(name: str, arguments: list[str], count: int) -> list[str]:
    if len(arguments) != count:
        raise BadTemplate(f"{name} takes {count} arguments, got {len(arguments)}")
    return arguments


def _unknown(name: str, known: list[str]) -> BadTemplate:
    meant = closest_name(name, known)
    hint = f'did you mean "{meant}"?' if meant else f"known are {', '.join(known)}"
    return BadTemplate(f'unknown name "{name}" in an address template; {hint}')
