"""`yurt job history`: the versions of a job."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.diff_view import DiffView
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.layout import key_list
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import json_text, show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.records import job_record
from yurt.cli.times import absolute
from yurt.sdk import jobs
from yurt.sdk.types.diffs import JobDiff
from yurt.sdk.types.jobs import Job


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `job history`."""

    with_diffs: Annotated[
        bool, Flag("p", "Display the difference between each version of the job and a reference version.")
    ] = False
    diff_tag: Annotated[
        str | None, Flag("diff-tag", "The version tag to compare with. Used only with -p.", "<tag>")
    ] = None
    diff_version: Annotated[
        int | None,
        Flag("diff-version", "The version to compare with. Used only with -p.", "<version>", form="index"),
    ] = None
    full: Annotated[bool, Flag("full", "Display the full job definition for each version.")] = False
    version: Annotated[
        int | None, Flag("version", "Display only the given version.", "<version>", form="index")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show the versions of a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    if is_machine_output and (options.with_diffs or options.full):
        raise CommandError("-json and -t are exclusive with -p and -full")
    if options.diff_tag is not None and options.diff_version is not None:
        raise CommandError("-diff-tag and -diff-version are mutually exclusive")
    if (options.diff_tag is not None or options.diff_version is not None) and not options.with_diffs:
        raise CommandError("-diff-tag and -diff-version can only be used with -p")
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error retrieving job versions"):
        answer = jobs.versions(
            client,
            job_id,
            diffs=options.with_diffs,
            diff_tag=options.diff_tag or "",
            diff_version="" if options.diff_version is None else options.diff_version,
        )
    bodies = [job_record(job) for job in json.loads(answer.body)["Versions"]]
    diffs = list(answer.value.diffs) + [None] * len(bodies)
    rows = list(zip(answer.value.versions, bodies, diffs, strict=False))
    if options.version is not None:
        rows = [row for row in rows if row[0].version == options.version]
        if not rows:
            raise CommandError("Error printing job history for non-existing job or job version")
    if is_machine_output:
        found = [body for _, body, _ in rows]
        show_value(session.console, options, found if options.version is None else found[0])
        return 0
    blocks = []
    for job, body, diff in rows:
        text = _version(session, job, diff if options.with_diffs else None)
        if options.full:
            text += f"\nFull        = \n{json_text({'Job': body})}"
        blocks.append(text)
    session.console.output("\n\n".join(blocks))
    return 0


def _version(session: Session, job: Job, diff: JobDiff | None) -> str:
    pairs: list[tuple[str, object]] = [
        ("Version", job.version),
        ("Stable", job.stable),
        ("Submit Date", absolute(job.submit_time)),
    ]
    if job.version_tag is not None and job.version_tag.name:
        pairs.append(("Tag Name", job.version_tag.name))
        if job.version_tag.description:
            pairs.append(("Tag Description", job.version_tag.description))
    text = key_list(pairs)
    if diff is None:
        return text
    return f"{text}\nDiff        = \n{DiffView(session.console, verbose=False).job(diff)}"


COMMAND = Command(
    path="job history",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        History is used to display the known versions of a particular job. The command can display the
        diff between job versions and can be useful for understanding the changes that occurred to the job
        as well as deciding job versions to revert to.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace. The 'list-jobs' capability is required to run the command with a job prefix instead of
        the exact job ID.
    """,
)
