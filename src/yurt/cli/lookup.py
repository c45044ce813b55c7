"""From what people type to the one object they mean: full ids, prefixes, job names."""

import json
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from yurt.cli.command import Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import short_id, table, yes_no
from yurt.cli.tables import alloc_table, deployment_table, eval_table, job_table
from yurt.sdk import ApiError, Client, allocs, deployments, evals, jobs, nodes
from yurt.sdk.types.allocs import Alloc
from yurt.sdk.types.deployments import Deployment
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.types.jobs import JobStub
from yurt.sdk.types.nodes import NodeStub

T = TypeVar("T")

JOBS_LISTED_MAX = 20
UUID_LENGTH = 36
IDENTIFIER_LENGTH_MIN = 2
EVERY_NAMESPACE = "*"
_ID_PREFIX = re.compile(r"[0-9a-fA-F-]+")


def find_job(
    session: Session,
    name: str,
    *,
    kind: str = "",
    accepts: Callable[[JobStub], bool] = lambda job: True,
) -> tuple[str, Client]:
    """Find the job that a name or prefix means: its id, and a client for its namespace.

    `kind` names the jobs that `accepts` picks, for the error text. An exact name wins over a prefix.
    Raises `CommandError` when no job or several jobs match.
    """
    client = session.client
    try:
        with failing_as(f'Error querying job prefix "{name}"'):
            found = jobs.listing(client, prefix=name, per_page=JOBS_LISTED_MAX).value
    except CommandError as error:
        if isinstance(error.__cause__, ApiError) and error.__cause__.status == 403:
            # Whoever may not list jobs may still read the one that he names exactly.
            return name, client
        raise
    matches = [job for job in found if accepts(job)]
    exact = [job for job in matches if job.id == name]
    chosen = exact if len(exact) == 1 else matches
    if not chosen:
        raise CommandError(f'No {kind}job(s) with prefix or ID "{name}" found')
    if len(chosen) > 1:
        candidates = job_table(matches, with_namespace=client.namespace == EVERY_NAMESPACE)
        if len(found) == JOBS_LISTED_MAX:
            candidates += "\n(results may be truncated)"
        raise CommandError(f'Prefix "{name}" matched multiple jobs\n\n{candidates}')
    return chosen[0].id, client.within(namespace=chosen[0].namespace)


def uuid_prefix(text: str) -> str:
    """Make a prefix that can be looked up: whole pairs of digits. A single character is refused."""
    text = text.strip()
    if len(text) < IDENTIFIER_LENGTH_MIN:
        raise CommandError("Identifier must contain at least two characters.")
    digits = len(text) - text.count("-")
    return text[:-1] if digits % 2 else text


def find_alloc(session: Session, text: str) -> Alloc:
    """Find an allocation by id or prefix."""
    prefix = uuid_prefix(text)
    with failing_as("Error querying allocation"):
        found = allocs.listing(session.client, prefix=prefix).value
    if len(found) > 1:
        candidates = alloc_table(found, now=session.now(), verbose=False)
        raise CommandError(f"Prefix matched multiple allocations\n\n{candidates}")
    chosen = _only(found, f'No allocation(s) with prefix or id "{text}" found')
    with failing_as("Error querying allocation"):
        return allocs.read(session.client, chosen.id).value


def find_eval(session: Session, text: str) -> Evaluation:
    """Find an evaluation by id or prefix."""
    prefix = uuid_prefix(text)
    with failing_as("Error querying evaluation"):
        found = evals.listing(session.client, prefix=prefix).value
    if len(found) > 1:
        raise CommandError(f"Prefix matched multiple evaluations\n\n{eval_table(found, verbose=False)}")
    return _only(found, f'No evaluation(s) with prefix or id "{text}" found')


def find_deployment(session: Session, text: str) -> Deployment:
    """Find a deployment by id or prefix; a full id is read at once."""
    with failing_as("Error retrieving deployment"):
        if len(text) == UUID_LENGTH:
            return deployments.read(session.client, text).value
        found = deployments.listing(session.client, prefix=uuid_prefix(text)).value
    if len(found) > 1:
        raise CommandError(f"Prefix matched multiple deployments\n\n{deployment_table(found, verbose=False)}")
    return _only(found, f'Error retrieving deployment: Deployment ID "{text}" matched no deployments')


def find_node(session: Session, text: str, *, not_found: str, context: str) -> NodeStub:
    """Find a node by id, prefix or name; `not_found` is the text when none matches."""
    named: tuple[NodeStub, ...] = ()
    if not _ID_PREFIX.fullmatch(text):
        named = _nodes_named(session, text, context)
    # Whatever is neither an id nor a name is left to the server to refuse.
    if not named:
        prefix = uuid_prefix(text)
        with failing_as(context):
            named = nodes.listing(session.client, prefix=prefix).value
    found = named or _nodes_named(session, text, context)
    if len(found) > 1:
        raise CommandError(f"Prefix matched multiple nodes\n\n{node_table(found, verbose=False)}")
    return _only(found, not_found)


def _nodes_named(session: Session, name: str, context: str) -> tuple[NodeStub, ...]:
    with failing_as(context):
        return nodes.listing(session.client, filter=f"Name == {json.dumps(name)}").value


def node_table(found: Sequence[NodeStub], *, verbose: bool) -> str:
    """List nodes without their pool."""
    rows: list[list[object]] = [["ID", "DC", "Name", "Class", "Drain", "Eligibility", "Status"]]
    rows.extend(
        [
            short_id(node.id, verbose=verbose),
            node.datacenter,
            node.name,
            node.node_class,
            yes_no(node.drain),
            node.scheduling_eligibility,
            node.status,
        ]
        for node in found
    )
    return table(rows)


def _only(found: Sequence[T], not_found: str) -> T:
    if not found:
        raise CommandError(not_found)
    assert len(found) == 1
    return found[0]
