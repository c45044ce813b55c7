"""Make the allocation's directories."""

from __future__ import annotations

from yurt.agent.alloc_dir import AllocDirFailed
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.node_context import NodeContext
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup


class AllocDirHook(AllocHook):
    """Makes what is missing of the directories of the allocation and its tasks."""

    name = "alloc_dir"

    def __init__(self, alloc: ClientAlloc, group: TaskGroup, node: NodeContext) -> None:
        self._alloc_id = alloc.id
        self._secrets_mb = {task.name: task.resources.secrets_mb for task in group.tasks}
        self._dirs = node.dirs

    async def prerun(self) -> None:
        """Fail when the disk does."""
        try:
            self._dirs.create(self._alloc_id, self._secrets_mb)
        except AllocDirFailed as error:
            raise SetupFailed(str(error)) from error


def make(alloc: ClientAlloc, group: TaskGroup, node: NodeContext) -> AllocHook | None:
    """Every allocation has directories."""
    return AllocDirHook(alloc, group, node)
