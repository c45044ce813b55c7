"""The leader's duties: evaluations move along, silent nodes are given up."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from yurt.log.errors import LogWriteFailed
from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_CANCELED,
    EVAL_COMPLETE,
    EVAL_FAILED,
    EVAL_PENDING,
    Evaluation,
)
from yurt.model.job import CORE, JobKey
from yurt.model.node import NODE_DOWN
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID
from yurt.observe.logger import get_logger
from yurt.scheduler.kinds.endings import look_again
from yurt.scheduler.schedule import FOLLOW_UP_WAIT_MIN_S, FOLLOW_UP_WAIT_SPREAD_S
from yurt.server.blocked import BlockedEvals
from yurt.server.broker import DELIVERY_LIMIT, FAILED_QUEUE, Broker, Delivery
from yurt.server.commands.nodes import NodeCommands
from yurt.server.context import ServerContext
from yurt.server.heartbeats import HeartbeatTimers
from yurt.server.push.deliverer import Deliverer
from yurt.server.settings import ServerSettings
from yurt.server.watchers.core_gc import watch_garbage
from yurt.server.watchers.deployments import watch_deployments
from yurt.server.watchers.drains import watch_drains
from yurt.server.watchers.periodic import watch_periodic_jobs
from yurt.server.watchers.root_keys import KeyAges, watch_root_keys
from yurt.server.watchers.variable_locks import watch_variable_locks
from yurt.server.worker import Worker
from yurt.state.entries import UpsertEvals
from yurt.state.state import News

HEARTBEAT_SCAN_INTERVAL_S = 0.5
RESCAN_INTERVAL_S = 5.0
UNBLOCK_FAILED_INTERVAL_S = 60.0
CANCELED_PER_ENTRY_MAX = 728

logger = get_logger("leader")


class Leader:
    """Keeps broker and tracker in step with State, and does what nobody else does."""

    def __init__(
        self,
        context: ServerContext,
        broker: Broker,
        worker: Worker,
        heartbeats: HeartbeatTimers,
        nodes: NodeCommands,
        deliverer: Deliverer,
        settings: ServerSettings,
    ) -> None:
        self._context = context
        self._settings = settings
        self._broker = broker
        self._worker = worker
        self._heartbeats = heartbeats
        self._nodes = nodes
        self._deliverer = deliverer
        self.blocked = BlockedEvals(self._enqueue)
        self._tidy = asyncio.Event()
        worker.settled = self._tidy.set

    def take_over(self) -> None:
        """Begin with what State holds: pending and blocked evaluations, nodes that were up."""
        now = self._context.clock.monotonic()
        for evaluation in self._context.state.evals:
            self._place(evaluation)
        for node in self._context.state.nodes:
            if node.status != NODE_DOWN:
                self._heartbeats.expect(node.id, now=now, within_s=self._settings.failover_heartbeat_ttl_s)
        self._worker.wake()

    def start_over(self) -> None:
        """Forget everything that waits, and begin with what State holds now."""
        self._broker.clear()
        self.blocked.clear()
        self.take_over()

    def on_news(self, news: News) -> None:
        """React to what was just applied."""
        context = self._context
        now, index = context.clock.monotonic(), context.state.index
        # Who waited goes before whoever was asked to look at the same change.
        for node in news.ready_nodes:
            self.blocked.unblock_class(node.computed_class, index, now=now)
            self.blocked.unblock_node(node.id)
        for node_id in news.freed_nodes:
            freed = context.state.nodes.get(node_id)
            if freed is not None:
                self.blocked.unblock_class(freed.computed_class, index, now=now)
                self.blocked.unblock_node(node_id)
        for quota in news.freed_quotas:
            self.blocked.unblock_quota(quota, index, now=now)
        for evaluation in news.evals:
            self._place(evaluation)
        if news.evals or news.ready_nodes or news.freed_nodes or news.freed_quotas:
            self._worker.wake()
            self._tidy.set()

    async def run(self) -> None:
        """Do the duties until cancelled."""
        async with asyncio.TaskGroup() as duties:
            duties.create_task(self._watch_broker(), name="watch-broker")
            duties.create_task(self._watch_heartbeats(), name="watch-heartbeats")
            duties.create_task(self._retry_conflicts(), name="retry-conflicts")
            duties.create_task(self._deliverer.run(), name="deliveries")
            duties.create_task(watch_deployments(self._context), name="watch-deployments")
            duties.create_task(watch_drains(self._context), name="watch-drains")
            duties.create_task(watch_variable_locks(self._context), name="watch-variable-locks")
            settings = self._settings
            keeping = watch_root_keys(
                self._context,
                KeyAges(rotation=settings.root_key_rotation_threshold, gc=settings.root_key_gc_threshold),
                interval_s=settings.root_key_gc_interval_s,
            )
            duties.create_task(keeping, name="watch-root-keys")
            duties.create_task(watch_periodic_jobs(self._context), name="watch-periodic-jobs")
            collecting = watch_garbage(
                self._context, self._settings.gc_thresholds, self._settings.gc_interval_s
            )
            duties.create_task(collecting, name="watch-garbage")

    def _place(self, evaluation: Evaluation) -> None:
        """Put an evaluation where its status says it belongs."""
        if evaluation.status == EVAL_PENDING:
            self._enqueue(evaluation)
        elif evaluation.status == EVAL_BLOCKED:
            if not self._broker.is_outstanding(evaluation.id):
                self.blocked.block(evaluation)
        elif evaluation.status == EVAL_COMPLETE and not evaluation.failed_tg_allocs:
            self.blocked.untrack(JobKey(evaluation.namespace, evaluation.job_id))

    def _enqueue(self, evaluation: Evaluation) -> None:
        clock = self._context.clock
        self._broker.enqueue(evaluation, now=clock.monotonic(), wall=clock.now_ns())
        self._worker.wake()

    async def _watch_broker(self) -> None:
        """Let delayed evaluations in when due; write off what is cancelled or failed for good."""
        clock = self._context.clock
        while True:
            due = self._broker.next_due(now=clock.monotonic(), wall=clock.now_ns())
            try:
                async with asyncio.timeout(
                    min(RESCAN_INTERVAL_S, due if due is not None else RESCAN_INTERVAL_S)
                ):
                    await self._tidy.wait()
            except TimeoutError:
                pass
            self._tidy.clear()
            self._broker.tick(now=clock.monotonic(), wall=clock.now_ns())
            self._worker.wake()
            try:
                await self._cancel_needless()
                await self._fail_undeliverable()
            except LogWriteFailed as error:
                logger.error("evaluations.not_written", error=str(error))

    async def _cancel_needless(self) -> None:
        needless = self._broker.take_cancelable() + self.blocked.take_duplicates()
        now = self._context.clock.now_ns()
        for start in range(0, len(needless), CANCELED_PER_ENTRY_MAX):
            part = needless[start : start + CANCELED_PER_ENTRY_MAX]
            await self._context.committer.propose(
                UpsertEvals(
                    at=now,
                    evals=tuple(
                        replace(
                            evaluation,
                            status=EVAL_CANCELED,
                            status_description=(
                                f'existing blocked evaluation exists for job "{evaluation.job_id}"'
                                if evaluation.status == EVAL_BLOCKED
                                else "canceled after more recent eval was processed"
                            ),
                            modify_time=now,
                        )
                        for evaluation in part
                    ),
                )
            )

    async def _fail_undeliverable(self) -> None:
        """Fail evaluations that nobody could deal with, and look at their jobs again much later."""
        clock = self._context.clock
        while True:
            delivery = self._broker.dequeue((FAILED_QUEUE,), now=clock.monotonic())
            if delivery is None:
                return
            if delivery.evaluation.type != CORE:
                await self._fail(delivery)
            self._broker.ack(delivery, now=clock.monotonic(), wall=clock.now_ns())

    async def _fail(self, delivery: Delivery) -> None:
        context, evaluation = self._context, delivery.evaluation
        now = context.clock.now_ns()
        failed = replace(
            evaluation,
            status=EVAL_FAILED,
            status_description=f"evaluation reached delivery limit ({DELIVERY_LIMIT})",
            modify_time=now,
        )
        evals: tuple[Evaluation, ...] = (failed,)
        if JobKey(evaluation.namespace, evaluation.job_id) in context.state.jobs:
            wait_s = FOLLOW_UP_WAIT_MIN_S + context.rng.randrange(FOLLOW_UP_WAIT_SPREAD_S)
            later = look_again(evaluation, EvalID(context.new_id()), wait=wait_s * SECOND_NS, now=now)
            evals = (replace(failed, next_eval=later.id), later)
        await context.committer.propose(UpsertEvals(at=now, evals=evals))

    async def _watch_heartbeats(self) -> None:
        clock = self._context.clock
        while True:
            await clock.sleep(HEARTBEAT_SCAN_INTERVAL_S)
            for node_id in self._heartbeats.take_silent(now=clock.monotonic()):
                logger.warning("node.silent", node_id=node_id)
                try:
                    await self._nodes.declare_silent(node_id)
                except LogWriteFailed as error:
                    logger.error("node.not_written", node_id=node_id, error=str(error))
                    self._heartbeats.expect(
                        node_id, now=clock.monotonic(), within_s=HEARTBEAT_SCAN_INTERVAL_S
                    )

    async def _retry_conflicts(self) -> None:
        while True:
            await self._context.clock.sleep(UNBLOCK_FAILED_INTERVAL_S)
            self.blocked.unblock_failed()
            self.blocked.forget_old_unblocks(now=self._context.clock.monotonic())
