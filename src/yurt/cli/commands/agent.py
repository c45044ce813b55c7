"""`yurt agent`: run a server, a client or both in this process."""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from yurt.cli.agent_flags import AgentFlags
from yurt.cli.errors import FlagError
from yurt.cli.help_text import flags_help
from yurt.cli.options import parse_flags
from yurt.errors import YurtError

USAGE = """\
Usage: yurt agent [options]

  Starts the agent and runs until an interrupt is received. The agent may be a
  server, a client that runs tasks, or both.

  Settings come from configuration files and from the flags below; where both
  give one, the flag wins.
"""


def main(arguments: Sequence[str]) -> int:
    """Read the flags, load the configuration, run the agent. Returns its exit code."""
    try:
        flags, rest = parse_flags(AgentFlags, arguments)
    except FlagError as error:
        sys.stderr.write(f"{error}\n{help_text()}\n")
        return 1
    if flags is None:
        sys.stdout.write(f"{help_text()}\n")
        return 0
    if rest:
        sys.stderr.write(f"The agent takes no arguments, got: {' '.join(rest)}\n")
        sys.stderr.write("For additional help try 'yurt agent -help'\n")
        return 1
    # Importing makes many objects and no garbage; the agent looks for that once it runs.
    gc.disable()
    try:
        # Servers and clients bring much along that no other command needs.
        load = import_module("yurt.config").load
        config = load(flags)
        return int(import_module("yurt.main_agent").run(config, reload=lambda: load(flags)))
    except YurtError as error:
        sys.stderr.write(f"==> {error}\n")
        return 1


def help_text() -> str:
    """The help of `yurt agent`."""
    return USAGE + "\nAgent Options:\n\n" + flags_help(AgentFlags)
