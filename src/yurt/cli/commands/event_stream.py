"""`yurt event stream`: what changes in the cluster, as it changes."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import template_text, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import events


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `event stream`."""

    topics: Annotated[
        tuple[str, ...],
        Flag(
            "topic",
            "What to show: Job, Allocation, Deployment, Evaluation, Node, NodePool, Service and the like, or "
            "one object as in Job:web. May be given several times. Default = everything",
            "<topic>[:<key>]",
        ),
    ] = ()
    index: Annotated[
        int,
        Flag(
            "index", "Start with the events after this index, as far as they are kept.", "<n>", form="index"
        ),
    ] = 0


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Print events, one a line, until interrupted."""
    no_arguments(arguments)
    wants_machine_output(options)
    try:
        with (
            failing_as("Error streaming events"),
            events.stream(session.client, topics=options.topics, index=options.index) as stream,
        ):
            for line in stream.lines():
                for event in json.loads(line).get("Events") or ():
                    session.console.output(_text(event, options))
                session.console.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0


def _text(event: dict[str, object], options: Options) -> str:
    if options.template is not None:
        return template_text(options.template, event)
    if options.json:
        # One a line, so that programs can take them one by one.
        return json.dumps(event, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    names = ("Index", "Topic", "Type", "Namespace", "Key")
    return "  ".join(str(event[name]) for name in names if event.get(name))


COMMAND = Command(
    path="event stream",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Shows what changes in the cluster, one event a line: its index, topic, type, namespace and key.
        With -json each line is the whole event, with -t what the template makes of it. Ends with ctrl+c.

        To follow one job and its allocations:

          $ yurt event stream -topic Job:web -topic Allocation:web

        If ACLs are enabled, this command requires the rights to read what the topics name, such as the
        'read-job' capability for jobs, allocations, deployments and evaluations.
    """,
)
