"""The stored form of a task."""

from __future__ import annotations

from yurt.model.canonical.stored_service import stored_services
from yurt.model.go_types import Folded
from yurt.model.identity import DEFAULT_IDENTITY_AUDIENCE, DEFAULT_IDENTITY_NAME

DEFAULT_HOST_NETWORK = "default"

_CONTAINERS = frozenset(
    {
        "Actions",
        "Affinities",
        "Artifacts",
        "Audience",
        "CanaryMeta",
        "CanaryTags",
        "Checks",
        "Config",
        "Constraints",
        "Devices",
        "DynamicPorts",
        "Env",
        "ExtraClaims",
        "GetterHeaders",
        "GetterOptions",
        "Header",
        "Identities",
        "Meta",
        "MetaOptional",
        "MetaRequired",
        "Networks",
        "Payload",
        "Policy",
        "ReservedPorts",
        "ScalingPolicies",
        "Secrets",
        "Services",
        "SpreadTarget",
        "Spreads",
        "TaggedAddresses",
        "Tags",
        "Templates",
        "Upstreams",
        "VolumeMounts",
        "Volumes",
    }
)
_DEFAULT_IDENTITY: Folded = {"Name": DEFAULT_IDENTITY_NAME, "Audience": [DEFAULT_IDENTITY_AUDIENCE]}


def drop_empty(block: Folded) -> None:
    """Forget empty lists and maps, in place: stored jobs have null for them."""
    for name in [name for name, value in block.items() if not value and name in _CONTAINERS]:
        del block[name]


def stored_task(task: Folded, *, job: Folded, group: str) -> None:
    """Bring a defaulted task into its stored form, in place."""
    drop_empty(task)
    resources = task["Resources"]
    resources.pop("DiskMB", None)
    drop_empty(resources)
    if "Networks" in resources:
        resources["Networks"] = stored_networks(resources["Networks"])
    if "Services" in task:
        task["Services"] = stored_services(task["Services"], job=job, group=group, task=task.get("Name", ""))
    if "Vault" in task and not task["Vault"]["Namespace"]:
        task["Vault"]["Namespace"] = job.get("VaultNamespace", "")
    for block in (*task.get("Artifacts", ()), *resources.get("Devices", ())):
        drop_empty(block)
    for name in ("Actions", "Secrets"):
        if name in task:
            task[name] = [_without_empty(block) for block in task[name]]
    _settle_identities(task)


def stored_networks(networks: list[Folded]) -> list[Folded]:
    """Name the host network of every port; the device is the scheduler's to choose."""
    out = []
    for network in networks:
        stored = {name: value for name, value in network.items() if name != "Device"}
        for ports in ("ReservedPorts", "DynamicPorts"):
            if ports in stored:
                stored[ports] = [
                    {**port, "HostNetwork": port.get("HostNetwork") or DEFAULT_HOST_NETWORK}
                    for port in stored[ports]
                ]
        drop_empty(stored)
        out.append(stored)
    return out


def _without_empty(block: Folded) -> Folded:
    return {name: value for name, value in block.items() if value}


def _settle_identities(task: Folded) -> None:
    """Give the task its default identity, taken from `Identities` if it stands there."""
    given = task.get("Identity")
    named = task.get("Identities")
    if named is not None:
        named = [_identity(identity) for identity in named]
        if given is None:
            given = next((each for each in named if each["Name"] == DEFAULT_IDENTITY_NAME), None)
            named = [each for each in named if each is not given]
        task["Identities"] = named
    if given is None:
        task["Identity"] = _DEFAULT_IDENTITY
    else:
        task["Identity"] = {**_identity(given), **_DEFAULT_IDENTITY}


def _identity(given: Folded) -> Folded:
    out = {**given, "Name": given.get("Name") or DEFAULT_IDENTITY_NAME}
    if "ChangeSignal" in out:
        out["ChangeSignal"] = out["ChangeSignal"].upper()
    drop_empty(out)
    return out
