"""Checks one file's entries against the schema and gives the values they set."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from yurt.config.blocks.agent import FileConfig
from yurt.config.blocks.base import Block
from yurt.config.problems import Location, Problem
from yurt.config.scalars import WrongValue, read_scalar, read_text, shown
from yurt.config.schema import KeySpec, Kind, keys_of, spec_at
from yurt.jobspec.hcl import LiteralBody, LiteralValue
from yurt.jobspec.hcl.diagnostics import closest_name

Path: TypeAlias = tuple[str, ...]


class Given(msgspec.Struct, frozen=True):
    """A value that a file or a flag sets. None stands for a block that is there, whatever is in it."""

    value: Any
    location: Location


class Layer(msgspec.Struct, frozen=True):
    """What one file or the flags say: values by path, keys without effect, and what is wrong."""

    values: dict[Path, Given] = msgspec.field(default_factory=dict)
    unserved: dict[str, Location] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)


def decode(body: LiteralBody, file: str) -> Layer:
    """Read what `file` says; whatever is wrong is in the layer's problems."""
    decoder = _Decoder(file)
    decoder.block(FileConfig, body, ())
    return decoder.layer


class _Decoder:
    def __init__(self, file: str) -> None:
        self._file = file
        self.layer = Layer()

    def block(self, block: type[Block], body: LiteralBody, path: Path) -> None:
        known = keys_of(block)
        for key, value in body.items():
            line, here = body.lines[key], (*path, key)
            alias = block.ALIASES.get(key)
            if alias:
                top, base = (FileConfig, ()) if alias.startswith(".") else (block, path)
                steps = tuple(alias.removeprefix(".").split("."))
                self._key(spec_at(top, steps), value, (*base, *steps), line)
                if steps[0] in top.UNSERVED:
                    self._note_unserved(here, line)
            elif key in known:
                self._key(known[key], value, here, line)
            elif key not in block.UNSERVED:
                self._unknown(here, line, [*known, *block.ALIASES, *block.UNSERVED])
            if key in block.UNSERVED:
                self._note_unserved(here, line)
                self._check_unserved(value, here, block.UNSERVED[key])

    def _note_unserved(self, path: Path, line: int) -> None:
        self.layer.unserved.setdefault(".".join(path), Location(self._file, line))

    def _check_unserved(self, value: LiteralValue, path: Path, known: tuple[str, ...]) -> None:
        for body in _bodies(value) if known else ():
            for key in body:
                if key not in known:
                    self._unknown((*path, key), body.lines[key], known)

    def _unknown(self, path: Path, line: int, known: Iterable[str]) -> None:
        key = path[-1]
        meant = closest_name(key, known)
        homes = [
            name
            for name, spec in keys_of(FileConfig).items()
            if spec.kind is Kind.BLOCK and spec.block and key in keys_of(spec.block)
        ]
        if meant:
            hint = f'did you mean "{meant}"?'
        elif homes and len(path) == 1:
            hint = f"it belongs in {' or '.join(homes)} {{ }}"
        else:
            hint = f"known here are {', '.join(sorted(known))}"
        self._problem(f"unknown key; {hint}", path, line)

    def _key(self, spec: KeySpec, value: LiteralValue, path: Path, line: int) -> None:
        match spec.kind:
            case Kind.BLOCK:
                self._blocks(spec, value, path, line)
            case Kind.NAMED_BLOCKS:
                for names in self._inner(spec, value, path, line):
                    for name, inner in names.items():
                        self._blocks(spec, inner, (*path, name), names.lines[name])
            case Kind.TEXT_MAP:
                self._text_map(spec, value, path, line)
            case Kind.FREE_MAP:
                for body in self._inner(spec, value, path, line):
                    self._set(path, _plain(body), line)
            case Kind.TEXTS:
                self._texts(spec, value, path, line)
            case _:
                try:
                    self._set(path, read_scalar(spec, value), line)
                except WrongValue as error:
                    self._problem(str(error), path, line)

    def _blocks(self, spec: KeySpec, value: LiteralValue, path: Path, line: int) -> None:
        assert spec.block is not None
        for body in self._inner(spec, value, path, line):
            self._set(path, None, line)
            self.block(spec.block, body, path)

    def _text_map(self, spec: KeySpec, value: LiteralValue, path: Path, line: int) -> None:
        texts: dict[str, str] = {}
        for body in self._inner(spec, value, path, line):
            for key, text in body.items():
                try:
                    texts[key] = read_text(text, bool_too=True)
                except WrongValue as error:
                    self._problem(str(error), (*path, key), body.lines[key])
        self._set(path, texts, line)

    def _texts(self, spec: KeySpec, value: LiteralValue, path: Path, line: int) -> None:
        try:
            # The older HCL takes a lone string for a list of one.
            items = value if isinstance(value, list) else [value]
            self._set(path, tuple(read_text(item, spec.choices) for item in items), line)
        except WrongValue as error:
            self._problem(str(error), path, line)

    def _inner(self, spec: KeySpec, value: LiteralValue, path: Path, line: int) -> list[LiteralBody]:
        """The blocks that `value` is made of; anything else is a problem."""
        bodies = _bodies(value)
        if not bodies and value != []:
            self._problem(f"expected {spec.kind.value}, got {shown(value)}", path, line)
        return bodies

    def _set(self, path: Path, value: object, line: int) -> None:
        before = self.layer.values.get(path)
        # A block that comes twice in a file says as much as one that comes once in each of two files.
        value = value if before is None else combined(before.value, value)
        self.layer.values[path] = Given(value, Location(self._file, line))

    def _problem(self, text: str, path: Path, line: int) -> None:
        self.layer.problems.append(
            Problem(text=text, key=".".join(path), location=Location(self._file, line))
        )


def combined(before: object, after: object) -> object:
    """Both values of one key: lists add up without repeats, maps merge, otherwise `after` wins."""
    if isinstance(before, tuple) and isinstance(after, tuple):
        return tuple(dict.fromkeys([*before, *after]))
    if isinstance(before, dict) and isinstance(after, dict):
        return merged_maps(before, after)
    return after


def merged_maps(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both maps in one; `second` wins, and maps inside are merged likewise."""
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = merged_maps(before, value)  # noqa: PLW2901 (the value to keep)
        merged[key] = value
    return merged


def _bodies(value: LiteralValue) -> list[LiteralBody]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, LiteralBody)]


def _plain(body: LiteralBody) -> dict[str, Any]:
    """Free-form content as plain values; a block is a map, or a list of maps when it comes more than once."""
    return {key: _plain_value(value) for key, value in body.items()}


def _plain_value(value: LiteralValue) -> object:
    bodies = _bodies(value)
    if bodies:
        return _plain(bodies[0]) if len(bodies) == 1 else [_plain(body) for body in bodies]
    return value
