"""`yurt volume claim list`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id, table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import volumes


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `volume claim list`."""

    job: Annotated[str, Flag("job", "Only show claims of this job.", "<job>")] = ""
    group: Annotated[str, Flag("group", "Only show claims of this group.", "<group>")] = ""
    volume_name: Annotated[str, Flag("volume-name", "Only show claims on this volume.", "<name>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List sticky claims."""
    if len(arguments) > 1:
        raise UsageError("This command takes either no arguments or one: <id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying claims"):
        answer = volumes.list_claims(
            session.client,
            job_id=options.job,
            task_group=options.group,
            volume_name=options.volume_name,
            prefix=arguments[0] if arguments else "",
        )
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    rows = [
        [
            short_id(claim.id, verbose=options.verbose),
            claim.namespace,
            claim.job_id,
            short_id(claim.volume_id, verbose=options.verbose),
            claim.volume_name,
        ]
        for claim in answer.value
    ]
    listing = table([["ID", "Namespace", "Job ID", "Volume ID", "Volume Name"], *rows])
    session.console.output(listing if rows else "No task group host volume claims found")
    return 0


COMMAND = Command(
    path="volume claim list",
    options=Options,
    run=run,
    usage="[options] <id>",
    description="""
        List the claims of task groups on sticky host volumes.

        When ACLs are enabled, this command requires a token with the 'host-volume-read' capability.
    """,
)
