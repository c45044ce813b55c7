"""`yurt check`: whether an agent knows enough others, for monitoring systems."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import SdkError, agent

PASSING, CRITICAL = 0, 2


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `check`."""

    min_peers: Annotated[int, Flag("min-peers", "How many peers a server must know. Default = 0", "<n>")] = 0
    min_servers: Annotated[
        int, Flag("min-servers", "How many servers a client must know. Default = 1", "<n>")
    ] = 1


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Exit with 0, or with 2 and a reason."""
    no_arguments(arguments)
    try:
        stats = agent.read_self(session.client).value.stats
    except SdkError as error:
        session.console.output(f"unable to query agent info: {error}")
        return CRITICAL
    if "nomad" in stats:
        peers = int(stats.get("raft", {}).get("num_peers") or 0)
        if peers < options.min_peers:
            session.console.output(
                f"known peers: {peers}, is less than expected number of peers: {options.min_peers}"
            )
            return CRITICAL
    elif "client" in stats:
        text = stats["client"].get("known_servers", "")
        servers = len([address for address in text.split(",") if address])
        if servers < options.min_servers:
            session.console.output(
                f"known servers: {servers}, is less than expected number of servers: {options.min_servers}"
            )
            return CRITICAL
    return PASSING


COMMAND = Command(
    path="check",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Display the health of the agent by its exit code: 0 when it is well, 2 when it knows too few
        others or does not answer.
    """,
)
