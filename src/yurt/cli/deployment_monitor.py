"""Following a deployment until it ends."""

from yurt.cli.command import Session
from yurt.cli.console import terminal_has_size
from yurt.cli.deployment_view import deployment_record
from yurt.cli.errors import failing_as
from yurt.cli.job_outcome import progress
from yurt.cli.live_block import LiveBlock
from yurt.cli.placement import failed_count, reasons
from yurt.cli.tables import alloc_table, newest_first
from yurt.cli.times import absolute
from yurt.sdk import Client, deployments, jobs
from yurt.sdk.types.deployments import TERMINAL_STATUSES, Deployment

DEFAULT_WAIT_S = 2.0
# A rollback registers the older version a moment after the deployment has failed.
ROLLBACK_DELAY_S = 1.0


def follow_deployment(
    session: Session,
    client: Client,
    deployment_id: str,
    *,
    verbose: bool,
    separator: str,
    wait_s: float = DEFAULT_WAIT_S,
) -> bool:
    """Show a deployment on every change until it ends, and say whether it was successful.

    A failed one that rolls back is followed by its successor; the answer stays that of the first.
    `separator` is the line before each block, where blocks are not redrawn in place.
    """
    deployment = _follow(session, client, deployment_id, verbose=verbose, separator=separator, wait_s=wait_s)
    is_successful = deployment.status == "successful"
    if deployment.status == "failed" and any(group.auto_revert for group in deployment.task_groups.values()):
        session.sleep(ROLLBACK_DELAY_S)
        with failing_as("Error reading deployments"):
            latest = jobs.latest_deployment(client, deployment.job_id).value
        if latest is not None and latest.id != deployment.id:
            session.console.output("")
            _follow(session, client, latest.id, verbose=verbose, separator=separator, wait_s=wait_s)
    return is_successful


def _follow(
    session: Session, client: Client, deployment_id: str, *, verbose: bool, separator: str, wait_s: float
) -> Deployment:
    console = session.console
    is_live = console.is_terminal and terminal_has_size(console.stdout)
    live = LiveBlock(console.stdout, f'Deployment "{deployment_id if verbose else deployment_id[:8]}"')
    index = 0
    try:
        while True:
            with failing_as("Error reading deployment"):
                answer = deployments.wait_past(client, deployment_id, index=index, wait_s=wait_s)
            deployment = answer.value
            if answer.index != index:
                block = f"{absolute(session.now())}\n{_block(session, client, deployment, verbose=verbose)}"
                if is_live:
                    live.draw(block + _waiting(session, client, deployment))
                else:
                    console.output(f"{separator}\n{block}")
            index = answer.index
            if deployment.status in TERMINAL_STATUSES:
                if is_live:
                    live.end(deployment.status, is_good=deployment.status == "successful")
                return deployment
    finally:
        live.stop()


def _waiting(session: Session, client: Client, deployment: Deployment) -> str:
    """What a deployment waits for, and why something has no place, for the live view."""
    if deployment.status in TERMINAL_STATUSES:
        return ""
    text = f"\n\nWaiting for {progress(deployment)}"
    with failing_as("Error reading evaluations"):
        found = jobs.evaluations(client, deployment.job_id).value
    for evaluation in found:
        if evaluation.status == "blocked":
            for group, metric in sorted(evaluation.failed_tg_allocs.items()):
                text += f'\nNo place for {failed_count(metric)} of task group "{group}":\n'
                text += "\n".join(reasons(session.console, metric, indent="  "))
    return text


def _block(session: Session, client: Client, deployment: Deployment, *, verbose: bool) -> str:
    text = deployment_record(session.console, deployment, verbose=verbose)
    if not verbose:
        return text
    with failing_as("Error reading allocations"):
        allocs = deployments.allocations(client, deployment.id).value
    listing = alloc_table(newest_first(allocs), now=session.now(), verbose=True)
    return f"{text}\n\n{session.console.bold('Allocations')}\n{listing}"
