"""Why placements went where they went: the verdict of every node, on demand."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, read_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_uuid
from yurt.api.parameters import text
from yurt.api.routes import Route
from yurt.model.job import Job, JobKey
from yurt.model.wire import EvalID, JobID, Wire
from yurt.scheduler.explain import NodeVerdict, explain_group
from yurt.scheduler.view import View

# One answer is computed in one go; more nodes than this would hold up everybody else.
VERDICTS_MAX = 2_000
# The answers name nodes and what they have.
_NODES = needs.node("read")


class NodeVerdictView(Wire, frozen=True, kw_only=True):
    """What one node says to one more instance of a group."""

    node_id: str
    node_name: str
    verdict: str
    rule: str = ""
    found: str | None = None
    wanted: str | None = None
    scores: dict[str, float] = {}
    score: float = 0.0


class Placements(Wire, frozen=True, kw_only=True):
    """What all nodes say, by group; the best come first. `is_truncated` when some were left out."""

    namespace: str
    job_id: str
    job_version: int
    groups: dict[str, tuple[NodeVerdictView, ...]]
    is_truncated: bool = False


class PlacementHandlers:
    """The handlers of the placements routes."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/evaluation/{eval_id}/placements",
                handlers={"GET": self.of_evaluation},
                summary="Say what every node thinks of an evaluation's job",
                takes=(text("group", "Only this group."), text("node", "Only this node: its id or name.")),
                needs=needs.All((needs.namespace("read-job", of=self._deps.namespace_of.eval), _NODES)),
                response=Placements,
            ),
            Route(
                path="/v1/job/{job_id}/placements",
                handlers={"GET": self.of_job},
                summary="Say what every node thinks of a job",
                takes=(text("group", "Only this group."), text("node", "Only this node: its id or name.")),
                needs=needs.All((needs.namespace("read-job"), _NODES)),
                response=Placements,
            ),
        )

    async def of_evaluation(self, call: Call) -> Answer:
        """GET /v1/evaluation/<id>/placements."""
        eval_id = EvalID(checked_uuid("eval", call.path["eval_id"]))
        evaluation = self._deps.state.evals.get(eval_id)
        if evaluation is None:
            raise HttpError(404, "eval not found")
        return self._explain(call, JobKey(evaluation.namespace, evaluation.job_id))

    async def of_job(self, call: Call) -> Answer:
        """GET /v1/job/<id>/placements."""
        return self._explain(call, JobKey(call.namespace, JobID(call.path["job_id"])))

    def _explain(self, call: Call, key: JobKey) -> Answer:
        state = self._deps.state
        job = state.jobs.get(key)
        if job is None:
            raise HttpError(404, "job not found")
        wanted_group, node = call.query.get("group", ""), call.query.get("node", "")
        if wanted_group and job.group(wanted_group) is None:
            raise HttpError(404, f'job "{job.id}" has no group "{wanted_group}"')
        view = View(state)
        groups: dict[str, tuple[NodeVerdictView, ...]] = {}
        is_truncated = False
        for group in job.task_groups:
            if wanted_group not in ("", group.name):
                continue
            verdicts = [
                verdict
                for verdict in explain_group(view, job, group, configuration=state.scheduler_configuration)
                if not node or verdict.node_id.startswith(node) or verdict.node_name == node
            ]
            is_truncated = is_truncated or len(verdicts) > VERDICTS_MAX
            groups[group.name] = tuple(map(_view, verdicts[:VERDICTS_MAX]))
        return read_answer(_placements(job, groups, is_truncated=is_truncated), state.index)


def _placements(
    job: Job, groups: dict[str, tuple[NodeVerdictView, ...]], *, is_truncated: bool
) -> Placements:
    return Placements(
        namespace=job.namespace,
        job_id=job.id,
        job_version=job.version,
        groups=groups,
        is_truncated=is_truncated,
    )


def _view(verdict: NodeVerdict) -> NodeVerdictView:
    return NodeVerdictView(
        node_id=verdict.node_id,
        node_name=verdict.node_name,
        verdict=verdict.verdict.value,
        rule=verdict.rule,
        found=verdict.found,
        wanted=verdict.wanted,
        scores=verdict.scores,
        score=verdict.score,
    )
