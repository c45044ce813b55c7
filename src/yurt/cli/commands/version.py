"""`yurt version`: the program's name and version."""

import sys
from collections.abc import Sequence

from yurt.version import NOMAD_VERSION, VERSION

HELP = """\
Usage: yurt version [-json] [-t <template>]

  Prints the version of this program, and the version of Nomad whose API it speaks.

  -json
    Output in JSON format.

  -t <template>
    Format and display the version using a Go template.
"""
FORMAT_FLAGS = ("-json", "--json", "-t", "--t")


def main(arguments: Sequence[str]) -> int:
    """Print the version; other arguments than flags for formats and a call for help are ignored."""
    if any(argument in {"-h", "-help", "--help"} for argument in arguments):
        sys.stdout.write(HELP)
        return 0
    if any(argument.partition("=")[0] in FORMAT_FLAGS for argument in arguments):
        return _show_record(arguments)
    sys.stdout.write(f"Yurt v{VERSION}\nNomad API v{NOMAD_VERSION}\n")
    return 0


def _show_record(arguments: Sequence[str]) -> int:
    # Imported here because the plain version must not pay for it.
    from yurt.cli.errors import CommandError  # noqa: PLC0415
    from yurt.cli.machine_output import json_text, template_text, wants_machine_output  # noqa: PLC0415
    from yurt.cli.options import FormatOptions, parse_flags  # noqa: PLC0415

    record = {"Version": VERSION, "NomadVersion": NOMAD_VERSION}
    try:
        options, _ = parse_flags(FormatOptions, arguments)
        assert options is not None, "a call for help was answered before"
        wants_machine_output(options)
        text = json_text(record) if options.template is None else template_text(options.template, record)
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{text}\n")
    return 0
