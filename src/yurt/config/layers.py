"""Puts what several files and flags say together, and makes blocks of it."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from yurt.config.blocks.base import Block
from yurt.config.decode import Given, Path, combined
from yurt.config.problems import Problem
from yurt.config.schema import KeySpec, Kind, keys_of

B = TypeVar("B", bound=Block)


def merge(layers: Iterable[Mapping[Path, Given]]) -> dict[Path, Given]:
    """One set of values: later ones win, lists add up without repeats, maps merge by key."""
    merged: dict[Path, Given] = {}
    for layer in layers:
        for path, given in layer.items():
            before = merged.get(path)
            merged[path] = (
                given if before is None else Given(combined(before.value, given.value), given.location)
            )
    return merged


def build(block: type[B], values: Mapping[Path, Given], problems: list[Problem], path: Path = ()) -> B:
    """Make a block of the values at `path` and below, with defaults for the rest.

    A missing key that has no default is added to `problems` and left empty.
    """
    given: dict[str, Any] = {}
    for spec in keys_of(block).values():
        here = (*path, spec.key)
        if spec.kind is Kind.NAMED_BLOCKS:
            given[spec.field] = _named(spec, values, problems, here)
        elif spec.kind is Kind.BLOCK:
            if here in values or not spec.is_optional:
                assert spec.block is not None
                given[spec.field] = build(spec.block, values, problems, here)
        elif here in values:
            given[spec.field] = values[here].value
        elif spec.is_required:
            location = values[path].location if path in values else None
            problems.append(
                Problem(
                    text=f"is missing; set it to {spec.kind.value}", key=".".join(here), location=location
                )
            )
            given[spec.field] = _EMPTY[spec.kind]
    return block(**given)


_EMPTY: dict[Kind, Any] = {Kind.TEXT: "", Kind.INT: 0, Kind.TEXTS: ()}


def _named(
    spec: KeySpec, values: Mapping[Path, Given], problems: list[Problem], path: Path
) -> dict[str, Block]:
    assert spec.block is not None
    depth = len(path)
    names = [p[depth] for p in values if len(p) == depth + 1 and p[:depth] == path]
    return {name: build(spec.block, values, problems, (*path, name)) for name in names}
