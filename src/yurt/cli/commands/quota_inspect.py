"""`yurt quota inspect`: one quota and its use as JSON."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import json_text, template_text
from yurt.cli.namespace_choice import find_quota
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import quotas


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `quota inspect`."""

    template: Annotated[
        str | None, Flag("t", "Format and display the result using a Go template.", "<template>")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a quota."""
    quota = find_quota(session, one_argument(arguments, "<quota>"))
    with failing_as("Error retrieving quota"):
        record = {
            "Spec": json.loads(quotas.read(session.client, quota.name).body),
            "Usage": json.loads(quotas.usage(session.client, quota.name).body),
        }
    text = json_text(record) if options.template is None else template_text(options.template, record)
    session.console.output(text)
    return 0


COMMAND = Command(
    path="quota inspect",
    options=Options,
    run=run,
    usage="[options] <quota>",
    description="""
        Inspect is used to view raw information about a particular quota, and what is used of it.

        If ACLs are enabled, this command requires a token with the 'quota:read' capability.
    """,
)
