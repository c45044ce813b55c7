"""Constraints that follow from what a job uses, added where its author left them unsaid."""

from __future__ import annotations

from collections.abc import Iterator

from yurt.model.go_types import Folded

_VAULT: Folded = {"LTarget": "${attr.vault.version}", "RTarget": ">= 0.6.1", "Operand": "semver"}
_NOMAD_SERVICES: Folded = {
    "LTarget": "${attr.nomad.service_discovery}",
    "RTarget": "true",
    "Operand": "=",
}
_NOMAD_CHECKS: Folded = {"LTarget": "${attr.nomad.version}", "RTarget": ">= 1.4.0", "Operand": "semver"}
_CONSUL: Folded = {"LTarget": "${attr.consul.version}", "RTarget": ">= 1.8.0", "Operand": "semver"}
_BRIDGE: tuple[Folded, ...] = tuple(
    {"LTarget": f"${{attr.plugins.cni.version.{plugin}}}", "RTarget": ">= 0.4.0", "Operand": "semver"}
    for plugin in ("bridge", "firewall", "host-local", "loopback", "portmap")
)
_TRANSPARENT_PROXY: tuple[Folded, ...] = (
    {"LTarget": "${attr.plugins.cni.version.consul-cni}", "RTarget": ">= 1.4.2", "Operand": "semver"},
    {"LTarget": "${attr.nomad.version}", "RTarget": ">= 1.8.0-dev", "Operand": "semver"},
)
_IDENTITIES: Folded = {"LTarget": "${attr.nomad.version}", "RTarget": ">= 1.7.0-a", "Operand": "semver"}


def add_implied_constraints(groups: list[Folded]) -> None:
    """Append the constraints that the groups' tasks, services and networks imply, in place."""
    providers = list(dict.fromkeys(_secret_providers(groups)))
    for group in groups:
        given = group.get("Constraints", [])
        added = [*given]
        for constraint in _by_left_side(group, providers):
            _add_unless_left_side_taken(added, constraint)
        _add_exact(added, group)
        for constraint in _networks_and_consul(group):
            _add_unless_left_side_taken(added, constraint)
        if _has_named_identities(group):
            added.append(_IDENTITIES)
        if len(added) > len(given):
            group["Constraints"] = added
        for task in group.get("Tasks", ()):
            if any(service["Provider"] == "consul" for service in task.get("Services", ())):
                own = [*task.get("Constraints", [])]
                _add_unless_left_side_taken(own, _CONSUL)
                task["Constraints"] = own


def _secret_providers(groups: list[Folded]) -> Iterator[str]:
    for group in groups:
        for task in group.get("Tasks", ()):
            for secret in task.get("Secrets", ()):
                yield secret.get("Provider", "")


def _by_left_side(group: Folded, providers: list[str]) -> Iterator[Folded]:
    if any("Vault" in task for task in group.get("Tasks", ())):
        yield _VAULT
    for provider in providers:
        yield {"LTarget": f"${{attr.plugins.secrets.{provider}.version}}", "RTarget": "", "Operand": "is_set"}


def _add_exact(added: list[Folded], group: Folded) -> None:
    """Add what only an identical constraint makes superfluous."""
    signals = sorted(set(_signals(group)))
    wanted = []
    if signals:
        joined = ",".join(signals)
        wanted.append({"LTarget": "${attr.os.signals}", "RTarget": joined, "Operand": "set_contains"})
    native = [service for service in _services(group) if service["Provider"] == "nomad"]
    if native:
        wanted.append(_NOMAD_SERVICES)
    if any("Checks" in service for service in native):
        wanted.append(_NOMAD_CHECKS)
    added.extend(constraint for constraint in wanted if constraint not in added)


def _signals(group: Folded) -> Iterator[str]:
    for task in group.get("Tasks", ()):
        if task.get("KillSignal"):
            yield task["KillSignal"]
        for block in (*task.get("Templates", ()), task.get("Vault", {})):
            if block.get("ChangeMode") == "signal" and block["ChangeSignal"]:
                yield block["ChangeSignal"]


def _services(group: Folded) -> Iterator[Folded]:
    yield from group.get("Services", ())
    for task in group.get("Tasks", ()):
        yield from task.get("Services", ())


def _networks_and_consul(group: Folded) -> Iterator[Folded]:
    services = group.get("Services", ())
    if any(service["Provider"] == "consul" for service in services):
        yield _CONSUL
    if any(network.get("Mode") == "bridge" for network in group.get("Networks", ())):
        yield from _BRIDGE
    for service in services:
        proxy = service.get("Connect", {}).get("SidecarService", {}).get("Proxy", {})
        if "TransparentProxy" in proxy:
            yield from _TRANSPARENT_PROXY
            return


def _has_named_identities(group: Folded) -> bool:
    return any(task.get("Identities") for task in group.get("Tasks", ())) or any(
        "Identity" in service for service in _services(group)
    )


def _add_unless_left_side_taken(added: list[Folded], constraint: Folded) -> None:
    if all(present.get("LTarget") != constraint["LTarget"] for present in added):
        added.append(constraint)
