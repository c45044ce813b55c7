"""`yurt job validate`: check a job file without running it."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.console import BOLD, RED
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.job_file import JobFileOptions, LoadedJob, load_job
from yurt.cli.job_warnings import show_warnings
from yurt.cli.local_validation import validate_locally
from yurt.cli.options import Flag
from yurt.sdk import ServerUnreachable, jobs
from yurt.sdk.errors import BadSettings
from yurt.sdk.types.jobs import Validated


class Options(JobFileOptions, frozen=True, kw_only=True):
    """The flags of `job validate`."""

    vault_namespace: Annotated[
        str | None, Flag("vault-namespace", "The Vault namespace to set for the job.", "<namespace>")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Validate a job file."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    loaded = load_job(session, arguments[0], options)
    if options.vault_namespace is not None:
        loaded.job["VaultNamespace"] = options.vault_namespace
    answer = _validate(session, loaded)
    if not answer.driver_config_validated:
        session.console.output(
            "Driver configuration not validated since connection to Yurt agent couldn't be established.\n"
        )
    if answer.error:
        heading = session.console.paint("Job validation errors:", BOLD, RED)
        raise CommandError(f"{heading}\n{answer.error}")
    show_warnings(session.console, answer.warnings)
    heading = session.console.bold("Job validation successful")
    session.console.output(heading)
    return 0


def _validate(session: Session, loaded: LoadedJob) -> Validated:
    with failing_as("Error validating job"):
        try:
            return jobs.validate(loaded.client(session.client), loaded.job).value
        except (ServerUnreachable, BadSettings):
            return validate_locally(loaded.job)


COMMAND = Command(
    path="job validate",
    aliases=("validate",),
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        Checks if a given job file is valid, by asking a server. Where none is reachable, everything but
        the driver configuration is checked here.

        If the supplied path is "-", the job file is read from stdin. Otherwise it is read from the file
        at the supplied path or downloaded from the given http or https address.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace.
    """,
)
