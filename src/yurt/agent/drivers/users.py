"""The host's users as tasks may run as them."""

from __future__ import annotations

import os
import pwd

import msgspec

from yurt.agent.drivers.driver import DriverError
from yurt.agent.launcher import Identity


class IdRanges(msgspec.Struct, frozen=True):
    """A set of user or group ids, held as ranges, since one of them may span billions."""

    ranges: tuple[tuple[int, int], ...] = ()

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)


def parse_id_ranges(text: str) -> IdRanges:
    """Read `0,10-20`; raises ValueError with what is wrong."""
    ranges = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"{part!r} is neither an id nor a range such as 10-20")
        if int(last or first) < int(first):
            raise ValueError(f"the range {part!r} ends before it begins")
        ranges.append((int(first), int(last or first)))
    return IdRanges(tuple(ranges))


def find_user(name: str) -> Identity:
    """Look a user up by name or number, with all its groups. Blocks: the host may ask a directory service."""
    try:
        entry = pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except (KeyError, OverflowError):
        raise DriverError(
            f'failed driver config validation: failed to identify user "{name}": user: unknown user {name}'
        ) from None
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    return Identity(uid=entry.pw_uid, gid=entry.pw_gid, groups=tuple(groups))


def host_user(name: str) -> tuple[int, int] | None:
    """The uid and gid of a task's user; None without one, or when only the task's image knows it. Blocks."""
    if not name:
        return None
    try:
        found = find_user(name)
    except DriverError:
        return None
    return found.uid, found.gid


def login_variables(uid: int) -> dict[str, str]:
    """What a login sets in the environment of a user with an entry. Blocks, as `find_user` does."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return {}
    return {"USER": entry.pw_name, "LOGNAME": entry.pw_name, "HOME": entry.pw_dir}


def refuse_denied(identity: Identity, *, uids: IdRanges, gids: IdRanges) -> None:
    """Raise DriverError when the operator denied the user, or any of its groups, to tasks."""
    if identity.uid in uids:
        raise DriverError(f"failed driver config validation: running as uid {identity.uid} is disallowed")
    for gid in (identity.gid, *identity.groups):
        if gid in gids:
            raise DriverError(f"failed driver config validation: running as gid {gid} is disallowed")
