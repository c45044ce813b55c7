"""Hear from the servers what becomes of allocations, here and where they came from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from yurt.agent.alloc_set import AllocSet
from yurt.agent.backoff import retry_delay_s
from yurt.agent.launcher import LauncherClient, TaskKey
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.orphans import end_orphans, is_beside_task, unknown_keys
from yurt.agent.server_link import ServerLink
from yurt.agent.state_db import StoredAlloc
from yurt.errors import YurtError
from yurt.model.client_protocol import PreviousAlloc, WatchAllocs, WatchPrevious
from yurt.model.times import MINUTE_NS
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

WATCH_WAIT = 5 * MINUTE_NS

logger = get_logger("agent")


class AllocFollower:
    """Long polls to the servers. Processes that no allocation accounts for end with the first answer."""

    def __init__(
        self,
        link: ServerLink,
        identity: NodeIdentity,
        node: NodeContext,
        *,
        allocs: AllocSet,
        launcher: LauncherClient | None,
    ) -> None:
        self._link = link
        self._identity = identity
        self._node = node
        self._allocs = allocs
        self._launcher = launcher
        self._index = 0
        self._unknown_keys: Sequence[TaskKey] = ()

    def find_orphans(self, found: Sequence[StoredAlloc], tasks: asyncio.TaskGroup) -> None:
        """Look for processes that no stored allocation accounts for.

        Commands beside tasks end at once; a task may be of an allocation that the servers know.
        """
        if self._launcher is None:
            return
        unknown = unknown_keys(self._launcher.keys(), found)
        self._unknown_keys = [key for key in unknown if not is_beside_task(key)]
        beside = [key for key in unknown if is_beside_task(key)]
        tasks.create_task(end_orphans(self._launcher, beside, set()), name="end-sessions")

    async def run(self) -> None:
        """Take over what the servers place here, until cancelled."""
        await self._node.server_reached.wait()
        failures = 0
        while True:
            request = WatchAllocs(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                min_index=self._index,
                wait=WATCH_WAIT,
                known=self._allocs.seen,
            )
            try:
                answer = await self._link.watch_allocs(request)
            except YurtError as error:
                failures += 1
                logger.warning("allocs.not_followed", error=str(error))
                await self._node.clock.sleep(retry_delay_s(failures, self._node.rng))
                continue
            failures = 0
            self._index = answer.index
            self._allocs.apply(answer)
            if self._unknown_keys and self._launcher is not None:
                await end_orphans(self._launcher, self._unknown_keys, answer.modify_indexes.keys())
                self._unknown_keys = ()

    async def wait_for_previous(self, alloc_id: AllocID) -> PreviousAlloc:
        """Wait for the end of the allocation on another node that one here replaces."""
        await self._node.server_reached.wait()
        failures = 0
        while True:
            request = WatchPrevious(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                alloc_id=alloc_id,
                wait=WATCH_WAIT,
            )
            try:
                answer = await self._link.watch_previous(request)
            except YurtError as error:
                failures += 1
                logger.warning("previous_alloc.not_followed", alloc_id=alloc_id, error=str(error))
                await self._node.clock.sleep(retry_delay_s(failures, self._node.rng))
                continue
            if answer.is_over:
                return answer
