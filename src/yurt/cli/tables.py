"""Tables that several commands show."""

from collections.abc import Iterable, Mapping, Sequence

from yurt.cli.layout import short_id, table
from yurt.cli.times import absolute, relative
from yurt.sdk.types.allocs import Alloc, AllocStub
from yurt.sdk.types.deployments import Deployment
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.types.jobs import JobStub

NO_ALLOCS = "No allocations placed"


def job_table(jobs: Sequence[JobStub], *, with_namespace: bool = False) -> str:
    """List jobs."""
    rows: list[list[object]] = [["ID", "Namespace", "Type", "Priority", "Status", "Submit Date"]]
    rows.extend(
        [job.id, job.namespace, job_type(job), job.priority, job_status(job), absolute(job.submit_time)]
        for job in jobs
    )
    if not with_namespace:
        rows = [[row[0], *row[2:]] for row in rows]
    return table(rows)


def job_type(job: JobStub) -> str:
    """A job's type, and what makes it launch others."""
    if job.periodic:
        return f"{job.type}/periodic"
    return f"{job.type}/parameterized" if job.parameterized_job else job.type


def job_status(job: JobStub) -> str:
    """A job's status, and whether people stopped it."""
    return f"{job.status} (stopped)" if job.stop else job.status


def newest_first(allocs: Iterable[AllocStub]) -> list[AllocStub]:
    """Order allocations by the time they were made, newest first."""
    return sorted(allocs, key=lambda alloc: alloc.create_index, reverse=True)


def brief_alloc_table(allocs: Sequence[AllocStub], *, now: int, full_ids: bool) -> str:
    """List allocations with relative times."""
    rows: list[list[object]] = [_alloc_header(verbose=False, with_node_name=False)]
    rows.extend(
        [
            short_id(alloc.id, verbose=full_ids),
            short_id(alloc.node_id, verbose=full_ids),
            alloc.task_group,
            _version(alloc),
            alloc.desired_status,
            alloc.client_status,
            relative(alloc.create_time, now),
            relative(alloc.modify_time, now),
        ]
        for alloc in allocs
    )
    return table(rows)


def _version(alloc: AllocStub) -> int:
    """The version of the job that an allocation runs, which only lists of stubs name beside the job."""
    return alloc.job.version if isinstance(alloc, Alloc) else alloc.job_version


def alloc_table(
    allocs: Sequence[AllocStub],
    *,
    now: int,
    verbose: bool,
    with_node_name: bool = True,
    deadlines: Mapping[str, int] | None = None,
) -> str:
    """List allocations; `deadlines` gives the latest end of those whose group limits its run time."""
    if not allocs:
        return NO_ALLOCS
    rows: list[list[object]] = [_alloc_header(verbose=verbose, with_node_name=with_node_name)]
    for alloc in allocs:
        created = absolute(alloc.create_time) if verbose else relative(alloc.create_time, now)
        modified = absolute(alloc.modify_time) if verbose else relative(alloc.modify_time, now)
        tail = [
            alloc.task_group,
            _version(alloc),
            alloc.desired_status,
            alloc.client_status,
            created,
            modified,
        ]
        if verbose:
            names = [alloc.node_name] if with_node_name else []
            rows.append([alloc.id, alloc.eval_id, alloc.node_id, *names, *tail])
        else:
            rows.append([short_id(alloc.id, verbose=False), short_id(alloc.node_id, verbose=False), *tail])
    if deadlines:
        rows[0].append("Max Run Deadline")
        for row, alloc in zip(rows[1:], allocs, strict=True):
            row.append(relative(deadlines.get(alloc.id, 0), now))
    return table(rows)


def _alloc_header(*, verbose: bool, with_node_name: bool) -> list[object]:
    tail = ["Task Group", "Version", "Desired", "Status", "Created", "Modified"]
    if not verbose:
        return ["ID", "Node ID", *tail]
    return ["ID", "Eval ID", "Node ID", *(["Node Name"] if with_node_name else []), *tail]


def deployment_table(deployments: Sequence[Deployment], *, verbose: bool) -> str:
    """List deployments."""
    rows: list[list[object]] = [["ID", "Job ID", "Job Version", "Status", "Description"]]
    rows.extend(
        [
            short_id(deployment.id, verbose=verbose),
            deployment.job_id,
            deployment.job_version,
            deployment.status,
            deployment.status_description,
        ]
        for deployment in deployments
    )
    return table(rows)


def eval_table(evaluations: Sequence[Evaluation], *, verbose: bool) -> str:
    """List evaluations of any job."""
    rows: list[list[object]] = [
        ["ID", "Priority", "Triggered By", "Job ID", "Namespace", "Node ID", "Status", "Placement Failures"]
    ]
    rows.extend(
        [
            short_id(evaluation.id, verbose=verbose),
            evaluation.priority,
            evaluation.triggered_by,
            evaluation.job_id,
            evaluation.namespace,
            short_id(evaluation.node_id, verbose=verbose),
            evaluation.status,
            placement_failures(evaluation),
        ]
        for evaluation in evaluations
    )
    return table(rows)


def placement_failures(evaluation: Evaluation) -> str:
    """Whether something could not be placed; a blocked evaluation is still at it."""
    if evaluation.status == "blocked":
        return "N/A - In Progress"
    return "true" if evaluation.failed_tg_allocs else "false"
