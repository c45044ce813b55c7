"""`yurt job inspect`: a stored job, as JSON or as the source it came from."""

import json
import shlex
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import PROGRAM, Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import json_text, show_record, show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.records import job_record
from yurt.sdk import Client, jobs


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `job inspect`."""

    hcl: Annotated[bool, Flag("hcl", "Output the original job file of the given job.")] = False
    with_vars: Annotated[
        bool, Flag("with-vars", "Include the variables that the job was run with. Used only with -hcl.")
    ] = False
    version: Annotated[
        int | None, Flag("version", "Display the job at the given version.", "<job version>", form="index")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a job."""
    is_machine_output = wants_machine_output(options)
    if not arguments and is_machine_output:
        with failing_as("Error querying jobs"):
            show_record(session.console, options, jobs.listing(session.client).body)
        return 0
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    if options.with_vars and not options.hcl:
        raise CommandError("can only use -with-vars with -hcl")
    job_id, client = find_job(session, arguments[0])
    job = _read(client, job_id, options.version)
    if options.hcl:
        _show_source(session, client, job, with_vars=options.with_vars)
    elif is_machine_output:
        show_value(session.console, options, job)
    else:
        session.console.output(json_text({"Job": job}))
    return 0


def _read(client: Client, job_id: str, version: int | None) -> dict[str, Any]:
    with failing_as("Error inspecting job"):
        if version is None:
            return job_record(json.loads(jobs.read(client, job_id).body))
        for job in json.loads(jobs.versions(client, job_id).body)["Versions"]:
            if job["Version"] == version:
                return job_record(job)
    raise CommandError(f'Error inspecting job: job "{job_id}" with version {version} couldn\'t be found')


def _show_source(session: Session, client: Client, job: dict[str, Any], *, with_vars: bool) -> None:
    with failing_as("Error getting the job's source"):
        submission = jobs.submission(client, job["ID"], job["Version"]).value
    session.console.output(submission.source)
    if not with_vars:
        return
    flags = " ".join(
        f"-var {shlex.quote(f'{name}={value}')}" for name, value in sorted(submission.variable_flags.items())
    )
    namespace = job.get("Namespace") or "default"
    rerun = " ".join(part for part in (f"{PROGRAM} job run -namespace {namespace}", flags, job["ID"]) if part)
    session.console.warn(
        "\nTo run this job as originally submitted:\n\n"
        f"$ {PROGRAM} job inspect -namespace {namespace} -hcl {job['ID']} |\n    {rerun}\n"
    )


COMMAND = Command(
    path="job inspect",
    aliases=("inspect",),
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Inspect is used to see the specification of a submitted job.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace. The 'list-jobs' capability is required to run the command with a job prefix instead of
        the exact job ID.
    """,
)
