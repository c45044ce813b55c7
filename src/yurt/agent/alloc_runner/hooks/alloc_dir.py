"""Make the allocation's directories."""

from __future__ import annotations

from yurt.agent.alloc_dir import AllocDirFailed
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed


class AllocDirHook(AllocHook):
    """Makes what is missing of the directories of the allocation and its tasks."""

    name = "alloc_dir"

    def __init__(self, context: AllocContext) -> None:
        self._alloc_id = context.alloc.id
        self._secrets_mb = {task.name: task.resources.secrets_mb for task in context.group.tasks}
        self._dirs = context.node.dirs

    async def prerun(self) -> None:
        """Fail when the disk does."""
        try:
            self._dirs.create(self._alloc_id, self._secrets_mb)
        except AllocDirFailed as error:
            raise SetupFailed(str(error)) from error


def make(context: AllocContext) -> AllocHook | None:
    """Every allocation has directories."""
    return AllocDirHook(context)
