"""Between the model's names in snake_case and the names of the wire."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from yurt.model.decode import Member, Plan
from yurt.model.durations import parse_duration
from yurt.model.go_json import Json

# People know these blocks by their names in job files.
_JOB_FILE_NAMES = {"restart": "restartpolicy", "reschedule": "reschedulepolicy"}


def wire_spelling(value: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Give a snake_case object the wire's names; members that the wire does not know are dropped.

    Durations may be texts such as "30s", which job files have. The kinds of the values are not checked:
    folding does that.
    """
    names = _names(plan)
    out: dict[str, Any] = {}
    for key, item in value.items():
        member = names.get(key.replace("_", "").casefold())
        if member is not None:
            out[member.name] = _spelled(item, member)
    return out


def _spelled(item: Json, member: Member) -> Json:
    plan = member.nested
    if member.is_duration and type(item) is str:
        with contextlib.suppress(ValueError):  # what is none stays, and folding says so
            return parse_duration(item)
    if plan is None:
        return item
    if type(item) is list:
        return [wire_spelling(each, plan) if type(each) is dict else each for each in item]
    if type(item) is not dict:
        return item
    if member.keyed:
        return {key: wire_spelling(each, plan) if type(each) is dict else each for key, each in item.items()}
    return wire_spelling(item, plan)


@cache
def _names(plan: Plan) -> dict[str, Member]:
    names = {name.casefold(): member for name, member in plan.members.items()}
    aliases = {alias: names[name] for alias, name in _JOB_FILE_NAMES.items() if name in names}
    return {**names, **aliases}


def snake_case(value: Any) -> Json:  # noqa: ANN401 - any part of the model
    """A part of the model as JSON with the model's own names; members that are None are left out."""
    match value:
        case msgspec.Struct():
            return {
                name: snake_case(item)
                for name in value.__struct_fields__
                if (item := getattr(value, name)) is not None
            }
        case tuple() | list():
            return [snake_case(item) for item in value]
        case dict():
            return {key: snake_case(item) for key, item in value.items()}
        case _:
            return value
