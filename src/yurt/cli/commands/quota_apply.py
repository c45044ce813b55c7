"""`yurt quota apply`: create or change a quota."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.quota_spec import WHAT, quota_from_hcl, quota_from_json
from yurt.cli.spec_file import read_text
from yurt.sdk import quotas


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `quota apply`."""

    json: Annotated[bool, Flag("json", "Parse the input as JSON.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Apply a quota."""
    path = one_argument(arguments, "<input>")
    text = read_text(session, path, WHAT)
    quota = quota_from_json(text) if options.json else quota_from_hcl(text, path)
    with failing_as("Error applying quota specification"):
        quotas.write(session.client, quota)
    session.console.output(f'Successfully applied quota specification "{quota["Name"]}"!')
    return 0


COMMAND = Command(
    path="quota apply",
    options=Options,
    run=run,
    usage="[options] <input>",
    description="""
        Apply is used to create or update a quota. The specification is read from stdin by specifying "-",
        otherwise a path is expected.

        If ACLs are enabled, this command requires a token with the 'quota:write' capability.
    """,
)
