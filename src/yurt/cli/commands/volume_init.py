"""`yurt volume init`: write an example specification."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.new_file import write_new_file
from yurt.cli.options import Flag, GeneralOptions

EXAMPLES = {
    ("host", "hcl"): """\
name      = "example"
type      = "host"
plugin_id = "mkdir"

# Where to make the volume; a node is chosen when neither is given.
# node_id   = ""
# node_pool = "default"

capacity_min = "1GiB"
capacity_max = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
""",
    ("csi", "hcl"): """\
id        = "example"
name      = "example"
type      = "csi"
plugin_id = "plugin_id"

capacity_min = "1GiB"
capacity_max = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Passed to the storage plugin.
parameters {
  skuname = "Premium_LRS"
}
""",
    ("host", "json"): """\
{
  "Type": "host",
  "Name": "example",
  "PluginID": "mkdir",
  "RequestedCapacityMinBytes": 1073741824,
  "RequestedCapacityMaxBytes": 10737418240,
  "RequestedCapabilities": [
    {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
  ]
}
""",
    ("csi", "json"): """\
{
  "Type": "csi",
  "ID": "example",
  "Name": "example",
  "PluginID": "plugin_id",
  "RequestedCapacityMin": 1073741824,
  "RequestedCapacityMax": 10737418240,
  "RequestedCapabilities": [
    {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
  ]
}
""",
}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `volume init`."""

    json: Annotated[bool, Flag("json", "Write the example in JSON.")] = False
    type: Annotated[str, Flag("type", "The type of the example: csi or host. Default = csi", "<type>")] = (
        "csi"
    )


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write an example."""
    if len(arguments) > 1:
        raise UsageError("This command takes no arguments or one: <filename>")
    form = "json" if options.json else "hcl"
    if (options.type, form) not in EXAMPLES:
        raise CommandError(f"No such volume type {options.type!r}: use csi or host")
    path = arguments[0] if arguments else f"volume.{options.type}.{form}"
    write_new_file(path, EXAMPLES[options.type, form])
    session.console.output(f"Example volume specification written to {path}")
    return 0


COMMAND = Command(
    path="volume init",
    options=Options,
    run=run,
    usage="[options] <filename>",
    description="""
        Creates an example volume specification file that can be used as a starting point to customize
        further.
    """,
    is_offline=True,
)
