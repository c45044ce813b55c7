"""`yurt var purge`: delete a variable."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.variable_view import conflict_text, refuse_wildcard
from yurt.sdk import variables
from yurt.sdk.variables import Conflict


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `var purge`."""

    check_index: Annotated[
        int | None,
        Flag("check-index", "Delete only if the server-side index matches.", "<n>", form="index"),
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Delete a variable; one that is not there is deleted already."""
    path = one_argument(arguments, "<path>")
    refuse_wildcard(session)
    cas = "" if options.check_index is None else options.check_index
    try:
        with failing_as("Error purging variable"):
            variables.delete(session.client, path, cas=cas)
    except CommandError as error:
        if isinstance(error.__cause__, Conflict):
            current = error.__cause__.current
            raise CommandError(conflict_text(options.check_index or 0, current)) from error
        raise
    session.console.output(f'Successfully purged variable "{path}"!')
    return 0


COMMAND = Command(
    path="var purge",
    options=Options,
    run=run,
    usage="[options] <path>",
    description="""
        Purge is used to permanently delete an existing variable.

        If ACLs are enabled, this command requires a token with the 'variables:destroy' capability for the
        target variable's namespace and path.
    """,
)
