"""In which order the tasks of an allocation are killed."""

from __future__ import annotations

from collections.abc import Mapping

from yurt.agent.alloc_runner.lifecycle import Role
from yurt.model.task import Task


def kill_waves(
    tasks: Mapping[str, Task], roles: Mapping[str, Role], *, include_poststop: bool
) -> list[list[str]]:
    """Groups of tasks to kill together, one after the other: the leader, the rest, the sidecars.

    Poststop tasks are there to run afterwards; when even they must not, they go first.
    """
    leaders = [name for name, task in tasks.items() if task.leader]
    poststop = [name for name, role in roles.items() if role is Role.POSTSTOP]
    sidecars = [name for name, role in roles.items() if role.is_sidecar and name not in leaders]
    rest = [name for name in tasks if name not in (*leaders, *poststop, *sidecars)]
    waves = [poststop if include_poststop else [], leaders, rest, sidecars]
    return [wave for wave in waves if wave]
