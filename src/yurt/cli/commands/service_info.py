"""`yurt service info`: the instances of a service."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.service_list import tag_list
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.sdk import services
from yurt.sdk.services import Registration


class Options(PagingOptions, frozen=True, kw_only=True):
    """The flags of `service info`."""

    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show the instances of a service."""
    name = one_argument(arguments, "<service_name>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing service registrations"):
        answer = services.instances(session.client, name, **options.query())
        if not answer.value:
            name = _only_service(session, name)
            answer = services.instances(session.client, name, **options.query())
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    if options.verbose:
        for registration in answer.value:
            session.console.output(_record(registration) + "\n")
    else:
        session.console.output(_table(answer.value))
    show_next_page(session, answer.next_token)
    return 0


def _only_service(session: Session, name: str) -> str:
    """The only service there is, when the name is unknown."""
    known = sorted(
        {
            service.service_name
            for entry in services.listing(session.client).value
            for service in entry.services
        }
    )
    if not known:
        raise CommandError("No service registrations found")
    if len(known) > 1:
        listing = table([["Service Name"], *([service] for service in known)])
        raise CommandError(f'No service "{name}" found; there are several others\n\n{listing}')
    return known[0]


def _table(found: Sequence[Registration]) -> str:
    rows: list[list[object]] = [["Job ID", "Address", "Tags", "Node ID", "Alloc ID"]]
    rows.extend(
        [
            registration.job_id,
            f"{registration.address}:{registration.port}",
            tag_list(registration.tags),
            short_id(registration.node_id, verbose=False),
            short_id(registration.alloc_id, verbose=False),
        ]
        for registration in found
    )
    return table(rows)


def _record(registration: Registration) -> str:
    return key_list(
        [
            ("ID", registration.id),
            ("Service Name", registration.service_name),
            ("Namespace", registration.namespace),
            ("Job ID", registration.job_id),
            ("Alloc ID", registration.alloc_id),
            ("Node ID", registration.node_id),
            ("Datacenter", registration.datacenter),
            ("Address", f"{registration.address}:{registration.port}"),
            ("Tags", tag_list(registration.tags)),
        ]
    )


COMMAND = Command(
    path="service info",
    options=Options,
    run=run,
    usage="[options] <service_name>",
    description="""
        Info is used to read the services registered to a single service name.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        service's namespace.
    """,
)
