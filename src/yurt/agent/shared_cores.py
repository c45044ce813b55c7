"""Keep tasks without cores of their own off the cores that others have reserved.

Only version 2 of control groups: there all such tasks are below one group, whose cores are the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from yurt.agent.drivers.cgroups import SHARED_PART, CgroupTree
from yurt.agent.id_sets import format_ids
from yurt.model.client_protocol import ClientAlloc
from yurt.observe.logger import get_logger

logger = get_logger("agent")


def reserved_cores(alloc: ClientAlloc) -> frozenset[int]:
    """The cores that the tasks of an allocation have for themselves."""
    tasks = alloc.resources.tasks.values()
    return frozenset(core for task in tasks for core in task.cpu.reserved_cores or ())


class SharedCores:
    """The cores of tasks that reserve none, out of all that are `usable`; the kernel keeps to them."""

    def __init__(self, cgroups: CgroupTree | None, usable: Iterable[int]) -> None:
        self._usable = frozenset(usable)
        has_cpusets = cgroups is not None and cgroups.version == 2 and "cpuset" in cgroups.controllers
        self._file = (
            Path(cgroups.mount, cgroups.parent, SHARED_PART, "cpuset.cpus")
            if cgroups is not None and has_cpusets
            else None
        )
        self._written = ""

    def leave_out(self, reserved: frozenset[int]) -> None:
        """From now on only the others are shared; all of them, should none be left."""
        cores = format_ids(self._usable - reserved or self._usable)
        if self._file is None or cores == self._written:
            return
        try:
            self._file.write_text(cores)
        except OSError as error:
            logger.warning("cores.not_shared", cores=cores, error=str(error))
        else:
            self._written = cores
