"""`yurt job start`: start a stopped job again."""

import json
from collections.abc import Sequence
from typing import Any

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.job_warnings import show_warnings
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import Client, SdkError, jobs


def run(session: Session, options: FollowOptions, arguments: Sequence[str]) -> int:
    """Register a stopped job as it was."""
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, one_argument(arguments, "<job>"))
    with failing_as("Error retrieving job"):
        job: dict[str, Any] = json.loads(jobs.read(client, job_id).body)
    if not job.get("Stop"):
        raise CommandError(f"Job {job_id!r} is not stopped; use 'yurt job run' to change a running job")
    job["Stop"] = False
    source = _source(session, client, job)
    _restore_scaling(client, job)
    with failing_as("Error starting job"):
        answer = jobs.register(client, job, source=source)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    show_warnings(session.console, answer.value.warnings)
    return follow(session, client, answer.value.eval_id, options, done="Job registration successful")


def _restore_scaling(client: Client, job: dict[str, Any]) -> None:
    """Give scaling policies back the switch they had: stopping a job switches them all off."""
    scaled = [group for group in job.get("TaskGroups") or () if group.get("Scaling")]
    if not scaled:
        return
    with failing_as("Error retrieving job versions"):
        versions = json.loads(jobs.versions(client, job["ID"]).body)["Versions"]
    running = next((one for one in versions if not one.get("Stop")), {"TaskGroups": ()})
    was_on = {
        group["Name"]: group["Scaling"].get("Enabled", True)
        for group in running["TaskGroups"] or ()
        if group.get("Scaling")
    }
    for group in scaled:
        group["Scaling"]["Enabled"] = was_on.get(group["Name"], True)


def _source(session: Session, client: Client, job: dict[str, Any]) -> dict[str, Any] | None:
    """The source of the version before the stop, which the new version keeps."""
    for version in (job["Version"], job["Version"] - 1):
        if version < 0:
            continue
        try:
            stored = jobs.submission(client, job["ID"], version).value
        except SdkError:
            continue
        return {
            "Source": stored.source,
            "Format": stored.format,
            "VariableFlags": stored.variable_flags,
            "Variables": stored.variables,
        }
    session.console.warn("No source of this job is stored; it is started from its stored specification")
    return None


COMMAND = Command(
    path="job start",
    aliases=("start",),
    options=FollowOptions,
    run=run,
    usage="[options] <job>",
    description="""
        Start an existing stopped job. This command is used to start a previously stopped job's most
        recent version up.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the job's namespace. The 'list-jobs' capability is required to run the command
        with a job prefix instead of the exact job ID.
    """,
)
