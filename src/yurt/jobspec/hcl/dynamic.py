"""`dynamic` blocks: one block written, one made for each item of a collection."""

from collections.abc import Iterator

import msgspec

from yurt.jobspec.hcl.content import AnyBody, Schema, SchemaBlock, content, missing_item
from yurt.jobspec.hcl.conversion import ConversionError, to_text
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.syntax import Attribute, Label, Reference, Text
from yurt.jobspec.hcl.values import UNKNOWN, Value, elements, iterate, value_type_name

DYNAMIC = "dynamic"

_SCHEMA = Schema(frozenset({"for_each", "iterator", "labels"}), {"content": ()})


class ScopedBlock(msgspec.Struct, frozen=True):
    """A block with the evaluator that knows the iterators around it."""

    block: SchemaBlock
    evaluator: Evaluator


def expand(block: SchemaBlock, schema: Schema, evaluator: Evaluator) -> Iterator[ScopedBlock]:
    """The blocks that `block`, a `dynamic` one, stands for in a body of `schema`."""
    label = block.labels[0]
    names = schema.blocks.get(label.text)
    if names is None or label.text == DYNAMIC:
        detail = f'Blocks of type "{label.text}" are not expected here.'
        evaluator.report(label.start, label.end, "Unsupported block type", detail)
        return
    found = content(block.body, _SCHEMA, evaluator.diagnostics)
    bodies = [inner.body for inner in found.blocks]
    if not bodies:
        evaluator.diagnostics.append(
            missing_item(
                block.body,
                "Missing dynamic content block",
                'A dynamic block must have a nested block of type "content" to describe the body of each '
                "generated block.",
            )
        )
        return
    for_each = found.attributes.get("for_each")
    if for_each is None:
        detail = 'The argument "for_each" is required, but no definition was found.'
        evaluator.diagnostics.append(missing_item(block.body, "Missing required argument", detail))
        return
    iterator = _iterator_name(found.attributes.get("iterator"), label.text, evaluator)
    for key, value in _items(for_each, evaluator):
        evaluator.meter.charge(1)
        inner = evaluator.nested({iterator: {"key": key, "value": value}})
        labels = _labels(found.attributes.get("labels"), label, names, inner)
        if labels is not None:
            yield _instance(block, label.text, labels, bodies[0], inner)


def _instance(
    dynamic: SchemaBlock, kind: str, labels: tuple[Label, ...], body: AnyBody, evaluator: Evaluator
) -> ScopedBlock:
    return ScopedBlock(SchemaBlock(kind, labels, body, dynamic.type_start, dynamic.type_end), evaluator)


def _iterator_name(attribute: Attribute | None, default: str, evaluator: Evaluator) -> str:
    if attribute is None:
        return default
    expr = attribute.expr
    if isinstance(expr, Reference) and not expr.steps:
        return expr.name
    if isinstance(expr, Text):
        return expr.value
    evaluator.report(expr.start, expr.end, "Invalid dynamic iterator name", "A bare name is required here.")
    return default


def _items(attribute: Attribute, evaluator: Evaluator) -> list[tuple[Value, Value]]:
    expr = attribute.expr
    value = evaluator.evaluate(expr)
    if value is UNKNOWN:
        return []
    items = None if value is None else iterate(value)
    if items is None:
        what = "null" if value is None else value_type_name(value)
        detail = f"Cannot use a {what} value in for_each. An iterable collection is required."
        evaluator.report(expr.start, expr.end, "Invalid dynamic for_each value", detail)
        return []
    return items


def _labels(
    attribute: Attribute | None, place: Label, names: tuple[str, ...], evaluator: Evaluator
) -> tuple[Label, ...] | None:
    """The labels of one generated block; None, with a diagnostic, when they are no good."""
    summary = "Invalid dynamic block labels"
    if attribute is None:
        if not names:
            return ()
        detail = f'The argument "labels" is required: {place.text} blocks have labels ({", ".join(names)}).'
        evaluator.report(place.start, place.end, summary, detail)
        return None
    expr = attribute.expr
    value = evaluator.evaluate(expr)
    if value is UNKNOWN:
        return None
    items = elements(value)
    if items is None or len(items) != len(names):
        detail = f"A list of {len(names)} label(s) is required for {place.text} blocks."
        evaluator.report(expr.start, expr.end, summary, detail)
        return None
    labels = []
    for item in items:
        text = _label_text(item)
        if text is None:
            evaluator.report(expr.start, expr.end, summary, "Each label must be a string.")
            return None
        labels.append(Label(expr.start, expr.end, text))
    return tuple(labels)


def _label_text(item: Value) -> str | None:
    try:
        text = to_text(item)
    except ConversionError:
        return None
    return text if isinstance(text, str) else None
