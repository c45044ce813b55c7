"""Blocks decoded into the API's JSON, by tables that say what each may hold."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from yurt.jobspec.fields import Field, Unsuitable
from yurt.jobspec.free_form import free_form
from yurt.jobspec.hcl.content import AnyBody, Schema, SchemaBlock, any_attributes, content, missing_item
from yurt.jobspec.hcl.diagnostics import Diagnostic, diagnostic_at
from yurt.jobspec.hcl.dynamic import DYNAMIC, ScopedBlock, expand
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.syntax import Attribute, Label, head_span

JSONObject: TypeAlias = dict[str, Any]
"""One object of the API's JSON. It is plain data on its way out: whoever needs it typed decodes it."""


class Nested(msgspec.Struct, frozen=True):
    """A block inside another one: its type and where its JSON goes.

    Exactly one of the following says what it holds: `spec` a table, `field` any attributes of one kind,
    neither of the two anything at all. `is_list` lets it occur many times.
    """

    name: str
    wire: str
    spec: "BlockSpec | None" = None
    field: Field | None = None
    is_list: bool = False


class BlockSpec:
    """What a block may hold and how that looks in JSON.

    `either` are maps that may be written as an attribute or as a block. `unset` has the members that no
    field or block fills. `finish` makes the block's JSON from its members and labels.
    """

    def __init__(
        self,
        *fields: Field,
        labels: tuple[str, ...] = (),
        blocks: tuple[Nested, ...] = (),
        either: tuple[Field, ...] = (),
        unset: JSONObject | None = None,
        finish: "Callable[[JSONObject, Reading], Any] | None" = None,
    ) -> None:
        self.labels = labels
        self.fields = {field.name: field for field in fields}
        self.blocks = {block.name: block for block in blocks}
        self.either = {field.name: field for field in either}
        self.required = tuple(field for field in fields if field.is_required)
        self.finish = finish
        self.unset: JSONObject = {
            **{field.wire: field.unset for field in (*fields, *either)},
            **{block.wire: None for block in blocks},
            **(unset or {}),
        }
        self.schema = Schema(
            frozenset({*self.fields, *self.either}),
            {
                **{block.name: block.spec.labels if block.spec else () for block in blocks},
                **{name: () for name in self.either},
                DYNAMIC: ("type",),
            },
        )


class Reading(msgspec.Struct, frozen=True):
    """A block being decoded: its labels, its body, and the evaluator that reports problems about it."""

    labels: tuple[Label, ...]
    body: AnyBody
    evaluator: Evaluator

    @property
    def label(self) -> str:
        """The first label's text."""
        return self.labels[0].text


def decode_block(spec: BlockSpec, reading: Reading, late: list[Diagnostic]) -> Any:  # noqa: ANN401 (JSON)
    """The JSON of one block. Problems go to its evaluator, those of free-form maps to `late`."""
    evaluator = reading.evaluator
    found = content(reading.body, spec.schema, evaluator.diagnostics)
    members = dict(spec.unset)
    attributes = found.attributes
    blocks = _expanded(found.blocks, spec, evaluator) if found.blocks else []
    if spec.either:
        blocks = _decode_either(spec, attributes, blocks, members, evaluator)
    for name, attribute in attributes.items():
        if name in spec.fields:
            _decode_attribute(spec.fields[name], attribute, members, evaluator)
    for field in spec.required:
        if field.name not in attributes:
            detail = f'The argument "{field.name}" is required, but no definition was found.'
            evaluator.diagnostics.append(missing_item(reading.body, "Missing required argument", detail))
    if blocks:
        _decode_blocks(spec, blocks, members, late)
    return members if spec.finish is None else spec.finish(members, reading)


def _expanded(found: list[SchemaBlock], spec: BlockSpec, evaluator: Evaluator) -> list[ScopedBlock]:
    blocks: list[ScopedBlock] = []
    for block in found:
        if block.type == DYNAMIC:
            blocks.extend(expand(block, spec.schema, evaluator))
        else:
            blocks.append(ScopedBlock(block, evaluator))
    return blocks


def _decode_attribute(
    field: Field,
    attribute: Attribute,
    members: JSONObject,
    evaluator: Evaluator,
    wire: str | None = None,
) -> None:
    """Put the JSON of `attribute` into `members`, as `wire` if given, else as the field says."""
    value = evaluator.evaluate(attribute.expr)
    if type(value) is not str:
        evaluator.meter.admit(value)
    try:
        members[wire or field.wire] = field.decode(value)
    except Unsuitable as error:
        start, end = head_span(attribute.expr)
        evaluator.report(start, end, "Unsuitable value type", f"Unsuitable value: {error}")


def _decode_blocks(
    spec: BlockSpec, blocks: list[ScopedBlock], members: JSONObject, late: list[Diagnostic]
) -> None:
    first: dict[str, SchemaBlock] = {}
    for scoped in blocks:
        block = scoped.block
        nested = spec.blocks[block.type]
        if not nested.is_list:
            if block.type in first:
                scoped.evaluator.diagnostics.append(_duplicate(block, first[block.type]))
                continue
            first[block.type] = block
        value = _decode_nested(nested, scoped, late)
        if not nested.is_list:
            members[nested.wire] = value
        elif members[nested.wire] is None:
            members[nested.wire] = [value]
        else:
            members[nested.wire].append(value)


def _decode_nested(nested: Nested, scoped: ScopedBlock, late: list[Diagnostic]) -> Any:  # noqa: ANN401 (JSON)
    reading = Reading(scoped.block.labels, scoped.block.body, scoped.evaluator)
    if nested.spec is not None:
        return decode_block(nested.spec, reading, late)
    if nested.field is not None:
        return _decode_any_attributes(nested.field, reading)
    return free_form(reading.body, scoped.evaluator, late)


def _duplicate(block: SchemaBlock, earlier: SchemaBlock) -> Diagnostic:
    detail = f"Only one {block.type} block is allowed. Another was defined at {earlier.type_range}."
    return _about_block(block, f"Duplicate {block.type} block", detail)


def _about_block(block: SchemaBlock, summary: str, detail: str) -> Diagnostic:
    return diagnostic_at(block.body.source, block.type_start, block.type_end, summary=summary, detail=detail)


def _decode_either(
    spec: BlockSpec,
    attributes: dict[str, Attribute],
    blocks: list[ScopedBlock],
    members: JSONObject,
    evaluator: Evaluator,
) -> list[ScopedBlock]:
    """Decode the maps that may be attributes or blocks; the answer is the blocks that are left."""
    for name, field in spec.either.items():
        own = [scoped for scoped in blocks if scoped.block.type == name]
        attribute = attributes.get(name)
        if own and attribute is not None:
            _defined_twice(own[0], str(attribute.range()))
        elif len(own) > 1:
            _defined_twice(own[1], str(own[0].block.type_range))
        elif own:
            reading = Reading((), own[0].block.body, own[0].evaluator)
            assert field.element is not None, "a map says what its values are"
            members[field.wire] = _decode_any_attributes(field.element, reading)
        elif attribute is not None:
            _decode_attribute(field, attribute, members, evaluator)
    return [scoped for scoped in blocks if scoped.block.type not in spec.either]


def _defined_twice(scoped: ScopedBlock, other: str) -> None:
    name = scoped.block.type
    detail = f"{name} may not be defined more than once. Another definition is defined at {other}."
    scoped.evaluator.diagnostics.append(_about_block(scoped.block, f"Duplicate {name} block", detail))


def _decode_any_attributes(field: Field, reading: Reading) -> JSONObject:
    """A block whose attributes are not known beforehand but all of one kind."""
    evaluator = reading.evaluator
    members: JSONObject = {}
    attributes = any_attributes(reading.body, evaluator.diagnostics)
    for name, attribute in attributes.items():
        _decode_attribute(field, attribute, members, evaluator, name)
    return members
