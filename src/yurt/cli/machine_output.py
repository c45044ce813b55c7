"""`-json` and `-t`: answers for programs."""

import json
from typing import Any

from yurt.cli.console import Console
from yurt.cli.errors import CommandError
from yurt.cli.options import FormatOptions

INDENT = 4


def wants_machine_output(options: FormatOptions) -> bool:
    """Whether JSON or a template was asked for. Raises `CommandError` for both at once."""
    if options.json and options.template is not None:
        raise CommandError("Both json and template formatting are not allowed")
    return options.json or options.template is not None


def show_record(console: Console, options: FormatOptions, body: bytes) -> None:
    """Print the answer `body` as JSON, or what the template makes of it."""
    show_value(console, options, json.loads(body))


def show_value(console: Console, options: FormatOptions, value: object) -> None:
    """Print a value of decoded JSON in the format that was asked for."""
    if options.template is None:
        console.output(json_text(value))
    else:
        console.output(template_text(options.template, value))


def template_text(template: str, value: object) -> str:
    """Run a template. Raises `CommandError` for a template that does not fit."""
    from yurt.cli.go_template import TemplateError, render  # noqa: PLC0415 # only where there is one

    try:
        return render(template, value)
    except TemplateError as error:
        raise CommandError(f"Error formatting the data using the template: {error}") from error


def json_text(value: object) -> str:
    """Write JSON with sorted keys."""
    return json.dumps(value, indent=INDENT, sort_keys=True, ensure_ascii=False)


def with_members(value: Any, members: dict[str, object]) -> Any:  # noqa: ANN401 # JSON in, JSON out
    """Add members that an answer leaves out when they are empty, so that programs can count on them."""
    if isinstance(value, list):
        return [with_members(item, members) for item in value]
    return {**members, **value} if isinstance(value, dict) else value
