"""YAML as the language's functions write and read it.

What is written: block style, keys sorted, every key and string in quotes, text with line breaks as a block.
"""

from fractions import Fraction

from yurt.jobspec.hcl.function import CallError
from yurt.jobspec.hcl.functions.json_text import json_string
from yurt.jobspec.hcl.functions.yaml_reader import YAMLError, yaml_value
from yurt.jobspec.hcl.numbers import format_number
from yurt.jobspec.hcl.values import Value, elements, members

__all__ = ["YAMLError", "yaml_text", "yaml_value"]


def yaml_text(value: Value) -> str:
    """`value` as a YAML document that ends with a line break."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Value) -> list[str]:
    items = elements(value)
    if items:
        return [line for item in items for line in _with_prefix("- ", _lines(item))]
    named = members(value)
    if named:
        return [line for key in sorted(named) for line in _entry(key, named[key])]
    if items is not None or named is not None:
        return ["[]" if items is not None else "{}"]
    return _scalar(value)


def _entry(key: str, value: Value) -> list[str]:
    head = f"{_string(key)}:"
    lines = _lines(value)
    if elements(value):
        return [head, *lines]
    if members(value):
        return [head, *(f"  {line}" for line in lines)]
    return [f"{head} {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])]


def _with_prefix(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *("  " + line if line else "" for line in lines[1:])]


def _scalar(value: Value) -> list[str]:
    if isinstance(value, str):
        return _block(value) if _fits_block(value) else [_string(value)]
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    assert isinstance(value, int | Fraction | float), "unknown values never reach functions"
    text = format_number(value)
    if text.endswith("Inf"):
        raise CallError("cannot serialize infinity as YAML")
    return [text]


def _fits_block(text: str) -> bool:
    return (
        "\n" in text
        and text.strip() != ""
        and text.replace("\n", "").replace("\t", "").isprintable()
        and text[0] != " "
    )


def _block(text: str) -> list[str]:
    body = text.removesuffix("\n")
    chomping = "-" if body == text else "+" if body.endswith("\n") else ""
    return [f"|{chomping}", *body.split("\n")]


def _string(text: str) -> str:
    """A quoted string; YAML has JSON's escapes, and no need to hide HTML."""
    quoted = json_string(text)
    return quoted.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")
