"""`yurt var init`: write an example specification."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.new_file import write_new_file
from yurt.cli.options import Flag, GeneralOptions

EXAMPLE = {
    "hcl": """\
# A variable can be specified by a file like this one, given to the
# 'yurt var put' command.

# The namespace to write the variable into; the default one when absent.
# namespace = "default"

# The path to write the variable to; may be given on the command line instead.
# path = "path/to/variable"

# The items are the only required member. Keys can be used in templates; those
# of letters, digits and underscores also with dots.
items {
  key1 = "value 1"
  key2 = "value 2"
}
""",
    "json": """\
{
  "Namespace": "default",
  "Path": "path/to/variable",
  "Items": {
    "key1": "value 1",
    "key2": "value 2"
  }
}
""",
}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `var init`."""

    out: Annotated[str, Flag("out", "The format to write: hcl or json. Default = hcl", "<format>")] = "hcl"
    quiet: Annotated[bool, Flag("quiet", "Do not say what was written.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write an example."""
    if len(arguments) > 1:
        raise UsageError("This command takes no arguments or one: <filename>")
    if options.out not in EXAMPLE:
        raise CommandError(f"Unsupported value for -out: {options.out!r}; use hcl or json")
    path = arguments[0] if arguments else f"spec.nv.{options.out}"
    write_new_file(path, EXAMPLE[options.out])
    if not options.quiet:
        session.console.output(f"Example variable specification written to {path}")
    return 0


COMMAND = Command(
    path="var init",
    options=Options,
    run=run,
    usage="<filename>",
    description="""
        Creates an example variable specification file that can be used as a starting point to customize
        further. When no filename is supplied, a default filename of "spec.nv.hcl" or "spec.nv.json" will
        be used depending on the output format.
    """,
    is_offline=True,
)
