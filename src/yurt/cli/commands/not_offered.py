"""Commands of Nomad's that Yurt has nothing to do for: they say so."""

import sys
from collections.abc import Sequence

TEXT = """\
Yurt does not offer this command. Sentinel policies, recommendations, licenses
and utilization reports belong to Nomad Enterprise; 'setup' prepares Consul and
Vault for Nomad's own integration; snapshots of volumes need CSI plugins, which
Yurt does not run. The servers' log and snapshots have a format of their own:
'operator raft logs' and 'operator snapshot inspect' look into them.
"""
HELP = f"Usage: yurt <command> [options] [args]\n\n{TEXT}"


def main(arguments: Sequence[str]) -> int:
    """Say it; asking for help is no failure."""
    is_help = any(argument in {"-h", "-help", "--help"} for argument in arguments)
    (sys.stdout if is_help else sys.stderr).write(HELP if is_help else TEXT)
    return 0 if is_help else 1
