"""`yurt config validate`: check agent configuration files."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.options import GeneralOptions
from yurt.config import check


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Validate configuration files and directories."""
    if not arguments:
        raise UsageError("Must specify at least one config file or directory")
    problems = check(arguments)
    if problems:
        listing = "\n".join(f"  * {problem}" for problem in problems)
        raise CommandError(f"Configuration is invalid:\n{listing}")
    session.console.output("Configuration is valid!")
    return 0


COMMAND = Command(
    path="config validate",
    options=GeneralOptions,
    run=run,
    usage="<config_path> [<config_path...>]",
    description="""
        Perform validation on a set of configuration files. This is useful to test the agent's
        configuration without starting it. Accepts the path to either a single config file or a directory
        of config files.
    """,
    is_offline=True,
)
