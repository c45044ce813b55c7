"""A cluster whose services and variables are what a test says."""

from __future__ import annotations

import asyncio

from yurt.agent.node_context import NodeContext
from yurt.agent.templates.data_watches import Answer, DataWatches
from yurt.agent.templates.sources import (
    ClusterQuery,
    FollowedQuery,
    Found,
    OwnedQuery,
    ServiceQuery,
    TemplateVariable,
    VariableQuery,
)
from yurt.errors import YurtError


class FakeData:
    """TemplateData that changes when it is told to. While `is_away`, reading fails."""

    def __init__(self) -> None:
        self._values: dict[ClusterQuery, Found] = {}
        self._news = asyncio.Event()
        self.reads: list[ClusterQuery] = []
        self.followed: list[FollowedQuery] = []
        self.is_away = False

    def attach(self, node: NodeContext) -> FakeData:
        """Let a node's templates see this data."""
        node.template_watches = DataWatches(self, clock=node.clock, rng=node.rng)
        return self

    def put(self, query: ClusterQuery, found: Found) -> None:
        self._values[query] = found
        self._news.set()
        self._news = asyncio.Event()

    def put_variable(self, path: str, **items: str) -> None:
        self.put(
            VariableQuery("default", path),
            TemplateVariable(namespace="default", path=path, items=dict(items)),
        )

    async def read(self, query: FollowedQuery, *, after: Answer | None) -> Answer:
        asked = query.query if isinstance(query, OwnedQuery) else query
        self.reads.append(asked)
        self.followed.append(query)
        if self.is_away:
            raise YurtError("the servers are away")
        while after is not None and after.found == self._now(asked):
            await self._news.wait()
        return Answer(self._now(asked), None)

    def _now(self, query: ClusterQuery) -> Found:
        return self._values.get(query, () if isinstance(query, ServiceQuery) else None)
