"""Rankings that serve one group after the other, while a view is in use."""

from __future__ import annotations

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.scheduler.ask import Ask
from yurt.scheduler.feasible.group import Feasibility
from yurt.scheduler.rank.affinity import all_affinities
from yurt.scheduler.rank.algorithms import BINPACK, SPREAD
from yurt.scheduler.rank.candidates import Field
from yurt.scheduler.rank.ranking import Ranking
from yurt.scheduler.rank.score import Algorithm
from yurt.scheduler.view import View

# Rankings kept by one view: as many kinds of small jobs as may well arrive together.
KEPT_MAX = 16

# Their scores follow from what is in use, what is asked for, affinities, and instances of the group.
_KNOWN = (BINPACK, SPREAD)


def is_kept(view: View, job: Job, group: TaskGroup, ask: Ask, algorithm: Algorithm) -> bool:
    """Whether all groups that ask for the same, and have no allocations yet, score nodes alike."""
    return (
        any(algorithm is known for known in _KNOWN)
        and not ask.cores
        and not ask.devices
        and not view.places(job).held(group.name)
    )


def kept_ranking(
    view: View, job: Job, group: TaskGroup, ask: Ask, found: Feasibility, algorithm: Algorithm, seed: int
) -> Ranking:
    """A ranking of the nodes in `found`, taken over from the last group that asked for the same.

    Only nodes that have changed since are scored again. Whoever had the ranking before must be done.
    """
    key = ("ranking", found, ask.amounts, algorithm.name, all_affinities(job, group))
    known: tuple[Ranking, int] | None = view.memo.get(key)
    if known is None:
        ranking = Ranking(Field(view, job, group, ask, found.slots), algorithm, algorithm.columns, seed)
        if len(view.memo) >= KEPT_MAX:
            view.memo.clear()
    else:
        ranking, seen = known
        ranking.hand_on(job, group, ranking.field.positions(view.changed[seen:]), seed)
    view.memo[key] = (ranking, len(view.changed))
    return ranking
