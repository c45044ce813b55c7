"""How variables are shown: as a table, JSON, HCL, or by a template."""

import json
import textwrap
from typing import Annotated, Any

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.cli.layout import key_list
from yurt.cli.machine_output import template_text
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.times import absolute
from yurt.sdk.variables import Variable

LINE_WIDTH = 80
WILDCARD = 'The wildcard namespace ("*") is not valid for this command.'


class VariableOptions(GeneralOptions, frozen=True, kw_only=True):
    """The flags for formats that commands about variables share; each declares its own `out`."""

    out: Annotated[str | None, Flag("out", "Format to render the result in.", "<format>")] = None
    template: Annotated[str | None, Flag("template", "Template for -out go-template.", "<template>")] = None
    json: Annotated[bool, Flag("json", "Short for -out json.")] = False
    short_template: Annotated[
        str | None, Flag("t", "Short for -out go-template -template <template>.", "<template>")
    ] = None


def chosen_format(options: VariableOptions, *, default: str, known: tuple[str, ...]) -> tuple[str, str]:
    """Give the format and the template that flags ask for. Raises `CommandError` if they do not agree."""
    asked = [options.out is not None, options.json, options.short_template is not None]
    if sum(asked) > 1:
        raise CommandError("Only one of -out, -json and -t is allowed")
    out = options.out or default
    template = options.template or ""
    if options.json:
        out = "json"
    elif options.short_template is not None:
        out, template = "go-template", options.short_template
    check_format(out, template, known)
    return out, template


def refuse_wildcard(session: Session) -> None:
    """Raise `CommandError` when no single namespace is meant."""
    if session.client.namespace == "*":
        raise CommandError(WILDCARD)


def check_format(out: str, template: str, known: tuple[str, ...]) -> None:
    """Raise `CommandError` for an unknown format, or a template without the format that uses it."""
    if out not in known:
        raise CommandError(f'Invalid value for "-out": {out!r}; use one of {", ".join(known)}')
    if out == "go-template" and not template:
        raise CommandError("A template must be supplied using '-template' when using go-template formatting")
    if out != "go-template" and template:
        raise CommandError("The '-template' flag is only valid when using 'go-template' formatting")


def variable_text(session: Session, variable: Variable, out: str, template: str) -> str:
    """Write a variable in the format `out`."""
    record = variable_record(variable)
    if out == "json":
        return json.dumps(record, indent=2, ensure_ascii=False)
    if out == "hcl":
        return _hcl(variable)
    if out == "go-template":
        return template_text(template, record)
    return _table(session, variable)


def variable_record(variable: Variable) -> dict[str, Any]:
    """A variable as JSON, its items sorted."""
    record: dict[str, Any] = {
        "Namespace": variable.namespace,
        "Path": variable.path,
        "CreateIndex": variable.create_index,
        "ModifyIndex": variable.modify_index,
        "CreateTime": variable.create_time,
        "ModifyTime": variable.modify_time,
        "Items": dict(sorted(variable.items.items())),
    }
    if variable.lock is not None:
        record["Lock"] = {
            "ID": variable.lock.id,
            "TTL": variable.lock.ttl,
            "LockDelay": variable.lock.lock_delay,
        }
    return record


def _table(session: Session, variable: Variable) -> str:
    pairs: list[tuple[str, object]] = [
        ("Namespace", variable.namespace),
        ("Path", variable.path),
        ("Create Time", absolute(variable.create_time)),
    ]
    if variable.modify_time != variable.create_time:
        pairs.append(("Modify Time", absolute(variable.modify_time)))
    pairs.append(("Check Index", variable.modify_index))
    session.console.output(key_list(pairs))
    session.console.heading("Items")
    return key_list(sorted(variable.items.items()))


def _hcl(variable: Variable) -> str:
    width = max((len(_hcl_key(key)) for key in variable.items), default=0)
    items = "\n".join(
        f"  {_hcl_key(key).ljust(width)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in sorted(variable.items.items())
    )
    return (
        f'\nnamespace    = "{variable.namespace}"\n'
        f'path         = "{variable.path}"\n'
        f"create_index = {variable.create_index}  # Set by server\n"
        f"modify_index = {variable.modify_index}  # Set by server; consulted for check-and-set\n"
        f"create_time  = {variable.create_time}   # Set by server\n"
        f"modify_time  = {variable.modify_time}   # Set by server\n\n"
        f"items = {{\n{items}\n}}\n"
    )


def _hcl_key(key: str) -> str:
    is_plain = key.replace("_", "a").replace("-", "a").isalnum() and not key[:1].isdigit()
    return key if is_plain else json.dumps(key, ensure_ascii=False)


def conflict_text(check_index: int, current: Variable) -> str:
    """Explain a failed check-and-set."""
    text = (
        f"Your provided check-index ({check_index}) does not match the server-side index "
        f"({current.modify_index}). The server-side item was last updated on "
        f"{absolute(current.modify_time)}. If you are sure you want to perform this operation, add the "
        f"-force or -check-index={current.modify_index} flag before the positional arguments."
    )
    wrapped = textwrap.indent(textwrap.fill(text, LINE_WIDTH, break_on_hyphens=False), "    ")
    return f"\nCheck-and-Set conflict\n\n{wrapped}\n"
