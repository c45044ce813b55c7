"""The results of an allocation's checks, and whether all is well."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from yurt.agent.services.checks import PENDING, READINESS, SUCCESS, CheckResult
from yurt.clock import Clock
from yurt.model.wire import Nanoseconds


class CheckResults:
    """The newest result of each check; `on_change` is called when it becomes, or stops being, well."""

    def __init__(self, clock: Clock, on_change: Callable[[], None]) -> None:
        self._clock = clock
        self._on_change = on_change
        self._results: dict[str, CheckResult] = {}
        # Those that count, but are not the node's own to show.
        self._hidden: set[str] = set()
        self._passing_since: Nanoseconds | None = 0

    @property
    def all(self) -> dict[str, CheckResult]:
        """The results by check id, but for hidden ones."""
        return {id_: result for id_, result in self._results.items() if id_ not in self._hidden}

    @property
    def passing_since(self) -> Nanoseconds | None:
        """Since when all checks that deployments wait for have passed; None while one does not."""
        return self._passing_since

    def get(self, check_id: str) -> CheckResult | None:
        """The newest result of a check."""
        return self._results.get(check_id)

    def put(self, result: CheckResult, *, is_hidden: bool = False) -> None:
        """Take over a result; one that `is_hidden` counts like others."""
        self._results[result.id] = result
        if is_hidden:
            self._hidden.add(result.id)
        self._judge()

    def retain(self, check_ids: Iterable[str]) -> None:
        """Forget all checks but these and hidden ones."""
        kept = set(check_ids) | self._hidden
        self._results = {id_: result for id_, result in self._results.items() if id_ in kept}
        self._judge()

    def retain_hidden(self, check_ids: Iterable[str]) -> None:
        """Forget all hidden checks but these."""
        gone = self._hidden - set(check_ids)
        self._hidden -= gone
        self._results = {id_: result for id_, result in self._results.items() if id_ not in gone}
        self._judge()

    def _judge(self) -> None:
        is_passing = all_passing(self._results.values())
        if is_passing == (self._passing_since is not None):
            return
        self._passing_since = self._clock.now_ns() if is_passing else None
        self._on_change()


def all_passing(results: Iterable[CheckResult]) -> bool:
    """Whether deployments may count on an allocation; readiness checks only need to have run."""
    return all(
        result.status != PENDING if result.mode == READINESS else result.status == SUCCESS
        for result in results
    )
