"""The allocations on this node, from when they are taken over until they are deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from yurt.agent.alloc_errors import AllocUnknown
from yurt.agent.alloc_reports import AllocReports
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.agent.shared_cores import reserved_cores
from yurt.agent.state_db import StoredAlloc
from yurt.errors import YurtError
from yurt.model.alloc import CLIENT_COMPLETE, CLIENT_FAILED
from yurt.model.client_protocol import AllocUpdate, ClientAlloc, NodeAllocs
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

# Restored allocations are given this long to reach the servers for the first time.
FIRST_CONTACT_GRACE_S = 50.0
# A stopping dev agent waits this long for its tasks to end.
KILL_LIMIT_S = 60.0
# Spare directories are made when an agent has started, and when the allocations have that used them.
SPARE_DIRS_FIRST_DELAY_S = 1.0
SPARE_DIRS_DELAY_S = 0.3

logger = get_logger("agent")


class NotRunning(YurtError):
    """The agent takes no work yet, or no more."""

    def __init__(self) -> None:
        super().__init__("the agent is starting or stopping; try again soon")


class AllocSet:
    """The runners of a node. They live in the group of tasks given to `begin`, until `end`."""

    def __init__(self, link: ServerLink, identity: NodeIdentity, node: NodeContext) -> None:
        self._node = node
        self._runners: dict[AllocID, AllocRunner] = {}
        # What the servers were last told that we have: alloc id → modify index.
        self.seen: dict[AllocID, int] = {}
        # Set when there may be something to delete, or too little room.
        self.garbage_expected = asyncio.Event()
        self._reports = AllocReports(
            link,
            identity,
            clock=node.clock,
            rng=node.rng,
            before_send=node.db.flush,
            on_sent=self._report_sent,
        )
        self._tasks: asyncio.TaskGroup | None = None
        self._spares_wanted = asyncio.Event()
        self._destroying = asyncio.Semaphore(node.settings.gc.parallel_destroys)
        self._being_destroyed: set[AllocID] = set()

    # --- what there is ------------------------------------------------------------------------------

    @property
    def all(self) -> dict[AllocID, AllocRunner]:
        """The runners by their allocations' ids, those that are over included."""
        return dict(self._runners)

    @property
    def live(self) -> list[AllocRunner]:
        """The runners of allocations that are not over."""
        return [runner for runner in self._runners.values() if not runner.is_over]

    @property
    def deletable(self) -> list[AllocRunner]:
        """What may be deleted. An end that the servers do not know of yet would be forgotten with it."""
        return [
            runner
            for alloc_id, runner in self._runners.items()
            if runner.is_over
            and alloc_id not in self._being_destroyed
            and self._reports.acknowledged(alloc_id) == runner.status.status
        ]

    @property
    def count(self) -> int:
        """How many there are, those that are being deleted left out."""
        return len(self._runners) - len(self._being_destroyed)

    def get(self, alloc_id: AllocID) -> AllocRunner:
        """The runner of an allocation. Raises AllocUnknown."""
        runner = self._runners.get(alloc_id)
        if runner is None:
            raise AllocUnknown(alloc_id)
        return runner

    async def wait_until_over(self, alloc_id: AllocID) -> bool:
        """Wait for the end of an allocation; False for one that is not here."""
        runner = self._runners.get(alloc_id)
        if runner is None:
            return False
        await runner.wait_until_over()
        return True

    # --- taking over --------------------------------------------------------------------------------

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Let runners live in `tasks` from now on."""
        self._tasks = tasks

    def end(self) -> None:
        """Take over nothing more."""
        self._tasks = None

    def restore(self, found: Sequence[StoredAlloc]) -> None:
        """Take up the allocations of an earlier agent."""
        assert self._tasks is not None
        for stored in found:
            alloc = stored.record.alloc
            if not stored.tasks or alloc.job.group(alloc.task_group) is None:
                # It died before anything was started; the servers will hand the allocation out again.
                self._node.db.forget_alloc(alloc.id)
                continue
            runner = AllocRunner(alloc, node=self._node, stored=stored, on_change=self._changed)
            self.seen[alloc.id] = alloc.alloc_modify_index
            self._runners[alloc.id] = runner
            if runner.is_over:
                # The agent may have died between the tasks' end and the cleaning up.
                self._tasks.create_task(runner.clean_up(), name=f"clean up {alloc.id}")
            else:
                self._start(runner)
            if stored.acknowledged == runner.status.status:
                self._reports.assume(alloc.id, status=stored.acknowledged, health=runner.health)
            else:
                self._changed(runner)
        self._share_the_rest()
        if self._runners:
            logger.info("allocs.restored", allocs=len(self._runners))

    def apply(self, answer: NodeAllocs) -> None:
        """Bring the allocations here in line with the servers' list."""
        for alloc in answer.changed:
            self.seen[alloc.id] = alloc.alloc_modify_index
            self._take(alloc)
        self.seen = {id_: index for id_, index in self.seen.items() if id_ in answer.modify_indexes}
        for alloc_id, runner in list(self._runners.items()):
            if alloc_id not in answer.modify_indexes and not runner.alloc.is_external:
                runner.stop()
                self._spawn_destroy(runner)
        self._reports.retain(answer.modify_indexes)
        if self._node.dirs.wants_refill:
            self._spares_wanted.set()
        self.garbage_expected.set()

    async def keep_spare_dirs(self) -> None:
        """Make directories for allocations to come whenever those run low, until cancelled."""
        await self._node.clock.sleep(SPARE_DIRS_FIRST_DELAY_S)
        while True:
            await asyncio.to_thread(self._node.dirs.refill)
            self._spares_wanted.clear()
            await self._spares_wanted.wait()
            # Many allocations that start at once need the disk, and the processor, more.
            await self._node.clock.sleep(SPARE_DIRS_DELAY_S)

    def take_external(self, alloc: ClientAlloc) -> None:
        """Run an allocation of another control plane; one that is here already goes on as it is.

        Raises NotRunning before `begin`.
        """
        if self._tasks is None:
            raise NotRunning
        if alloc.id not in self._runners:
            self._take(alloc)

    def _take(self, alloc: ClientAlloc) -> None:
        """Take over an allocation, new or changed. One that cannot run here is reported as failed."""
        runner = self._runners.get(alloc.id)
        if alloc.job.group(alloc.task_group) is None:
            self._refuse(alloc, f'job "{alloc.job.id}" has no group "{alloc.task_group}"')
        elif runner is not None:
            runner.update(alloc)
        elif alloc.client_status not in (CLIENT_COMPLETE, CLIENT_FAILED):
            runner = AllocRunner(alloc, node=self._node, stored=None, on_change=self._changed)
            self._runners[alloc.id] = runner
            self._share_cores(runner)
            self._start(runner)

    def _refuse(self, alloc: ClientAlloc, reason: str) -> None:
        logger.error("alloc.refused", alloc_id=alloc.id, reason=reason)
        update = AllocUpdate(id=alloc.id, client_status=CLIENT_FAILED, client_description=reason)
        self._reports.put(alloc.id, lambda: update, status=CLIENT_FAILED, health=None)

    def _start(self, runner: AllocRunner) -> None:
        assert self._tasks is not None
        self._tasks.create_task(self._run(runner), name=f"alloc {runner.alloc.id}")

    async def _run(self, runner: AllocRunner) -> None:
        try:
            await runner.run()
        except Exception as error:
            logger.exception("alloc.runner_failed", alloc_id=runner.alloc.id)
            runner.fail(f"{type(error).__name__}: {error}")
        self._share_cores(runner)
        self.garbage_expected.set()

    def _share_cores(self, changed: AllocRunner) -> None:
        """Take the cores of live allocations from all others, once an allocation with cores has changed."""
        if reserved_cores(changed.alloc):
            self._share_the_rest()

    def _share_the_rest(self) -> None:
        reserved = frozenset(core for runner in self.live for core in reserved_cores(runner.alloc))
        self._node.shared_cores.leave_out(reserved)

    # --- telling of them ----------------------------------------------------------------------------

    async def send_reports(self) -> None:
        """Tell the servers what becomes of the allocations, until cancelled."""
        await self._node.server_reached.wait()
        await self._reports.run()

    def _changed(self, runner: AllocRunner) -> None:
        if runner.alloc.is_external:
            return
        self._reports.put(runner.alloc.id, runner.report, status=runner.status.status, health=runner.health)

    def _report_sent(self, alloc_id: AllocID, status: str) -> None:
        self._node.db.put_acknowledged(alloc_id, status)
        self.garbage_expected.set()

    # --- ending them --------------------------------------------------------------------------------

    def stop_disconnected(self, silent_s: float) -> None:
        """Stop the allocations that must not go on without the servers for so long."""
        grace_s = 0.0 if self._node.server_reached.is_set() else FIRST_CONTACT_GRACE_S
        for runner in self.live:
            limit = runner.stop_on_disconnect
            if limit is not None and silent_s > max(limit / SECOND_NS, grace_s):
                logger.warning("alloc.stopped_disconnected", alloc_id=runner.alloc.id, silent_s=silent_s)
                runner.stop()

    async def remove(self, alloc_id: AllocID) -> None:
        """Stop an allocation and wait for its end; one of another control plane is then forgotten.

        Raises AllocUnknown.
        """
        runner = self.get(alloc_id)
        runner.stop(skip_delays=True)
        await runner.wait_until_over()
        if runner.alloc.is_external:
            await self.destroy(runner)

    async def end_all(self) -> None:
        """Kill all tasks without delays, and delete their directories."""
        try:
            async with asyncio.timeout(KILL_LIMIT_S):
                for runner in self._runners.values():
                    runner.stop(skip_delays=True)
                await asyncio.gather(*(self.destroy(runner) for runner in list(self._runners.values())))
                if self._node.consul is not None:
                    await self._node.consul.flush()
        except TimeoutError:
            logger.warning("tasks.still_running", allocs=len(self._runners))

    async def destroy(self, runner: AllocRunner) -> None:
        """Wait for the end of an allocation, then delete its directory and all memory of it."""
        alloc_id = runner.alloc.id
        if alloc_id in self._being_destroyed:
            return
        self._being_destroyed.add(alloc_id)
        try:
            await runner.wait_until_over()
            async with self._destroying:
                await asyncio.to_thread(self._node.dirs.destroy, alloc_id)
        finally:
            self._being_destroyed.discard(alloc_id)
        self._node.db.forget_alloc(alloc_id)
        self._runners.pop(alloc_id, None)

    def _spawn_destroy(self, runner: AllocRunner) -> None:
        assert self._tasks is not None
        if runner.alloc.id not in self._being_destroyed:
            self._tasks.create_task(self.destroy(runner), name=f"destroy {runner.alloc.id}")
