"""`yurt var put`: write a variable."""

import json
import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.options import Flag
from yurt.cli.spec_file import block, parse_spec, read_text
from yurt.cli.variable_view import (
    VariableOptions,
    chosen_format,
    conflict_text,
    refuse_wildcard,
    variable_text,
)
from yurt.sdk import variables
from yurt.sdk.variables import Conflict

FORMATS = ("none", "table", "json", "hcl", "go-template")
WHAT = "variable specification"
# Keys of this form can be used with dots in templates.
PLAIN_KEY = re.compile(r"[A-Za-z0-9_]")


class Options(VariableOptions, frozen=True, kw_only=True):
    """The flags of `var put`."""

    check_index: Annotated[
        int | None,
        Flag(
            "check-index",
            "Write only if the server-side index matches; 0 means that the variable must not exist.",
            "<n>",
            form="index",
        ),
    ] = None
    force: Annotated[bool, Flag("force", "Write whatever the server-side index is.")] = False
    in_format: Annotated[
        str, Flag("in", "Format of the specification: hcl or json. Default = json", "<format>")
    ] = "json"
    out: Annotated[
        str | None,
        Flag(
            "out",
            "Format to render the written variable in: none, table, json, hcl or go-template. "
            "Default = none on a terminal, json otherwise",
            "<format>",
        ),
    ] = None
    verbose: Annotated[bool, Flag("verbose", "Say more on stderr.")] = False
    ui: Annotated[bool, Flag("ui", "Open the variable's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Write a variable."""
    if not arguments:
        raise UsageError("Not enough arguments (expected >1, got 0)")
    refuse_wildcard(session)
    default = "none" if session.console.is_terminal else "json"
    out, template = chosen_format(options, default=default, known=FORMATS)
    variable = build_variable(session, options.in_format, arguments)
    path = variable["Path"]
    params: dict[str, int | str] = {}
    check_index = options.check_index if options.check_index is not None else variable.get("ModifyIndex", 0)
    if not options.force:
        params["cas"] = check_index
    client = session.client
    if variable.get("Namespace"):
        client = client.within(namespace=variable["Namespace"])
    _warn_about_keys(session, variable["Items"])
    try:
        with failing_as("Error creating variable"):
            written = variables.write(client, path, variable, **params).value
    except CommandError as error:
        if isinstance(error.__cause__, Conflict):
            raise CommandError(conflict_text(check_index, error.__cause__.current)) from error
        raise
    if out == "none":
        session.console.output(f'Created variable "{written.path}" with modify index {written.modify_index}')
    else:
        session.console.output(variable_text(session, written, out, template))
    show_hint(
        session,
        "View variable details in the Web UI",
        f"variables/var/{written.path}@{written.namespace}",
        opens=options.ui,
    )
    return 0


def build_variable(session: Session, in_format: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Make the variable that arguments describe: a path or a specification, then `key=value` pairs."""
    first, *rest = arguments
    variable: dict[str, Any] = {}
    if first == "-" or first.startswith("@"):
        source = "-" if first == "-" else first[1:]
        variable = _read_spec(session, source, in_format)
        if not variable.get("Path"):
            raise CommandError("Missing path in specification; name it as the first argument")
    else:
        if rest and "=" not in rest[0]:
            variable = _read_spec(session, rest.pop(0).removeprefix("@"), in_format)
        _move(variable, path=first, namespace=session.client.namespace)
    items = dict(variable.get("Items") or {})
    for pair in rest:
        _apply(session, items, pair)
    if not items:
        raise UsageError("Must supply data")
    return {**variable, "Items": items}


def _move(variable: dict[str, Any], *, path: str, namespace: str) -> None:
    """Give a specification another place; a copy does not inherit the indexes."""
    is_copy = variable.get("Path", path) != path or (
        namespace and variable.get("Namespace", namespace) != namespace
    )
    if is_copy:
        for name in ("CreateIndex", "ModifyIndex", "CreateTime", "ModifyTime"):
            variable.pop(name, None)
    variable["Path"] = path
    if namespace:
        variable["Namespace"] = namespace


def _read_spec(session: Session, path: str, in_format: str) -> dict[str, Any]:
    text = read_text(session, path, WHAT)
    if in_format == "hcl" or (in_format == "json" and path.endswith(".hcl")):
        body = parse_spec(text, os.path.basename(path), WHAT)
        names = {
            "namespace": "Namespace",
            "path": "Path",
            "create_index": "CreateIndex",
            "modify_index": "ModifyIndex",
            "create_time": "CreateTime",
            "modify_time": "ModifyTime",
        }
        variable = {names[key]: value for key, value in body.items() if key in names}
        variable["Items"] = {key: str(value) for key, value in (block(body, "items") or {}).items()}
        return variable
    if in_format != "json":
        raise CommandError(f'Invalid value for "-in": {in_format!r}; use hcl or json')
    try:
        record = json.loads(text)
    except ValueError as error:
        raise CommandError(f"Error parsing {WHAT}: {error}") from error
    if not isinstance(record, dict):
        raise CommandError(f"Error parsing {WHAT}: it must be an object")
    return record


def _apply(session: Session, items: dict[str, str], pair: str) -> None:
    key, equals, value = pair.partition("=")
    if not equals or not key:
        raise CommandError(f"Failed to parse data: {pair!r} is no key=value pair")
    if not value:
        items.pop(key, None)
    elif value == "-":
        items[key] = session.console.stdin.read()
    elif value.startswith("@"):
        items[key] = read_text(session, value[1:], "item value")
    else:
        items[key] = value[1:] if value.startswith("\\@") else value


def _warn_about_keys(session: Session, items: dict[str, str]) -> None:
    lines = []
    for key in sorted(items):
        odd = sorted({character for character in key if not PLAIN_KEY.match(character)})
        if odd:
            listed = ", ".join(json.dumps(character) for character in odd)
            lines.append(
                f"* {json.dumps(key)} contains characters [{listed}] that require the 'index' function for "
                "direct access in templates"
            )
    if lines:
        count = "1 warning" if len(lines) == 1 else f"{len(lines)} warnings"
        session.console.warn("Variable Warnings:\n" + f"{count}:\n\n" + "\n".join(lines) + "\n")


COMMAND = Command(
    path="var put",
    options=Options,
    run=run,
    usage="[options] <path> [<spec file reference>] [<key>=<value>]...",
    description="""
        The 'var put' command is used to create or update an existing variable. Variable metadata and
        items can be supplied using a variable specification, by using command arguments, or by a
        combination of the two techniques.

        An entire variable specification can be provided to the command via standard input (stdin) by
        setting the first argument to "-" or from a file by using an @-prefixed path to a variable
        specification file. Values may be read from files with key=@path, or from stdin with key=-.

        If ACLs are enabled, this command requires a token with the 'variables:write' capability for the
        destination namespace and path.
    """,
)
