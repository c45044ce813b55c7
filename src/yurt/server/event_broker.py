"""The newest events, for those who follow them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from yurt.server.context import ServerContext
from yurt.state.journal import Changed, Journal
from yurt.state.state import News

EVENT_BATCHES_KEPT = 100


class EventBroker:
    """Keeps what the newest entries changed; made before the server runs, so that it misses nothing."""

    def __init__(self, context: ServerContext, kept: int = EVENT_BATCHES_KEPT) -> None:
        self._journal = Journal()
        self._batches: deque[Changed] = deque(maxlen=kept)
        self._news = asyncio.Event()
        # Counts batches for good: followers find their place by it when old ones go.
        self._total = 0
        context.state.watches.journal = self._journal
        context.committer.listen(self._on_commit)

    def _on_commit(self, _news: News) -> None:
        done = self._journal.take()
        if done:
            self._batches.extend(done)
            self._total += len(done)
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def follow(self, from_index: int) -> AsyncIterator[Changed]:
        """Give what changed from an index on, and then whatever comes, until the caller stops.

        An index that is gone starts with the oldest that is kept, one that is still to come with the
        newest. A follower that is too slow misses what no longer fits.
        """
        place = self._total - len(self._batches)
        if from_index > 0:
            later = sum(batch.index >= from_index for batch in self._batches)
            place = self._total - (later or min(1, len(self._batches)))
        while True:
            news = self._news
            oldest = self._total - len(self._batches)
            waiting = list(self._batches)[max(place, oldest) - oldest :]
            place = self._total
            for batch in waiting:
                yield batch
            if not waiting:
                await news.wait()
