"""`yurt service delete`: remove one instance of a service."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import services


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a registration."""
    if len(arguments) != 2:
        raise UsageError("This command takes two arguments: <service_name> and <service_id>")
    with failing_as("Error deleting service registration"):
        services.delete(session.client, arguments[0], arguments[1])
    session.console.output("Successfully deleted service registration")
    return 0


COMMAND = Command(
    path="service delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <service_name> <service_id>",
    description="""
        Delete is used to deregister the specified service registration. It should be used with caution
        and can only remove a single registration, via the service name and service ID, at a time.

        When ACLs are enabled, this command requires a token with the 'submit-job' capability for the
        service registration's namespace.
    """,
)
