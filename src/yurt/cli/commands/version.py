"""`yurt version`: the program's name and version."""

import sys
from collections.abc import Sequence

from yurt.version import NOMAD_VERSION, VERSION

HELP = """\
Usage: yurt version

  Prints the version of this program, and the version of Nomad whose API it speaks.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the version; arguments other than a call for help are ignored."""
    if any(argument in {"-h", "-help", "--help"} for argument in arguments):
        sys.stdout.write(HELP)
    else:
        sys.stdout.write(f"Yurt v{VERSION}\nNomad API v{NOMAD_VERSION}\n")
    return 0
