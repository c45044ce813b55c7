"""/v1/jobs/statuses: jobs with their allocations in one answer, newest change first."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, read_answer
from yurt.api.blocking import blocking
from yurt.api.call import ALL_NAMESPACES, Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import Order, Page, listed, page_of
from yurt.api.parameters import PAGED, REVERSE, flag
from yurt.api.routes import Route
from yurt.api.rows import Rows
from yurt.model.alloc import Allocation
from yurt.model.decode import BadRequestBody
from yurt.model.deployment import Deployment
from yurt.model.job import Job, JobKey
from yurt.model.wire import DEFAULT_NAMESPACE, JobID, Nanoseconds, Wire
from yurt.state.state import State

PACK_MARK = "pack.name"


class JobName(Wire, frozen=True, kw_only=True):
    """A job that is asked for."""

    id: str = ""
    namespace: str = ""


class JobStatusesRequest(Wire, frozen=True, kw_only=True):
    """The body of a request for certain jobs."""

    jobs: tuple[JobName, ...] = ()
    include_children: bool = False


class AllocHealth(Wire, frozen=True, kw_only=True):
    """How an allocation is in its deployment."""

    canary: bool
    healthy: bool | None


class JobStatusesAlloc(Wire, frozen=True, kw_only=True):
    """An allocation in a word."""

    id: str
    group: str
    client_status: str
    node_id: str
    deployment_status: AllocHealth
    job_version: int
    followup_eval_id: str
    has_paused_task: bool


class LatestDeployment(Wire, frozen=True, kw_only=True):
    """The newest deployment in a word."""

    id: str
    is_active: bool
    job_version: int
    status: str
    status_description: str
    all_auto_promote: bool
    requires_promotion: bool


class JobStatusesJob(Wire, frozen=True, kw_only=True):
    """A job with what people look at first."""

    id: str
    namespace: str
    name: str
    type: str
    node_pool: str
    datacenters: tuple[str, ...] | None
    priority: int
    version: int
    submit_time: Nanoseconds
    modify_index: int
    allocs: tuple[JobStatusesAlloc, ...] | None
    group_count_sum: int
    child_statuses: tuple[str, ...] | None
    parent_id: str
    latest_deployment: LatestDeployment | None
    stop: bool
    is_pack: bool
    status: str


# Newest first, so that `reverse` means oldest first; the token is an index.
_NEWEST_FIRST: Order[Job] = Order(
    key=lambda job: (-job.modify_index, job.namespace, job.id),
    token=lambda job: str(job.modify_index),
    place=lambda token: (-(uint64(token) or 0),),
)
_OLDEST_FIRST: Order[Job] = Order(
    key=lambda job: (job.modify_index, job.namespace, job.id),
    token=lambda job: str(job.modify_index),
    place=lambda token: (uint64(token) or 0,),
)


class JobStatusesHandlers:
    """The handlers of /v1/jobs/statuses."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/jobs/statuses",
                handlers={"GET": self.read, "POST": self.read},
                summary="List jobs with their allocations",
                takes=(*PAGED, REVERSE, flag("include_children", "List children of jobs, too.")),
                needs=needs.listed("read-job", of=_asked_namespace),
                request=JobStatusesRequest,
                response=dict.fromkeys(("GET", "POST"), list[JobStatusesJob]),
            ),
        )

    async def read(self, call: Call) -> Answer:
        """GET and POST /v1/jobs/statuses."""
        with_children = call.flag("include_children", status=400)
        request = await _request(call)
        wanted: set[JobKey] | None = None
        if request is not None:
            wanted = {JobKey(one.namespace or DEFAULT_NAMESPACE, JobID(one.id)) for one in request.jobs}
            with_children = with_children or request.include_children
        namespace = await _asked_namespace(call)
        sees = call.grants if namespace == ALL_NAMESPACES else namespace.__eq__
        page, order = _page(call, wanted)
        state = self._deps.state

        def is_meant(job: Job) -> bool:
            if wanted is not None:
                return job.key in wanted and sees(job.namespace)
            is_child = bool(job.parent_id) and not with_children
            return sees(job.namespace) and not is_child

        def read() -> tuple[int, list[Job]]:
            jobs = [job for job in state.jobs if is_meant(job)]
            return _newest_index(state, jobs), jobs

        keys = [("jobs", None), ("allocs", None), ("deployments", None)]
        index, jobs = await blocking(call, state, keys, read, self._deps.rng)
        shown, token = await listed(jobs, page, order, filter_status=500)
        return read_answer(
            Rows(shown, lambda job: status_view(state, job)),
            _newest_index(state, shown) or index,
            next_token=token,
        )


def status_view(state: State, job: Job) -> JobStatusesJob:
    """Show a job with what people look at first."""
    children = None
    if job.is_periodic or job.is_parameterized:
        children = tuple(child.status for child in state.jobs.children_of(job.key))
    allocs = tuple(_alloc_view(alloc) for alloc in state.allocs.of_job(job.key) if _is_own(alloc, job))
    return JobStatusesJob(
        id=job.id,
        namespace=job.namespace,
        name=job.name,
        type=job.type,
        node_pool=job.node_pool,
        datacenters=job.datacenters,
        priority=job.priority,
        version=job.version,
        submit_time=job.submit_time,
        modify_index=job.modify_index,
        allocs=allocs or None,
        group_count_sum=sum(group.count for group in job.task_groups),
        child_statuses=children,
        parent_id=job.parent_id,
        latest_deployment=_deployment_view(state.deployments.latest_of_job(job.key), job),
        stop=job.stop,
        is_pack=PACK_MARK in (job.meta or {}),
        status=job.status,
    )


def _is_own(alloc: Allocation, job: Job) -> bool:
    return alloc.job.create_index == job.create_index


def _alloc_view(alloc: Allocation) -> JobStatusesAlloc:
    status = alloc.deployment_status
    return JobStatusesAlloc(
        id=alloc.id,
        group=alloc.task_group,
        client_status=alloc.client_status,
        node_id=alloc.node_id,
        deployment_status=AllocHealth(
            canary=status is not None and status.canary,
            healthy=status.healthy if status is not None else None,
        ),
        job_version=alloc.job.version,
        followup_eval_id=alloc.followup_eval_id,
        has_paused_task=False,
    )


def _deployment_view(deployment: Deployment | None, job: Job) -> LatestDeployment | None:
    if deployment is None or deployment.job_create_index != job.create_index:
        return None
    groups = deployment.task_groups.values()
    canaries = [group for group in groups if group.desired_canaries > 0]
    return LatestDeployment(
        id=deployment.id,
        is_active=deployment.is_active,
        job_version=deployment.job_version,
        status=deployment.status,
        status_description=deployment.status_description,
        all_auto_promote=all(group.auto_promote for group in canaries),
        requires_promotion=any(not group.promoted for group in canaries),
    )


def _newest_index(state: State, jobs: list[Job]) -> int:
    """The newest index of anything that is shown, so that changes elsewhere wake nobody."""
    newest = 0
    for job in jobs:
        newest = max(newest, job.modify_index)
        for alloc in state.allocs.of_job(job.key):
            newest = max(newest, alloc.modify_index)
        deployment = state.deployments.latest_of_job(job.key)
        newest = max(newest, deployment.modify_index if deployment is not None else 0)
    return newest


def _page(call: Call, wanted: set[JobKey] | None) -> tuple[Page, Order[Job]]:
    asked = page_of(call, filter_status=500)
    size = len(wanted) if wanted is not None else asked.size
    page = Page(size=size, token=asked.token, backwards=False, wanted=asked.wanted)
    return page, _OLDEST_FIRST if asked.backwards else _NEWEST_FIRST


async def _asked_namespace(call: Call) -> str:
    """The namespace that is asked for; jobs that are asked for by name may be anywhere."""
    named = call.method != "GET" and bool(await call.body())
    return call.query.get("namespace") or (ALL_NAMESPACES if named else DEFAULT_NAMESPACE)


async def _request(call: Call) -> JobStatusesRequest | None:
    """What the body asks for; None without one."""
    if call.method == "GET" or not await call.body():
        return None
    try:
        request: JobStatusesRequest = await call.read(JobStatusesRequest)
    except BadRequestBody as error:
        raise HttpError(400, f"error decoding request: {error}") from None
    if not request.jobs:
        raise HttpError(400, "no jobs in request")
    return request
