"""`yurt operator debug`: an archive of what is needed to understand a cluster's trouble."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.debug_capture import Capture, LogDetail
from yurt.cli.errors import CommandError
from yurt.cli.layout import key_list
from yurt.cli.options import Flag, GeneralOptions
from yurt.model.durations import duration_text
from yurt.model.times import MINUTE_NS, SECOND_NS

EXIT_CAPTURE_FAILED = 2
DEFAULT_NODES_MAX = 10


# Flags of Nomad's scripts about what there is none of here.
NOT_HERE = (
    "pprof-interval",
    "log-lookback",
    *(f"consul-{name}" for name in ("http-addr", "token", "token-file")),
    *(
        f"consul-{name}"
        for name in ("auth", "ssl", "verify-ssl", "client-cert", "client-key", "ca-cert", "ca-path")
    ),
    *(f"vault-{name}" for name in ("address", "token", "client-cert", "client-key", "ca-cert", "ca-path")),
)
NOT_CAPTURED = (
    "Not captured: profiles (there are none of Go programs), log files (agents keep none, see "
    "'yurt monitor export'), and what Consul and Vault say."
)


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator debug`."""

    duration: Annotated[
        int,
        Flag(
            "duration",
            "How long to capture logs, events and figures. Default = 5m",
            "<duration>",
            form="duration",
        ),
    ] = 5 * MINUTE_NS
    interval: Annotated[
        int,
        Flag("interval", "How often to look. Default = 30s", "<duration>", form="duration"),
    ] = 30 * SECOND_NS
    log_level: Annotated[str, Flag("log-level", "The logs' level. Default = TRACE", "<level>")] = "TRACE"
    log_include_location: Annotated[
        bool, Flag("log-include-location", "Name file and line in every log line.")
    ] = False
    max_nodes: Annotated[
        int, Flag("max-nodes", "At most so many nodes are asked; 0 for all. Default = 10", "<n>")
    ] = DEFAULT_NODES_MAX
    node_id: Annotated[
        str,
        Flag("node-id", "The nodes to ask, between commas. Default = all", "<id>,<id>"),
    ] = "all"
    node_class: Annotated[str, Flag("node-class", "Only nodes of this class.", "<class>")] = ""
    server_id: Annotated[
        str,
        Flag("server-id", "The servers to ask, between commas. Default = all", "<id>,<id>"),
    ] = "all"
    event_topic: Annotated[
        str, Flag("event-topic", "Topics of the event stream, such as Job,Node:*; none for none.", "<topics>")
    ] = "none"
    event_index: Annotated[int, Flag("event-index", "The index to start the events from.", "<index>")] = 0
    output: Annotated[str, Flag("output", "Write a directory there instead of an archive.", "<path>")] = ""
    stale: Annotated[bool, Flag("stale", "Accept answers of servers that do not lead.", is_hidden=True)] = (
        False
    )
    log_file_export: Annotated[
        bool, Flag("log-file-export", "Not captured: agents keep no log files.", is_hidden=True)
    ] = False
    not_captured: Annotated[
        tuple[str, ...],
        Flag("pprof-duration", "Not captured, see NOT_CAPTURED.", "<value>", also=NOT_HERE, is_hidden=True),
    ] = ()
    verbose: Annotated[bool, Flag("verbose", "Say what is being captured.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Capture for a while, then pack."""
    no_arguments(arguments)
    if options.interval <= 0 or options.duration < 0:
        raise CommandError("-interval must be positive, and -duration not negative")
    name = time.strftime("nomad-debug-%Y-%m-%d-%H%M%SZ", time.gmtime(session.now() // SECOND_NS))
    directory = Path(options.output or ".") / name
    capture = Capture(session, directory, verbose=options.verbose)
    capture.find(
        nodes=options.node_id,
        node_class=options.node_class,
        nodes_max=options.max_nodes,
        servers=options.server_id,
    )
    session.console.output("Starting debugger...\n")
    session.console.output(
        key_list(
            [
                ("Servers", f"({len(capture.servers)}) {', '.join(capture.servers)}"),
                ("Clients", f"({len(capture.nodes)}) {', '.join(node[:8] for node in capture.nodes)}"),
                ("Interval", duration_text(options.interval)),
                ("Duration", duration_text(options.duration)),
                ("Event topics", options.event_topic),
            ]
        )
    )
    if options.log_file_export or options.not_captured:
        session.console.warn(NOT_CAPTURED)
    session.console.output("\nCapturing cluster data...")
    try:
        capture.once()
        capture.follow(
            duration_ns=options.duration,
            interval_ns=options.interval,
            log=LogDetail(options.log_level, options.log_include_location),
            topics=options.event_topic,
            event_index=options.event_index,
        )
    except KeyboardInterrupt:
        session.console.output("Interrupted: what was captured so far is kept")
    if options.output:
        session.console.output(f"Created debug directory: {directory}")
    else:
        session.console.output(f"Created debug archive: {capture.pack()}")
    for problem in capture.problems:
        session.console.warn(problem)
    return EXIT_CAPTURE_FAILED if capture.problems else 0


COMMAND = Command(
    path="operator debug",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Captures for a while how the cluster is: its settings, jobs, evaluations, allocations, deployments,
        nodes and metrics every -interval, the logs of servers and nodes, and events if asked for. The result
        is an archive nomad-debug-<time>.tar.gz here, or a directory below -output. Ctrl+c ends it early and
        keeps what there is. Tokens are not part of it.

        What could not be captured is said at the end, with exit code 2.

        When ACLs are enabled, this command requires a token with the 'node:read', 'agent:read' and
        'operator:read' capabilities; a management token sees everything.
    """,
)
