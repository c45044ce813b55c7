"""`yurt job scaling-events`: how the counts of a job changed."""

import json
from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import table
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.times import absolute
from yurt.sdk import jobs


def run(session: Session, options: VerboseFormatOptions, arguments: Sequence[str]) -> int:
    """List scaling events, newest first."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error listing scaling events"):
        answer = jobs.scale_status(client, job_id)
    if is_machine_output:
        groups_found = json.loads(answer.body).get("TaskGroups") or {}
        records = [
            {"TaskGroup": name, **event}
            for name, group in groups_found.items()
            for event in group.get("Events") or ()
        ]
        show_value(session.console, options, sorted(records, key=lambda record: -record["Time"]))
        return 0
    groups = answer.value.task_groups
    events = [(event, name) for name, group in groups.items() for event in group.events]
    if not events:
        session.console.output("No events found")
        return 0
    extra_titles = ["Error", "Message", "Eval ID"] if options.verbose else []
    rows: list[list[object]] = [["Task Group", "Count", "PrevCount", *extra_titles, "Date"]]
    for event, name in sorted(events, key=lambda entry: entry[0].time, reverse=True):
        count = "" if event.count is None else event.count
        extra = [event.error, event.message, event.eval_id] if options.verbose else []
        rows.append([name, count, event.previous_count, *extra, absolute(event.time)])
    session.console.output(table(rows))
    return 0


COMMAND = Command(
    path="job scaling-events",
    options=VerboseFormatOptions,
    run=run,
    usage="[options] <job>",
    description="""
        List the scaling events for the specified job.

        When ACLs are enabled, this command requires a token with either the 'read-job' or
        'read-job-scaling' capability for the job's namespace. The 'list-jobs' capability is required to
        run the command with a job prefix instead of the exact job ID.
    """,
)
