"""Function calls: arguments checked and converted, errors placed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from yurt.jobspec.hcl.conversion import ConversionError, convert
from yurt.jobspec.hcl.diagnostics import closest_name
from yurt.jobspec.hcl.function import ArgumentError, CallError, Function, Parameter
from yurt.jobspec.hcl.limits import SUGGESTIONS_MAX
from yurt.jobspec.hcl.syntax import Call, Expression, head_span
from yurt.jobspec.hcl.type_expressions import TypeExpressionError, type_expression
from yurt.jobspec.hcl.values import UNKNOWN, Value, elements, has_unknown

if TYPE_CHECKING:
    from yurt.jobspec.hcl.evaluator import Evaluator


def call(evaluator: "Evaluator", expr: Call) -> Value:
    """The value of a function call."""
    form = _SPECIAL_FORMS.get(expr.name)
    if form is not None:
        return form(evaluator, expr)
    function = evaluator.functions.get(expr.name)
    if function is None:
        names = (*evaluator.functions, *_SPECIAL_FORMS)
        detail = f'There is no function named "{expr.name}".'
        suggestion = closest_name(expr.name, names) if len(evaluator.diagnostics) < SUGGESTIONS_MAX else None
        if suggestion is not None:
            detail += f' Did you mean "{suggestion}"?'
        return evaluator.report(expr.start, expr.name_end, "Call to unknown function", detail)
    errors_before = len(evaluator.diagnostics)
    arguments = [evaluator.evaluate(argument) for argument in expr.arguments]
    if expr.is_spread and not _spread(evaluator, expr, arguments):
        return UNKNOWN
    if len(evaluator.diagnostics) > errors_before or not _count_fits(
        evaluator, expr, function, len(arguments)
    ):
        return UNKNOWN
    return _call(evaluator, expr, function, arguments)


def _spread(evaluator: "Evaluator", expr: Call, arguments: list[Value]) -> bool:
    """Replace the last argument by its items; false when that cannot be."""
    last = arguments.pop()
    if last is UNKNOWN:
        return False
    items = elements(last)
    if items is None:
        evaluator.report(
            *head_span(expr.arguments[-1]),
            "Invalid expanding argument value",
            "The expanding argument (indicated by ...) must be of a tuple, list, or set type.",
        )
        return False
    arguments.extend(items)
    return True


def _count_fits(evaluator: "Evaluator", expr: Call, function: Function, count: int) -> bool:
    required = len(function.parameters)
    if count < required:
        at_least = "at least " if function.rest is not None else ""
        detail = (
            f'Function "{expr.name}" expects {at_least}{required} argument(s). Missing value for '
            f'"{function.parameters[count].name}".'
        )
        evaluator.report(expr.end - 1, expr.end, "Not enough function arguments", detail)
        return False
    if count > required and function.rest is None:
        surplus = expr.arguments[min(required, len(expr.arguments) - 1)]
        detail = f'Function "{expr.name}" expects only {required} argument(s).'
        evaluator.report(surplus.start, expr.end - 1, "Too many function arguments", detail)
        return False
    return True


def _call(evaluator: "Evaluator", expr: Call, function: Function, arguments: list[Value]) -> Value:
    converted: list[Value] = []
    try:
        for index, argument in enumerate(arguments):
            evaluator.meter.admit(argument)
            if has_unknown(argument):
                return UNKNOWN
            converted.append(_converted(index, argument, _parameter(function, index)))
        meter = (evaluator.meter,) if function.takes_meter else ()
        result: Value = function.call(*meter, *converted)
    except ArgumentError as error:
        place = expr.arguments[min(error.index, len(expr.arguments) - 1)]
        name = _parameter(function, error.index).name
        detail = f'Invalid value for "{name}" parameter: {error}.'
        return evaluator.report(*head_span(place), "Invalid function argument", detail)
    except CallError as error:
        return _failed(evaluator, expr, str(error))
    evaluator.meter.admit(result)
    return result


def _converted(index: int, argument: Value, parameter: Parameter) -> Value:
    if argument is None:
        if parameter.may_be_null:
            return None
        raise ArgumentError(index, "argument must not be null")
    try:
        return convert(argument, parameter.type)
    except ConversionError as error:
        raise ArgumentError(index, str(error)) from None


def _parameter(function: Function, index: int) -> Parameter:
    if index < len(function.parameters):
        return function.parameters[index]
    assert function.rest is not None
    return function.rest


def _failed(evaluator: "Evaluator", expr: Call, problem: str) -> Value:
    detail = f'Call to function "{expr.name}" failed: {problem}.'
    return evaluator.report(*head_span(expr), "Error in function call", detail)


# Forms that do not simply get the values of their arguments


def _try(evaluator: "Evaluator", expr: Call) -> Value:
    if not expr.arguments:
        return _failed(evaluator, expr, "at least one argument is required")
    problems: list[str] = []
    for argument in expr.arguments:
        value, diagnostics = evaluator.attempt(argument)
        if not diagnostics:
            return value
        problems.extend(f"\n- {d.summary}: {d.detail}" for d in diagnostics)
    return _failed(evaluator, expr, "no expression succeeded:" + "".join(problems))


def _can(evaluator: "Evaluator", expr: Call) -> Value:
    argument = _only_argument(evaluator, expr, 1)
    if argument is None:
        return UNKNOWN
    return not evaluator.attempt(argument)[1]


def _convert(evaluator: "Evaluator", expr: Call) -> Value:
    argument = _only_argument(evaluator, expr, 2)
    if argument is None:
        return UNKNOWN
    value = evaluator.evaluate(argument)
    try:
        wanted = type_expression(expr.arguments[1], allow_any=True)
    except TypeExpressionError as error:
        return evaluator.report(error.start, error.end, "Invalid type specification", error.detail)
    evaluator.meter.admit(value)
    if has_unknown(value):
        return UNKNOWN
    try:
        return convert(value, wanted)
    except ConversionError as error:
        detail = f'Invalid value for "value" parameter: {error}.'
        return evaluator.report(*head_span(argument), "Invalid function argument", detail)


def _only_argument(evaluator: "Evaluator", expr: Call, count: int) -> Expression | None:
    """The first argument of a form that takes `count`."""
    if len(expr.arguments) == count:
        return expr.arguments[0]
    _failed(evaluator, expr, f"takes {count} argument(s), got {len(expr.arguments)}")
    return None


_SPECIAL_FORMS: Final[dict[str, "Callable[[Evaluator, Call], Value]"]] = {
    "try": _try,
    "can": _can,
    "convert": _convert,
}
