"""Bodies whose shape only a driver or plugin knows, turned into JSON as they are."""

import math
from fractions import Fraction
from typing import Any

from yurt.jobspec.fields import INT64
from yurt.jobspec.hcl.content import AnyBody
from yurt.jobspec.hcl.diagnostics import Diagnostic
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.syntax import Attribute, Body, Expression, ObjectExpr
from yurt.jobspec.hcl.values import UNKNOWN, Value, elements, members


def free_form(body: AnyBody, evaluator: Evaluator, problems: list[Diagnostic]) -> dict[str, Any]:
    """The JSON of `body`; what fails to evaluate is added to `problems`.

    A nested block becomes a list with one object for each time it occurs, and so does an attribute that is
    assigned an object literal; each label is one more such level. In JSON syntax objects stay objects.
    """
    outer, evaluator.diagnostics = evaluator.diagnostics, problems
    try:
        if isinstance(body, Body):
            return _native(body, evaluator)
        value = evaluator.evaluate(body.node)
        result = _plain_or_report(value, body.node, evaluator)
        return {key: item for key, item in (result or {}).items() if item is not None}
    finally:
        evaluator.diagnostics = outer


def _native(body: Body, evaluator: Evaluator) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, attribute in body.attributes.items():
        value = _attribute(attribute, evaluator)
        if value is not None:
            result[name] = value
    blocks: dict[str, list[Any]] = {}
    for block in body.blocks:
        value = _native(block.body, evaluator)
        for label in reversed(block.labels):
            value = {label.text: [value]}
        blocks.setdefault(block.type, []).append(value)
    return result | blocks


def _attribute(attribute: Attribute, evaluator: Evaluator) -> Any:  # noqa: ANN401 (JSON)
    value = evaluator.evaluate(attribute.expr)
    if type(value) is str:
        return value
    result = _plain_or_report(value, attribute.expr, evaluator)
    return [result] if isinstance(attribute.expr, ObjectExpr) and result is not None else result


def _plain_or_report(value: Value, expr: Expression, evaluator: Evaluator) -> Any:  # noqa: ANN401 (JSON)
    evaluator.meter.admit(value)
    try:
        return plain(value)
    except OverflowError:
        detail = "This number is too large to be passed on; look for a division by zero."
        evaluator.report(expr.start, expr.end, "Unsuitable value", detail)
        return None


def plain(value: Value) -> Any:  # noqa: ANN401 (JSON)
    """`value` as JSON data. Unknown parts, of which there are diagnostics, are null. Raises OverflowError."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if INT64[0] <= value <= INT64[1] else float(value)
    if isinstance(value, Fraction | float):
        number = float(value)
        if math.isinf(number):
            raise OverflowError
        return number
    if value is UNKNOWN:
        return None
    items = elements(value)
    if items is not None:
        return [plain(item) for item in items]
    return {key: plain(item) for key, item in (members(value) or {}).items()}
