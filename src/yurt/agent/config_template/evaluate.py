"""Evaluate the `${…}` expressions in a task's driver config."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, assert_never

import msgspec

from yurt.agent.config_template.expressions import (
    Call,
    Constant,
    Expression,
    Index,
    InvalidExpression,
    ListOf,
    Reference,
    end_of_expression,
    parse_expression,
)
from yurt.agent.config_template.functions import FUNCTIONS, BadArguments, Value, call
from yurt.agent.task_env import TaskEnv

_OPEN, _ESCAPED_OPEN = "${", "$${"
_ENV = "env"
# A name this close to one that exists was probably meant to be it.
SUGGESTION_EDITS_MAX = 2

Scope: TypeAlias = Callable[[], Mapping[str, Value]]
"""All names by their first part; made when the first expression asks, since most configs have none."""


class _Problem(Exception):
    """One thing wrong with a config, in words for its author."""


def evaluate_config(config: Mapping[str, Any], env: TaskEnv) -> tuple[dict[str, Any], list[str]]:
    """Replace every expression in `config` by its value; also give what was wrong, in order.

    An expression that is all of a string keeps the type of its value. With problems the values must
    not be used.
    """
    scope = functools.cache(functools.partial(_scope, env))
    problems: list[str] = []
    return {key: _evaluate(value, scope, problems) for key, value in config.items()}, problems


def _evaluate(value: Any, scope: Scope, problems: list[str]) -> Any:  # noqa: ANN401 - config is free-form
    match value:
        case str():
            try:
                return _template(value, scope)
            except _Problem as problem:
                problems.append(str(problem))
                return value
            except InvalidExpression as error:
                problems.append(f"Invalid expression: in {value!r}: {error}.")
                return value
        case list() | tuple():
            return [_evaluate(item, scope, problems) for item in value]
        case dict():
            return {key: _evaluate(item, scope, problems) for key, item in value.items()}
        case _:
            return value


def _template(text: str, scope: Scope) -> Value:
    if _OPEN not in text:
        return text
    pieces: list[Value] = []
    at = 0
    while (found := text.find(_OPEN, at)) >= 0:
        if text.startswith(_ESCAPED_OPEN, found - 1) and found > at:
            pieces.append(text[at : found - 1] + _OPEN)
            at = found + len(_OPEN)
            continue
        if found > at:
            pieces.append(text[at:found])
        end = end_of_expression(text, found + len(_OPEN))
        pieces.append(_value(parse_expression(text[found + len(_OPEN) : end]), scope))
        at = end + 1
    if at < len(text):
        pieces.append(text[at:])
    if len(pieces) == 1:
        return pieces[0]
    return "".join(map(_as_text, pieces))


def _value(expression: Expression, scope: Scope) -> Value:
    match expression:
        case Constant(value=value):
            return value
        case Reference(parts=parts):
            return _resolve(parts, scope)
        case Index(of=of, key=key):
            return _index(_value(of, scope), _value(key, scope))
        case ListOf(items=items):
            return [_value(item, scope) for item in items]
        case Call(name=name, arguments=arguments):
            if name not in FUNCTIONS:
                raise _Problem(
                    f'Call to unknown function: There is no function named "{name}".{_hint(name, FUNCTIONS)}'
                )
            try:
                return call(name, [_value(argument, scope) for argument in arguments])
            except BadArguments as error:
                raise _Problem(
                    f'Error in function call: Call to function "{name}" failed: {error}.'
                ) from error
        case _:
            assert_never(expression)


def _resolve(parts: tuple[str, ...], scope: Scope) -> Value:
    root, names = parts[0], scope()
    if root not in names:
        raise _Problem(f'Unknown variable: There is no variable named "{root}".{_hint(root, names)}')
    value = names[root]
    for part in parts[1:]:
        if not isinstance(value, dict) or part not in value:
            raise _Problem(f'Unsupported attribute: This object does not have an attribute named "{part}".')
        value = value[part]
    return value


def _index(collection: Value, key: Value) -> Value:
    if isinstance(collection, dict) and key in collection:
        return collection[str(key)]
    if isinstance(collection, list) and isinstance(key, int) and 0 <= key < len(collection):
        return collection[key]
    raise _Problem("Invalid index: The given key does not identify an element in this collection value.")


def _as_text(value: Value) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:g}" if isinstance(value, float) else str(value)
        case _:
            shown = msgspec.json.encode(value).decode()
            raise _Problem(
                f"Invalid template interpolation value: Cannot include the given value {shown} in a "
                "string template: string required."
            )


def _scope(env: TaskEnv) -> dict[str, Value]:
    """All names as nested objects; where a dotted name is also the prefix of others, the object wins."""
    scope: dict[str, Value] = {}
    for flat in (env.variables, env.node_values):
        for name in sorted(flat):
            _put(scope, name.split("."), flat[name])
    scope[_ENV] = dict(env.variables)
    return scope


def _put(scope: dict[str, Value], path: list[str], value: str) -> None:
    for part in path[:-1]:
        inner = scope.get(part)
        if not isinstance(inner, dict):
            inner = scope[part] = {}
        scope = inner
    if not isinstance(scope.get(path[-1]), dict):
        scope[path[-1]] = value


def _hint(name: str, known: Mapping[str, object]) -> str:
    for candidate in sorted(known):
        if abs(len(candidate) - len(name)) <= SUGGESTION_EDITS_MAX and _is_close(name, candidate):
            return f' Did you mean "{candidate}"?'
    return ""


def _is_close(a: str, b: str) -> bool:
    """Whether at most SUGGESTION_EDITS_MAX insertions, deletions and replacements lead from `a` to `b`."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1] <= SUGGESTION_EDITS_MAX
