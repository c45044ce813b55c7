"""The placement algorithms, built in and from plug-ins."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from yurt.errors import YurtError
from yurt.model.job import JOB_TYPES
from yurt.scheduler.rank import balanced, fit
from yurt.scheduler.rank.affinity import NODE_AFFINITY
from yurt.scheduler.rank.anti_affinity import ANTI_AFFINITY
from yurt.scheduler.rank.score import Algorithm

ENTRY_POINTS = "yurt.algorithms"

_EVERY_TYPE = frozenset(JOB_TYPES)

BINPACK = Algorithm(
    name="binpack", job_types=_EVERY_TYPE, columns=(fit.BINPACK, ANTI_AFFINITY, NODE_AFFINITY)
)
SPREAD = Algorithm(name="spread", job_types=_EVERY_TYPE, columns=(fit.SPREAD, ANTI_AFFINITY, NODE_AFFINITY))
BALANCED = Algorithm(
    name="balanced",
    job_types=_EVERY_TYPE,
    columns=(balanced.FREE_RESOURCES, balanced.AFFINITY, balanced.FEW_ALLOCS, balanced.NEARNESS),
)
DEFAULT = BINPACK
BUILT_IN = {algorithm.name: algorithm for algorithm in (BINPACK, SPREAD, BALANCED)}


class AlgorithmError(YurtError):
    """A placement algorithm that cannot be used."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(
            f"placement algorithm {name!r}: {problem}; "
            "choose another with `yurt operator scheduler set-config`, or repair its plug-in"
        )
        self.name = name


def algorithm_for(name: str, job_type: str) -> Algorithm:
    """The algorithm called `name`, or the default for types of job it is not for. Raises AlgorithmError."""
    algorithm = BUILT_IN.get(name or DEFAULT.name) or _plugged_in(name)
    return algorithm if job_type in algorithm.job_types else DEFAULT


@cache
def _plugged_in(name: str) -> Algorithm:
    found = list(entry_points(group=ENTRY_POINTS, name=name))
    if not found:
        known = ", ".join(sorted({*BUILT_IN, *(one.name for one in entry_points(group=ENTRY_POINTS))}))
        raise AlgorithmError(name, f"there is no such algorithm (there are: {known})")
    try:
        algorithm = found[0].load()
    except Exception as error:  # any failure of a plug-in is its own
        raise AlgorithmError(name, f"its plug-in {found[0].value} does not load: {error}") from error
    if not isinstance(algorithm, Algorithm) or not algorithm.columns:
        raise AlgorithmError(name, f"its plug-in {found[0].value} is no Algorithm with columns")
    return algorithm
