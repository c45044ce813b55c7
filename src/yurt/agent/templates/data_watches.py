"""The cluster's data that templates of this node depend on, each followed once, whoever needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Protocol

import msgspec

from yurt.agent.backoff import retry_delay_s
from yurt.agent.templates.sources import FollowedQuery, Found
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.observe.logger import get_logger

logger = get_logger("templates")


class Answer(msgspec.Struct, frozen=True):
    """What a query found; `state` is handed back with the next question, to be told of changes only."""

    found: Found
    state: object


class TemplateData(Protocol):
    """Where the cluster's data comes from."""

    async def read(self, query: FollowedQuery, *, after: Answer | None) -> Answer:
        """Answer a query; with `after`, wait until there is another answer. Raises YurtError."""


class NoTemplateData:
    """A cluster without any data."""

    async def read(self, query: FollowedQuery, *, after: Answer | None) -> Answer:
        """Nothing is there, and never will be."""
        if after is not None:
            await asyncio.Event().wait()
        return Answer(None, query)


class DataWatches:
    """Follows queries for as long as somebody watches them."""

    def __init__(self, data: TemplateData, *, clock: Clock, rng: Random) -> None:
        self._data = data
        self._clock = clock
        self._rng = rng
        self._followed: dict[FollowedQuery, _Followed] = {}

    def watch(self, query: FollowedQuery, on_news: Callable[[], None]) -> DataWatch:
        """Follow a query until the watch is closed; `on_news` is called whenever its answer changed."""
        followed = self._followed.get(query)
        if followed is None:
            followed = self._followed[query] = _Followed(query, self._data, self._clock, self._rng)
        return DataWatch(followed, on_news, self._forget)

    async def read(self, query: FollowedQuery) -> Found:
        """What a query finds now. Raises YurtError."""
        return (await self._data.read(query, after=None)).found

    def _forget(self, followed: _Followed) -> None:
        if not followed.watchers:
            followed.stop()
            del self._followed[followed.query]


class DataWatch:
    """One watcher's view of a query."""

    def __init__(
        self, followed: _Followed, on_news: Callable[[], None], forget: Callable[[_Followed], None]
    ) -> None:
        self._followed = followed
        self._on_news = on_news
        self._forget = forget
        followed.watchers.append(on_news)

    @property
    def answer(self) -> Answer | None:
        """The newest answer; None before the first."""
        return self._followed.answer

    def close(self) -> None:
        """Stop watching."""
        self._followed.watchers.remove(self._on_news)
        self._forget(self._followed)


class _Followed:
    """A query that is asked again and again."""

    def __init__(self, query: FollowedQuery, data: TemplateData, clock: Clock, rng: Random) -> None:
        self.query = query
        self.answer: Answer | None = None
        self.watchers: list[Callable[[], None]] = []
        self._data = data
        self._clock = clock
        self._rng = rng
        self._following = asyncio.create_task(self._follow(), name=f"follow {query}")

    def stop(self) -> None:
        self._following.cancel()

    async def _follow(self) -> None:
        """Keep the answer current, until cancelled.

        Servers that cannot be reached are asked for as long as it takes: a task must not end because its
        node lost them for a while.
        """
        failures = 0
        while True:
            try:
                answer = await self._data.read(self.query, after=self.answer)
            except YurtError as error:
                failures += 1
                logger.warning("template_data.not_read", query=str(self.query), error=str(error))
                await self._clock.sleep(retry_delay_s(failures, self._rng))
                continue
            failures = 0
            is_new = self.answer is None or self.answer.found != answer.found
            self.answer = answer
            if is_new:
                for tell in list(self.watchers):
                    tell()
