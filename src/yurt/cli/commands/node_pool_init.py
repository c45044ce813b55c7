"""`yurt node pool init`: write an example specification."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.new_file import write_new_file
from yurt.cli.options import Flag, GeneralOptions

EXAMPLE = {
    "hcl": """\
node_pool "example" {
  description = "Example node pool"

  # meta is optional metadata on the node pool, defined as key-value pairs.
  # The scheduler does not use node pool metadata as part of scheduling.
  meta {
    environment = "prod"
    owner       = "sre"
  }
}
""",
    "json": """\
{
  "Name": "example",
  "Description": "Example node pool",
  "Meta": {
    "environment": "prod",
    "owner": "sre"
  }
}
""",
}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node pool init`."""

    out: Annotated[str, Flag("out", "The format to write: hcl or json. Default = hcl", "<format>")] = "hcl"
    quiet: Annotated[bool, Flag("quiet", "Do not say what was written.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write an example."""
    if len(arguments) > 1:
        raise UsageError("This command takes no arguments or one: <filename>")
    if options.out not in EXAMPLE:
        raise CommandError(f"Unsupported value for -out: {options.out!r}; use hcl or json")
    path = arguments[0] if arguments else f"pool.nomad.{options.out}"
    write_new_file(path, EXAMPLE[options.out])
    if not options.quiet:
        session.console.output(f"Example node pool specification written to {path}")
    return 0


COMMAND = Command(
    path="node pool init",
    options=Options,
    run=run,
    usage="<filename>",
    description="""
        Creates an example node pool specification file that can be used as a starting point to customize
        further. When no filename is supplied, a default filename of "pool.nomad.hcl" or
        "pool.nomad.json" will be used depending on the output format.
    """,
    is_offline=True,
)
