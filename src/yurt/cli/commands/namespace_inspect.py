"""`yurt namespace inspect`: one namespace as JSON."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import json_text, template_text
from yurt.cli.namespace_choice import find_namespace
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import namespaces


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `namespace inspect`."""

    template: Annotated[
        str | None, Flag("t", "Format and display the result using a Go template.", "<template>")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a namespace."""
    namespace = find_namespace(session, one_argument(arguments, "<namespace>"))
    with failing_as("Error retrieving namespace"):
        record = json.loads(namespaces.read(session.client, namespace.name).body)
    # The hash is the servers' own affair.
    record.pop("Hash", None)
    text = json_text(record) if options.template is None else template_text(options.template, record)
    session.console.output(text)
    return 0


COMMAND = Command(
    path="namespace inspect",
    options=Options,
    run=run,
    usage="[options] <namespace>",
    description="""
        Inspect is used to view raw information about a particular namespace.

        If ACLs are enabled, this command requires a management ACL token or a token that has a capability
        associated with the namespace.
    """,
)
