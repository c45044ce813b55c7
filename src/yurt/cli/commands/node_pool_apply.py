"""`yurt node pool apply`: create or change a node pool."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.spec_file import block, parse_spec, read_text, refuse_unknown, text_map
from yurt.sdk import node_pools

WHAT = "node pool specification"
KEYS = frozenset({"description", "meta", "scheduler_config", "node_identity_ttl"})
SCHEDULING_KEYS = frozenset({"scheduler_algorithm", "memory_oversubscription_enabled"})


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node pool apply`."""

    json: Annotated[bool, Flag("json", "Parse the input as JSON.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Apply node pools."""
    path = one_argument(arguments, "<input>")
    text = read_text(session, path, WHAT)
    for pool in _from_json(text) if options.json else _from_hcl(text, path):
        with failing_as(f'Error applying node pool "{pool["Name"]}"'):
            node_pools.write(session.client, pool)
        session.console.output(f'Successfully applied node pool "{pool["Name"]}"!')
    return 0


def _from_json(text: str) -> list[dict[str, Any]]:
    try:
        pool = json.loads(text)
    except ValueError as error:
        raise CommandError(f"Error parsing {WHAT}: {error}") from error
    if not isinstance(pool, dict) or not pool.get("Name"):
        raise CommandError(f"Error parsing {WHAT}: it must be an object with a Name")
    return [pool]


def _from_hcl(text: str, path: str) -> list[dict[str, Any]]:
    body = parse_spec(text, path, WHAT)
    refuse_unknown(body, frozenset({"node_pool"}), WHAT)
    named = block(body, "node_pool")
    if not named:
        raise CommandError(f'Error parsing {WHAT}: write it as node_pool "NAME" {{ ... }}')
    return [_pool(name, block(named, name) or {}) for name in named]


def _pool(name: str, body: dict[str, Any]) -> dict[str, Any]:
    refuse_unknown(body, KEYS, WHAT)
    pool: dict[str, Any] = {"Name": name, "Description": body.get("description", "")}
    meta = text_map(body, "meta")
    if meta is not None:
        pool["Meta"] = meta
    if "node_identity_ttl" in body:
        pool["NodeIdentityTTL"] = body["node_identity_ttl"]
    scheduling = block(body, "scheduler_config")
    if scheduling is not None:
        refuse_unknown(scheduling, SCHEDULING_KEYS, WHAT)
        pool["SchedulerConfiguration"] = {
            "SchedulerAlgorithm": scheduling.get("scheduler_algorithm", ""),
            "MemoryOversubscriptionEnabled": scheduling.get("memory_oversubscription_enabled"),
        }
    return pool


COMMAND = Command(
    path="node pool apply",
    options=Options,
    run=run,
    usage="[options] <input>",
    description="""
        Apply is used to create or update a node pool. The specification is read from stdin by specifying
        "-", otherwise a path is expected.

        If ACLs are enabled, this command requires a token with the 'write' capability in a 'node_pool'
        policy that matches the node pool being targeted.
    """,
)
