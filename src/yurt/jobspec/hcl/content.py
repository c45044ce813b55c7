"""Bodies read with a schema: which attributes and blocks may be there, and which are."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from yurt.jobspec.hcl.diagnostics import Diagnostic, closest_name, diagnostic_at
from yurt.jobspec.hcl.json_syntax import parse_object
from yurt.jobspec.hcl.limits import SUGGESTIONS_MAX
from yurt.jobspec.hcl.source import Range, Source
from yurt.jobspec.hcl.syntax import (
    Attribute,
    Block,
    Body,
    Expression,
    Label,
    Literal,
    ObjectExpr,
    ObjectItem,
    Text,
    TupleExpr,
)


class JSONBody(msgspec.Struct, frozen=True):
    """A body in JSON syntax, where only a schema tells attributes from blocks."""

    node: ObjectExpr
    source: Source


AnyBody: TypeAlias = Body | JSONBody


class Schema(msgspec.Struct, frozen=True):
    """What a body may hold: names of attributes, and types of blocks with the names of their labels."""

    attributes: frozenset[str]
    blocks: dict[str, tuple[str, ...]]


class SchemaBlock(msgspec.Struct, frozen=True):
    """A block that the schema knows, with as many labels as it asks for."""

    type: str
    labels: tuple[Label, ...]
    body: AnyBody
    type_start: int
    type_end: int

    @property
    def type_range(self) -> Range:
        return self.body.source.range(self.type_start, self.type_end)


class Content(msgspec.Struct, frozen=True):
    attributes: dict[str, Attribute]
    blocks: list[SchemaBlock]


def parse_json(text: str, *, filename: str) -> JSONBody:
    """Parse a file in HCL2's JSON syntax. Raises HCLError at the first syntax error."""
    source = Source(text, filename)
    return JSONBody(parse_object(source), source)


def content(body: AnyBody, schema: Schema, diagnostics: list[Diagnostic]) -> Content:
    """What `body` holds of the schema; everything else is added to `diagnostics`."""
    if isinstance(body, Body):
        return _NativeReader(body, schema, diagnostics).content()
    return _JSONReader(body, schema, diagnostics).content()


def any_attributes(body: AnyBody, diagnostics: list[Diagnostic]) -> dict[str, Attribute]:
    """The attributes of a body that may have any, but no blocks."""
    if isinstance(body, Body):
        for block in body.blocks:
            detail = f'Blocks are not allowed here, but one of type "{block.type}" was found.'
            diagnostics.append(
                diagnostic_at(
                    body.source,
                    block.start,
                    block.type_end,
                    summary=f'Unexpected "{block.type}" block',
                    detail=detail,
                )
            )
        return body.attributes
    names = frozenset(_key(item).value for item in body.node.items) - {"//"}
    return content(body, Schema(names, {}), diagnostics).attributes


def missing_item(body: AnyBody, summary: str, detail: str) -> Diagnostic:
    """A diagnostic about something that should be in `body`."""
    start = body.start if isinstance(body, Body) else body.node.start
    return diagnostic_at(body.source, start, start, summary=summary, detail=detail)


class _NativeReader:
    def __init__(self, body: Body, schema: Schema, diagnostics: list[Diagnostic]) -> None:
        self.body = body
        self.schema = schema
        self.diagnostics = diagnostics

    def content(self) -> Content:
        attributes = self.body.attributes
        if not attributes.keys() <= self.schema.attributes:
            for attribute in attributes.values():
                if attribute.name not in self.schema.attributes:
                    self._unsupported_argument(attribute)
            attributes = {name: a for name, a in attributes.items() if name in self.schema.attributes}
        blocks = []
        for block in self.body.blocks:
            names = self.schema.blocks.get(block.type)
            if names is None:
                self._unsupported_block(block)
            elif len(names) == len(block.labels) or self._has_right_labels(block, names):
                blocks.append(SchemaBlock(block.type, block.labels, block.body, block.start, block.type_end))
        return Content(attributes, blocks)

    def _unsupported_argument(self, attribute: Attribute) -> None:
        name = attribute.name
        detail = f'An argument named "{name}" is not expected here.'
        suggestion = None
        if len(self.diagnostics) < SUGGESTIONS_MAX:
            suggestion = closest_name(name, sorted(self.schema.attributes - self.body.attributes.keys()))
        if suggestion is not None:
            detail += f' Did you mean "{suggestion}"?'
        elif name in self.schema.blocks:
            detail += f' Did you mean to define a block of type "{name}"?'
        self._report(attribute.start, attribute.name_end, "Unsupported argument", detail)

    def _unsupported_block(self, block: Block) -> None:
        detail = f'Blocks of type "{block.type}" are not expected here.'
        suggestion = None
        if len(self.diagnostics) < SUGGESTIONS_MAX:
            suggestion = closest_name(block.type, self.schema.blocks)
        if suggestion is not None:
            detail += f' Did you mean "{suggestion}"?'
        elif block.type in self.schema.attributes:
            detail += (
                f' Did you mean to define argument "{block.type}"? If so, use the equals sign to assign it '
                "a value."
            )
        self._report(block.start, block.type_end, "Unsupported block type", detail)

    def _has_right_labels(self, block: Block, names: Sequence[str]) -> bool:
        listed = ", ".join(names)
        if len(block.labels) < len(names):
            start = block.body.start
            self._report(
                start,
                start + 1,
                f"Missing {names[len(block.labels)]} for {block.type}",
                f"All {block.type} blocks must have {len(names)} labels ({listed}).",
            )
            return False
        surplus = block.labels[len(names)]
        detail = (
            f"Only {len(names)} labels ({listed}) are expected for {block.type} blocks."
            if names
            else f"No labels are expected for {block.type} blocks."
        )
        self._report(surplus.start, surplus.end, f"Extraneous label for {block.type}", detail)
        return False

    def _report(self, start: int, end: int, summary: str, detail: str) -> None:
        self.diagnostics.append(diagnostic_at(self.body.source, start, end, summary=summary, detail=detail))


class _JSONReader:
    def __init__(self, body: JSONBody, schema: Schema, diagnostics: list[Diagnostic]) -> None:
        self.source = body.source
        self.node = body.node
        self.schema = schema
        self.diagnostics = diagnostics

    def content(self) -> Content:
        attributes: dict[str, Attribute] = {}
        blocks: list[SchemaBlock] = []
        for item in self.node.items:
            key = _key(item)
            name = key.value
            if name in self.schema.attributes:
                attributes[name] = Attribute(
                    key.start, item.value.end, name, key.end, item.value, self.source
                )
            elif name in self.schema.blocks:
                for labels, node in self._labelled(item.value, self.schema.blocks[name], ()):
                    blocks.append(SchemaBlock(name, labels, JSONBody(node, self.source), key.start, key.end))
            elif name != "//":
                self._unknown(key)
        return Content(attributes, blocks)

    def _labelled(
        self, value: Expression, names: Sequence[str], labels: tuple[Label, ...]
    ) -> Iterable[tuple[tuple[Label, ...], ObjectExpr]]:
        for node in self._objects(value):
            if not names:
                yield labels, node
                continue
            for item in node.items:
                key = _key(item)
                label = Label(key.start, key.end, key.value)
                yield from self._labelled(item.value, names[1:], (*labels, label))

    def _objects(self, value: Expression) -> Iterable[ObjectExpr]:
        if isinstance(value, ObjectExpr):
            yield value
        elif isinstance(value, TupleExpr):
            for item in value.items:
                yield from self._objects(item)
        elif not (isinstance(value, Literal) and value.value is None):
            detail = "Either a JSON object or a JSON array of objects is required here, to define blocks."
            self._report(value.start, value.end, "Incorrect JSON value type", detail)

    def _unknown(self, key: Text) -> None:
        detail = f'No argument or block type is named "{key.value}".'
        suggestion = None
        if len(self.diagnostics) < SUGGESTIONS_MAX:
            suggestion = closest_name(key.value, [*sorted(self.schema.attributes), *self.schema.blocks])
        if suggestion is not None:
            detail += f' Did you mean "{suggestion}"?'
        self._report(key.start, key.end, "Extraneous JSON object property", detail)

    def _report(self, start: int, end: int, summary: str, detail: str) -> None:
        self.diagnostics.append(diagnostic_at(self.source, start, end, summary=summary, detail=detail))


def _key(item: ObjectItem) -> Text:
    assert isinstance(item.key, Text), "keys of JSON objects are text"
    return item.key
