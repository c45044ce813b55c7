"""`yurt alloc stop`: stop an allocation, which is then replaced."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import failing_as
from yurt.cli.lookup import find_alloc
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import allocs


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `alloc stop`."""

    no_shutdown_delay: Annotated[
        bool, Flag("no-shutdown-delay", "Ignore the group and task shutdown_delay configuration.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Stop an allocation."""
    is_machine_output = wants_machine_output(options)
    alloc = find_alloc(session, one_argument(arguments, "<alloc-id>"))
    with failing_as("Error stopping allocation"):
        answer = allocs.stop(session.client, alloc.id, no_shutdown_delay=options.no_shutdown_delay)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    if options.detach:
        session.console.output(answer.value.eval_id)
        return 0
    return follow(session, session.client, answer.value.eval_id, options)


COMMAND = Command(
    path="alloc stop",
    options=Options,
    run=run,
    usage="[options] <allocation>",
    description="""
        Stop an existing allocation. This command is used to signal a specific alloc to shut down. When
        the allocation has been shut down, it will then be rescheduled. An interactive monitoring session
        will display log lines as the allocation completes shutting down. It is safe to exit the monitor
        early with ctrl-c.

        When ACLs are enabled, this command requires a token with the 'alloc-lifecycle' and 'read-job'
        capabilities for the allocation's namespace.
    """,
)
