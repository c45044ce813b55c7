"""Tell the servers what became of allocations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container
from random import Random

from yurt.agent.backoff import retry_delay_s
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.client_protocol import AllocUpdate, UpdateAllocs
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

# News that change no status wait this long for company; the servers pay for each report with a disk write.
PATIENCE_S = 1.0
UPDATES_AT_ONCE_MAX = 512

logger = get_logger("agent")


class AllocReports:
    """Sends reports in batches: at once when a status changed and none is under way.

    What changes while a batch is under way goes with the next, in its newest form only.
    """

    def __init__(
        self,
        link: ServerLink,
        identity: NodeIdentity,
        *,
        clock: Clock,
        rng: Random,
        before_send: Callable[[], None],
        on_sent: Callable[[AllocID, str], None],
    ) -> None:
        """`before_send` puts on record what is told; `on_sent` hears each client status that was taken."""
        self._link = link
        self._identity = identity
        self._clock = clock
        self._rng = rng
        self._before_send = before_send
        self._on_sent = on_sent
        self._due: dict[AllocID, Callable[[], AllocUpdate]] = {}
        # Client status and health as the servers last confirmed them.
        self._known: dict[AllocID, tuple[str, bool | None]] = {}
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()

    def put(
        self, alloc_id: AllocID, report: Callable[[], AllocUpdate], *, status: str, health: bool | None
    ) -> None:
        """Have an allocation reported; `report` is asked when the report is sent."""
        self._due[alloc_id] = report
        self._news.set()
        if self._known.get(alloc_id, ("pending", None)) != (status, health):
            self._urgent.set()

    def acknowledged(self, alloc_id: AllocID) -> str:
        """The client status that the servers last confirmed; empty when none."""
        return self._known.get(alloc_id, ("", None))[0]

    def assume(self, alloc_id: AllocID, *, status: str, health: bool | None) -> None:
        """Take it that the servers know this already: an earlier agent told them."""
        self._known[alloc_id] = (status, health)

    def retain(self, alloc_ids: Container[AllocID]) -> None:
        """Forget all other allocations: the servers have dropped them."""
        self._due = {id_: report for id_, report in self._due.items() if id_ in alloc_ids}
        self._known = {id_: known for id_, known in self._known.items() if id_ in alloc_ids}

    async def run(self) -> None:
        """Send what is due, until cancelled."""
        failures = 0
        while True:
            await self._news.wait()
            await self._wait_for_company()
            if await self.send():
                failures = 0
            else:
                failures += 1
                await self._clock.sleep(retry_delay_s(failures, self._rng))

    async def send(self) -> bool:
        """Send what is due now; False when the servers could not take it, and it stays due."""
        self._news.clear()
        self._urgent.clear()
        batch = dict(list(self._due.items())[:UPDATES_AT_ONCE_MAX])
        if not batch:
            return True
        for alloc_id in batch:
            del self._due[alloc_id]
        if self._due:
            self._news.set()
            self._urgent.set()
        self._before_send()
        updates = tuple(report() for report in batch.values())
        request = UpdateAllocs(
            node_id=self._identity.node_id, secret_id=self._identity.secret_id, updates=updates
        )
        try:
            await self._link.update_allocs(request)
        except YurtError as error:
            logger.warning("allocs.not_reported", allocs=len(updates), error=str(error))
            # What changed meanwhile is newer.
            self._due = batch | self._due
            self._news.set()
            self._urgent.set()
            return False
        for update in updates:
            health = update.deployment_status.healthy if update.deployment_status else None
            self._known[update.id] = (update.client_status, health)
            self._on_sent(update.id, update.client_status)
        return True

    async def _wait_for_company(self) -> None:
        if self._urgent.is_set():
            return
        urgent = asyncio.ensure_future(self._urgent.wait())
        pause = asyncio.ensure_future(self._clock.sleep(PATIENCE_S))
        try:
            await asyncio.wait((urgent, pause), return_when=asyncio.FIRST_COMPLETED)
        finally:
            urgent.cancel()
            pause.cancel()
