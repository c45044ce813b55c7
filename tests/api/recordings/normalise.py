"""Comparing answers with recorded ones: what is volatile may differ, everything else is meant literally.

The rules are those of the recordings' own description: ids are any, but equal where they are equal;
indexes and times are any, but zero and null stay; facts of the machine are any of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TRIMMED = "(trimmed)"

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_CHILD = re.compile(r"/(periodic|dispatch)-(?:[a-z]+-)?\d+(-[0-9a-f]{8})?")
_ALLOC_DIR = re.compile(r"/[^\s=]*/alloc/<id>")
_SHORT_ID = re.compile(r"(SHORT_ALLOC_ID=)[0-9a-f]{8}")
_ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+\b")
_PORT = re.compile(r"\b(2\d{4}|3[01]\d{3})\b")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# Numbers inside texts that are indexes, process ids, ports or times.
_TEXT_NUMBERS = re.compile(r"(modify index:? |reset index: |<address>:|restarting in |PID )\S+")

# Facts of the machine, and of the program that runs there.
FACTS = frozenset(
    (
        "Attributes",
        "Drivers",
        "NodeResources",
        "ReservedResources",
        "CgroupParent",
        "config",
        "stats",
        "Memory",
        "CPU",
        "DiskStats",
        "AllocDirStats",
        "Version",
        "build",
        "Meta of node",
        "HTTPAddr",
        "IP",
        "HostIP",
        "Addr",
        "port",
        "rpc_addr",
        "LeaderRPCAddr",
        "RPCAdvertiseAddr",
        "server_id",
    )
)
# Any value of the same type.
ANY_OF_TYPE = frozenset(
    (
        "Hash",
        "kid",
        "n",
        "Digest",
        "ComputedClass",
        "AllocationTime",
        "NormScore",
        "scores",
        "Uptime",
        "Size",
        "ModTime",
        "started",
        "CPUTicksConsumed",
        "SnapshotIndex",
        "StartDelay",
        "start_delay",
        "IdentitySigningKeyID",
        "SigningKeyID",
        "RSS",
        "SystemMode",
        "UserMode",
        "TotalTicks",
        "Percent",
        "HostPath",
        "exp",
        "iat",
        "nbf",
    )
)
# What the recordings leave out of objects where it depended on the moment.
LEFT_OUT = frozenset(("DeploymentStatus",))
_INDEXES = re.compile(r"(Index|^index)$")
_TIMES = re.compile(
    r"(Time|Timestamp|UpdatedAt|StartedAt|FinishedAt|WaitUntil|ProgressBy|Deadline of drain)$"
)
# Lists that come in no order.
UNORDERED = frozenset(
    ("Allocs", "evals", "EvalIDs", "PlacedCanaries", "Tags", "Services", "Events of stream", "CreatedEvals")
)


class Ids:
    """Which recorded id stands for which real one."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self.indexes: dict[int, int] = {}

    def bind(self, recorded: str, real: str) -> bool:
        """Note a pair; False if either already belongs to another."""
        known, back = self._real.get(recorded), self._recorded.get(real)
        if known is None and back is None:
            self._real[recorded], self._recorded[real] = real, recorded
            return True
        return known == real and back == recorded

    def real(self, recorded: str) -> str | None:
        """The real id for a recorded one, if it is known."""
        return self._real.get(recorded)

    def bind_index(self, recorded: int, real: int) -> None:
        """Note which real index stands for a recorded one, for requests that name it."""
        self.indexes[recorded] = real

    def copy(self) -> Ids:
        """The same pairs, to try things out."""
        other = Ids()
        other._real, other._recorded = dict(self._real), dict(self._recorded)
        other.indexes = self.indexes
        return other

    def take_over(self, other: Ids) -> None:
        """Keep what was tried out."""
        self._real, self._recorded = other._real, other._recorded

    def in_text(self, text: str) -> str:
        """A recorded text with real ids."""
        found = sorted(self._real.items(), key=lambda pair: -len(pair[0]))
        for recorded, real in found:
            text = text.replace(recorded, real)
        return text


def differences(
    recorded: Any, real: Any, ids: Ids, path: str = "", *, unordered: bool = False
) -> Iterator[str]:
    """Say where an answer differs from the recorded one, binding ids on the way."""
    key = path.rpartition(".")[2].partition("[")[0]
    if isinstance(recorded, dict) and TRIMMED in recorded:
        return
    if key in FACTS and type(recorded) is type(real) and not _is_asked_for(key, recorded):
        return
    if ".Scores." in path and isinstance(recorded, float) and isinstance(real, float):
        return
    if isinstance(recorded, dict) and isinstance(real, dict):
        yield from _dict_differences(recorded, real, ids, path)
    elif isinstance(recorded, list) and isinstance(real, list):
        yield from _list_differences(recorded, real, ids, path, unordered=unordered or key in UNORDERED)
    elif not _same_scalar(key, path, recorded, real, ids):
        yield f"{path}: recorded {recorded!r}, got {real!r}"


def _is_asked_for(key: str, recorded: Any) -> bool:
    """Whether a member that is a fact of the machine elsewhere is part of a job here."""
    return (isinstance(recorded, int) and key in ("CPU", "Version")) or (
        key == "Memory" and "MemoryMB" in recorded
    )


def _dict_differences(recorded: dict[str, Any], real: dict[str, Any], ids: Ids, path: str) -> Iterator[str]:
    named = {_mapped(name, ids): name for name in recorded}
    if path.endswith(("ClassEligibility", ".Pids")) or any(_DIGEST.fullmatch(name) for name in recorded):
        named = dict(zip(sorted(real), sorted(recorded), strict=False))
    for name in named.keys() - real.keys():
        yield f"{path}.{name}: missing (recorded {recorded[named[name]]!r:.120})"
    for name in real.keys() - named.keys() - LEFT_OUT:
        yield f"{path}.{name}: not recorded (got {real[name]!r:.120})"
    for name in [one for one in named if one in real]:
        yield from differences(recorded[named[name]], real[name], ids, f"{path}.{name}")


def _mapped(name: str, ids: Ids) -> str:
    return ids.in_text(name) if UUID.search(name) else name


def _list_differences(
    recorded: list[Any], real: list[Any], ids: Ids, path: str, *, unordered: bool
) -> Iterator[str]:
    if any(isinstance(one, dict) and TRIMMED in one for one in recorded):
        # A cut list may stand for more items than it shows.
        if not real:
            yield f"{path}: recorded items, got none"
        return
    if len(recorded) != len(real):
        yield f"{path}: recorded {len(recorded)} items, got {len(real)}"
        return
    if not unordered:
        for number, (one, other) in enumerate(zip(recorded, real, strict=True)):
            yield from differences(one, other, ids, f"{path}[{number}]")
        return
    left = list(real)
    for number, one in enumerate(recorded):
        best: list[str] | None = None
        for other in left:
            tried = ids.copy()
            found = list(differences(one, other, tried, f"{path}[{number}]"))
            if not found:
                ids.take_over(tried)
                left.remove(other)
                best = None
                break
            if best is None or len(found) < len(best):
                best = found
        else:
            yield from best or ()


def _same_scalar(key: str, path: str, recorded: Any, real: Any, ids: Ids) -> bool:
    if isinstance(recorded, bool) or isinstance(real, bool) or recorded is None or real is None:
        return recorded is real
    if key == "JobModifyIndex":
        ids.bind_index(recorded, real)
    if isinstance(recorded, (int, float)) and isinstance(real, (int, float)):
        return _same_number(key, path, recorded, real)
    if isinstance(recorded, str) and isinstance(real, str):
        return _same_text(key, recorded, real, ids)
    return type(recorded) is type(real) and recorded == real


def _same_number(key: str, path: str, recorded: float, real: float) -> bool:
    if recorded == real or key in ANY_OF_TYPE or path == "body.Index":
        # The index of a whole answer is that of a table, which others may have changed before.
        return True
    if _INDEXES.search(key) or _TIMES.search(key):
        return bool(recorded) == bool(real)
    return 20000 <= recorded <= 32000 and 20000 <= real <= 32000


def _same_text(key: str, recorded: str, real: str, ids: Ids) -> bool:
    if recorded == real:
        return True
    if key in ANY_OF_TYPE:
        return bool(recorded) == bool(real)
    if _TIME.fullmatch(recorded) and _TIME.fullmatch(real):
        return True
    if _TIMES.search(key) and bool(recorded) == bool(real):
        return True
    plain, other = (_without_volatile(text) for text in (recorded, real))
    if plain != other:
        return False
    children = zip(_CHILD.finditer(recorded), _CHILD.finditer(real), strict=True)
    names = [(one[0].lstrip("/"), two[0].lstrip("/")) for one, two in children]
    pairs = zip(UUID.findall(recorded), UUID.findall(real), strict=True)
    return all(ids.bind(one, two) for one, two in (*names, *pairs))


def _without_volatile(text: str) -> str:
    text = UUID.sub("<id>", text)
    text = _ALLOC_DIR.sub("<directory>/<id>", text)
    text = _SHORT_ID.sub(r"\1<id>", text)
    text = _PORT.sub("<port>", _ADDRESS.sub("<address>", text))
    text = _CHILD.sub(r"/\1-<time>", text)
    text = _DIGEST.sub("<digest>", _TIME.sub("<time>", text))
    return _TEXT_NUMBERS.sub(r"\1<number>", text)
