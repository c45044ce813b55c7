"""/v1/evaluations and /v1/evaluation."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer, read_answer
from yurt.api.blocking import blocking
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.listing import Page, by_id, by_index, count_of, filter_of, listed
from yurt.api.parameters import BLOCKING, FILTER, LISTED, PREFIX, text
from yurt.api.routes import Route
from yurt.api.rows import Rows
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.found import found
from yurt.api.v1.read_meta import ReadMeta
from yurt.model.evaluation import Evaluation
from yurt.model.job import JobKey
from yurt.model.wire import EvalID, Wire
from yurt.server.commands.evals import DELETE_IDS_MAX, is_deletable
from yurt.state.state import State

BY_ID = by_id(lambda evaluation: evaluation.id)
BY_INDEX = by_index(lambda evaluation: evaluation.create_index, lambda evaluation: evaluation.id)
RELATED_MAX = 100


class EvalDeleteRequest(Wire, frozen=True, kw_only=True):
    """Which evaluations to delete."""

    eval_ids: tuple[str, ...] | None = None
    filter: str = ""


class EvalCount(ReadMeta, frozen=True, kw_only=True):
    """How many evaluations there are."""

    count: int


class EvalsDeleted(Wire, frozen=True, kw_only=True):
    """How many evaluations were deleted."""

    count: int
    index: int


class EvaluationHandlers:
    """The handlers of /v1/evaluations and /v1/evaluation."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/evaluations",
                handlers={"GET": self.list, "DELETE": self.delete},
                summary="List evaluations, delete some",
                takes={
                    "GET": (
                        *LISTED,
                        text("job", "Only those of this job."),
                        text("status", "Only those in this state."),
                    )
                },
                needs={"GET": needs.listed("read-job"), "DELETE": needs.MANAGEMENT},
                request=EvalDeleteRequest,
                response={"GET": list[Evaluation], "DELETE": EvalsDeleted},
            ),
            Route(
                path="/v1/evaluations/count",
                handlers={"GET": self.count},
                summary="Count evaluations",
                takes=(PREFIX, FILTER, *BLOCKING),
                response=EvalCount,
                needs=needs.listed("read-job"),
            ),
            Route(
                path="/v1/evaluation/{eval_id}/allocations",
                handlers={"GET": self.allocations},
                summary="List the allocations that an evaluation placed",
                takes=BLOCKING,
                needs=needs.namespace("read-job", of=self._deps.namespace_of.eval),
                response=list[AllocListStub],
            ),
            Route(
                path="/v1/evaluation/{eval_id}",
                handlers={"GET": self.read},
                summary="Read an evaluation",
                takes=(*BLOCKING, text("related", "`true` shows the evaluations that this one belongs to.")),
                needs=needs.namespace("read-job", of=self._deps.namespace_of.eval),
                response=Evaluation,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/evaluations."""
        prefix = checked_prefix("eval", call.query.get("prefix", ""))
        sees = call.sees()
        job_id, status = call.query.get("job", ""), call.query.get("status", "")
        if call.query.get("filter") and (job_id or status):
            raise HttpError(400, "Filter expression cannot be used with other filter parameters")
        table = self._deps.state.evals

        def is_meant(evaluation: Evaluation) -> bool:
            return (
                sees(evaluation.namespace)
                and evaluation.id.startswith(prefix)
                and job_id in ("", evaluation.job_id)
                and status in ("", evaluation.status)
            )

        return await self._deps.list(
            call,
            [("evals", None)],
            lambda: (table.index, table),
            BY_ID if prefix else BY_INDEX,
            where=is_meant,
        )

    async def count(self, call: Call) -> Answer:
        """GET /v1/evaluations/count."""
        prefix = checked_prefix("eval", call.query.get("prefix", ""))
        sees = call.sees()
        wanted = filter_of(call.query.get("filter", ""))
        table = self._deps.state.evals

        def is_meant(evaluation: Evaluation) -> bool:
            return sees(evaluation.namespace) and evaluation.id.startswith(prefix)

        index, rows = await blocking(
            call,
            self._deps.state,
            [("evals", None)],
            lambda: (table.index, table.rows()),
            self._deps.rng,
        )
        return read_answer(EvalCount(count=await count_of(rows, wanted, is_meant), index=index), index)

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/evaluations."""
        request: EvalDeleteRequest = await call.read(EvalDeleteRequest)
        ids = request.eval_ids or ()
        if ids and request.filter:
            raise HttpError(400, "evals cannot be deleted by both ID and filter")
        if not ids and not request.filter:
            raise HttpError(400, "evals must be deleted by either ID or filter")
        if len(ids) > DELETE_IDS_MAX:
            raise HttpError(
                400, f"request includes {len(ids)} evaluation IDs, must be {DELETE_IDS_MAX} or fewer"
            )
        commands = self._deps.commands.evals
        commands.check_paused()
        if request.filter:
            ids = await self._deletable(request.filter, call.namespace)
        index = await commands.delete([EvalID(one) for one in ids])
        return Answer(body=EvalsDeleted(count=len(ids), index=index), index=index)

    async def read(self, call: Call) -> Answer:
        """GET /v1/evaluation/<id>."""
        eval_id = EvalID(checked_uuid("eval", call.path["eval_id"], prefix="failed to lookup eval: "))
        with_related = call.query.get("related") == "true"
        state = self._deps.state

        def read() -> tuple[int, Evaluation | None]:
            evaluation = state.evals.get(eval_id)
            if evaluation is None:
                return state.evals.index, None
            return evaluation.modify_index, related(state, evaluation) if with_related else evaluation

        return found(await self._deps.read(call, [("evals", eval_id)], read), "eval not found")

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/evaluation/<id>/allocations."""
        eval_id = EvalID(checked_uuid("eval", call.path["eval_id"]))
        state = self._deps.state

        def read() -> tuple[int, Rows]:
            evaluation = state.evals.get(eval_id)
            if evaluation is None:
                return state.allocs.index, Rows([])
            key = JobKey(evaluation.namespace, evaluation.job_id)
            rows = [alloc for alloc in state.allocs.of_job(key) if alloc.eval_id == eval_id]
            return state.allocs.index, Rows(rows, lambda alloc: alloc_stub(alloc, with_messages=False))

        return await self._deps.read(call, [("allocs", None)], read)

    async def _deletable(self, expression: str, namespace: str) -> tuple[str, ...]:
        """The evaluations that a filter means and nothing needs."""
        state = self._deps.state
        page = Page(size=0, token="", backwards=False, wanted=filter_of(expression))

        def is_meant(evaluation: Evaluation) -> bool:
            return namespace in (ALL_NAMESPACES, evaluation.namespace)

        found_evals, _ = await listed(state.evals.rows(), page, BY_INDEX, where=is_meant)
        return tuple(one.id for one in found_evals if is_deletable(state, one))


def related(state: State, evaluation: Evaluation) -> Evaluation:
    """An evaluation with those that led to it and those it led to, in short."""
    found_ids: dict[str, None] = {}
    waiting = [evaluation]
    while waiting and len(found_ids) < RELATED_MAX:
        one = waiting.pop()
        for other_id in (one.next_eval, one.previous_eval, one.blocked_eval):
            other = state.evals.get(EvalID(other_id)) if other_id else None
            if other is not None and other.id != evaluation.id and other.id not in found_ids:
                found_ids[other.id] = None
                waiting.append(other)
    stubs = tuple(state.evals[EvalID(one)].stub() for one in found_ids)
    return replace(evaluation, related_evals=stubs or None)
