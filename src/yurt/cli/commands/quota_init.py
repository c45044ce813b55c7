"""`yurt quota init`: write an example specification."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError
from yurt.cli.new_file import write_new_file
from yurt.cli.options import Flag, GeneralOptions

HCL = """\
name        = "default-quota"
description = "Limit the shared default namespace"

# Each region has a limit of its own. 0 is any amount, -1 is nothing at all.
limit {
  region = "global"
  region_limit {
    cpu         = 2500
    cores       = 4
    memory      = 1000
    memory_max  = 1000
    allocations = 100
    device "nvidia/gpu" {
      count = 1
    }
    storage {
      variables = 10 # MB
    }
  }
}
"""
JSON = """\
{
  "Name": "default-quota",
  "Description": "Limit the shared default namespace",
  "Limits": [
    {
      "Region": "global",
      "RegionLimit": {
        "CPU": 2500,
        "Cores": 4,
        "MemoryMB": 1000,
        "MemoryMaxMB": 1000,
        "Allocations": 100,
        "Devices": [{"Name": "nvidia/gpu", "Count": 1}],
        "Storage": {"VariablesMB": 10}
      }
    }
  ]
}
"""


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `quota init`."""

    json: Annotated[bool, Flag("json", "Write the example as JSON.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write an example."""
    if len(arguments) > 1:
        raise UsageError("This command takes no arguments or one: <filename>")
    path = arguments[0] if arguments else f"spec.{'json' if options.json else 'hcl'}"
    write_new_file(path, JSON if options.json else HCL)
    session.console.output(f"Example quota specification written to {path}")
    return 0


COMMAND = Command(
    path="quota init",
    options=Options,
    run=run,
    usage="<filename>",
    description="""
        Creates an example quota specification file that can be used as a starting point to customize
        further. When no filename is supplied, a default filename of "spec.hcl" or "spec.json" is used.
    """,
    is_offline=True,
)
