"""`yurt service list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.lookup import EVERY_NAMESPACE
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import services


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List services."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing service registrations"):
        answer = services.listing(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    if not answer.value:
        session.console.output("No service registrations found")
        return 0
    with_namespace = session.client.namespace == EVERY_NAMESPACE
    rows: list[list[object]] = []
    for entry in answer.value:
        namespace = [entry.namespace] if with_namespace else []
        for service in entry.services:
            rows.append([service.service_name, *namespace, tag_list(sorted(service.tags))])
    header: list[object] = ["Service Name", *(["Namespace"] if with_namespace else []), "Tags"]
    session.console.output(table([header, *sorted(rows, key=str)]))
    return 0


def tag_list(tags: Sequence[str]) -> str:
    """Write tags in brackets."""
    return f"[{','.join(tags)}]"


COMMAND = Command(
    path="service list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list the currently registered services.

        If ACLs are enabled, this command requires a token with the 'read-job' capabilities for the
        namespace of all services. Any namespaces that the token does not have access to will have its
        services filtered from the results.
    """,
)
