"""Committing: entries become durable, then State."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from yurt.errors import YurtError
from yurt.log.contract import Log
from yurt.state.apply import Outcome, apply
from yurt.state.entries import Entry, encode_entry
from yurt.state.state import News, State


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that are durable and applied: the index of the last, and what came of each."""

    index: int
    outcomes: tuple[Outcome, ...]

    @property
    def outcome(self) -> Outcome:
        """What came of the only entry."""
        (outcome,) = self.outcomes
        return outcome


class StateReplaced(YurtError):
    """The change was made from a State that is gone; nothing of it was done."""

    def __init__(self) -> None:
        super().__init__("all state was replaced from a snapshot meanwhile; look again, then retry")


class Committer:
    """The one door through which State changes."""

    def __init__(self, state: State, log: Log) -> None:
        self.state = state
        self._log = log
        self._listeners: list[Callable[[News], None]] = []
        self._in_flight = 0
        self._replaced = 0
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def listen(self, listener: Callable[[News], None]) -> None:
        """Tell `listener` what is new after each commit, in the loop's thread."""
        self._listeners.append(listener)

    async def propose(self, *entries: Entry) -> Committed:
        """Append entries as one unit and apply them once they are durable.

        Raises what the log raises, and StateReplaced; then nothing changed. A caller that is cancelled
        meanwhile only loses the answer.
        """
        replaced = self._replaced
        await self._wait_until_open()
        if self._replaced != replaced:
            raise StateReplaced
        committed: list[Committed] = []

        def on_durable(first_index: int) -> None:
            committed.append(self._apply(first_index, entries))

        appended = self._log.append([encode_entry(entry) for entry in entries], on_durable)
        self._in_flight += 1
        self._is_idle.clear()
        appended.add_done_callback(self._landed)
        await asyncio.shield(appended)
        return committed[0]

    @contextlib.asynccontextmanager
    async def standstill(self) -> AsyncIterator[None]:
        """Hold back new entries, once those on their way have landed, for as long as the block lasts."""
        await self._wait_until_open()
        self._is_open.clear()
        try:
            await self._is_idle.wait()
            yield
        finally:
            self._is_open.set()

    def replace_state(self, restored: State) -> None:
        """Make State become `restored`, during a standstill. What waits was made from the old one."""
        assert not self._is_open.is_set(), "State is replaced during a standstill only"
        self.state.become(restored)
        self._replaced += 1

    async def _wait_until_open(self) -> None:
        # Whoever was woken before us may have closed the door again.
        while not self._is_open.is_set():
            await self._is_open.wait()

    def _landed(self, _appended: asyncio.Future[int]) -> None:
        self._in_flight -= 1
        if self._in_flight == 0:
            self._is_idle.set()

    def _apply(self, first_index: int, entries: Sequence[Entry]) -> Committed:
        state = self.state
        outcomes = tuple(apply(state, index, entry) for index, entry in enumerate(entries, start=first_index))
        news = state.take_news()
        for listener in self._listeners:
            listener(news)
        state.watches.flush()
        return Committed(index=state.index, outcomes=outcomes)
