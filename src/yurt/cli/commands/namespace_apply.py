"""`yurt namespace apply`: create or change a namespace."""

import json
import os
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.spec_file import block, parse_spec, read_text, refuse_unknown, text_map
from yurt.sdk import ApiError, namespaces

KEYS = frozenset(
    {
        "name",
        "description",
        "quota",
        "meta",
        "capabilities",
        "node_pool_config",
        "vault",
        "consul",
    }
)
CAPABILITIES = {
    "enabled_task_drivers": "EnabledTaskDrivers",
    "disabled_task_drivers": "DisabledTaskDrivers",
    "enabled_network_modes": "EnabledNetworkModes",
    "disabled_network_modes": "DisabledNetworkModes",
}
CHOICES = {"default": "Default", "allowed": "Allowed", "denied": "Denied"}


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `namespace apply`."""

    quota: Annotated[str | None, Flag("quota", "The quota to attach to the namespace.", "<quota>")] = None
    description: Annotated[
        str | None, Flag("description", "An optional human readable description.", "<description>")
    ] = None
    json: Annotated[bool, Flag("json", "Parse the input as JSON.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Apply a namespace given by a file or by its name."""
    source = one_argument(arguments, "<input>")
    is_file = source == "-" or os.path.isfile(source)
    namespace = _from_file(session, source, is_json=options.json) if is_file else _existing(session, source)
    if options.description is not None:
        namespace["Description"] = options.description
    if options.quota is not None:
        namespace["Quota"] = options.quota
    with failing_as("Error applying namespace specification"):
        namespaces.write(session.client, namespace)
    session.console.output(f'Successfully applied namespace "{namespace["Name"]}"!')
    return 0


def _existing(session: Session, name: str) -> dict[str, Any]:
    """What there is under a name already, so that flags change only what they name."""
    try:
        with failing_as("Error looking up namespace"):
            found: dict[str, Any] = json.loads(namespaces.read(session.client, name).body)
    except CommandError as error:
        if isinstance(error.__cause__, ApiError) and error.__cause__.status == 404:
            return {"Name": name}
        raise
    return found


def _from_file(session: Session, path: str, *, is_json: bool) -> dict[str, Any]:
    what = "namespace specification"
    text = read_text(session, path, what)
    if is_json:
        try:
            namespace = json.loads(text)
        except ValueError as error:
            raise CommandError(f"Error parsing {what}: {error}") from error
        if not isinstance(namespace, dict):
            raise CommandError(f"Error parsing {what}: it must be an object")
        return namespace
    body = parse_spec(text, path, what)
    refuse_unknown(body, KEYS, what)
    if not body.get("name"):
        raise CommandError(f"Error parsing {what}: name is required")
    spec: dict[str, Any] = {
        "Name": body["name"],
        "Description": body.get("description", ""),
        "Quota": body.get("quota", ""),
        "Meta": text_map(body, "meta"),
        "Capabilities": _renamed(block(body, "capabilities"), CAPABILITIES),
        "NodePoolConfiguration": _renamed(block(body, "node_pool_config"), CHOICES),
        "VaultConfiguration": _renamed(block(body, "vault"), CHOICES),
        "ConsulConfiguration": _renamed(block(body, "consul"), CHOICES),
    }
    return {key: value for key, value in spec.items() if value is not None}


def _renamed(body: dict[str, Any] | None, names: dict[str, str]) -> dict[str, Any] | None:
    if body is None:
        return None
    refuse_unknown(body, frozenset(names), "namespace specification")
    return {names[key]: value for key, value in body.items()}


COMMAND = Command(
    path="namespace apply",
    options=Options,
    run=run,
    usage="[options] <input>",
    description="""
        Apply is used to create or update a namespace. The specification file will be read from stdin by
        specifying "-", otherwise a path to the file is expected. Instead of a file, you may instead pass
        the namespace name to create or update as the only argument.

        If ACLs are enabled, this command requires a management ACL token.
    """,
)
