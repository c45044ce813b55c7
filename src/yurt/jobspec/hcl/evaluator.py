"""The value of expressions.

A name that is not in scope is a reference for the client to resolve at run time; its value is its own
text, `${…}`. Problems are gathered as diagnostics, and what failed has the value UNKNOWN.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from yurt.jobspec.hcl import access
from yurt.jobspec.hcl.calls import call
from yurt.jobspec.hcl.conversion import ConversionError, convert, to_bool, to_text, unify
from yurt.jobspec.hcl.diagnostics import Diagnostic, diagnostic_at
from yurt.jobspec.hcl.function import Functions
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.operators import OperandError, binary, unary
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import (
    Access,
    Call,
    Conditional,
    Embedded,
    Expression,
    ForExpr,
    ForPart,
    IfPart,
    IndexStep,
    InterpolationPart,
    Literal,
    LiteralPart,
    ObjectExpr,
    Operation,
    Parentheses,
    Reference,
    SplatStep,
    Step,
    Template,
    TemplatePart,
    TemplateWrap,
    Text,
    TupleExpr,
    Unary,
)
from yurt.jobspec.hcl.values import UNKNOWN, Value, elements, iterate, type_name, type_of, value_type_name


class Evaluator:
    """Evaluates expressions of one source with the names of one scope.

    `diagnostics` is added to; give several evaluators one list and one meter to treat them as a whole.
    """

    def __init__(
        self,
        source: Source,
        scope: Mapping[str, Value],
        functions: Functions,
        *,
        diagnostics: list[Diagnostic],
        meter: Meter,
    ) -> None:
        self.source = source
        self.scope = scope
        self.functions = functions
        self.diagnostics = diagnostics
        self.meter = meter

    def evaluate(self, expr: Expression) -> Value:
        """The value of `expr`, or UNKNOWN with at least one more diagnostic."""
        if isinstance(expr, Text | Literal):
            return expr.value
        meter = self.meter
        meter.left -= 1
        if meter.left < 0:
            meter.charge(0)
        return _EVALUATIONS[type(expr)](self, expr)

    def nested(self, scope: Mapping[str, Value]) -> "Evaluator":
        """An evaluator for the same source with more names."""
        return Evaluator(
            self.source,
            {**self.scope, **scope},
            self.functions,
            diagnostics=self.diagnostics,
            meter=self.meter,
        )

    def attempt(self, expr: Expression) -> tuple[Value, list[Diagnostic]]:
        """Evaluate with the problems kept apart, for whoever may not want them."""
        outer, self.diagnostics = self.diagnostics, []
        try:
            value = self.evaluate(expr)
            return value, self.diagnostics
        finally:
            self.diagnostics = outer

    def report(self, start: int, end: int, summary: str, detail: str) -> Value:
        self.diagnostics.append(diagnostic_at(self.source, start, end, summary=summary, detail=detail))
        return UNKNOWN

    # Strings

    def _template(self, expr: Template) -> Value:
        texts: list[str] = []
        if not self._render(expr.parts, texts):
            return UNKNOWN
        self.meter.charge_text(sum(map(len, texts)))
        return "".join(texts)

    def _render(self, parts: Sequence[TemplatePart], texts: list[str]) -> bool:
        """Add the text of `parts`; false when some of it is unknown."""
        is_known = True
        for part in parts:
            match part:
                case LiteralPart():
                    texts.append(part.text)
                    self.meter.charge_text(len(part.text))
                case InterpolationPart():
                    is_known &= self._render_interpolation(part, texts)
                case IfPart():
                    condition = self._condition(part.condition)
                    if not isinstance(condition, bool):
                        is_known = False
                    else:
                        is_known &= self._render(part.then if condition else part.otherwise, texts)
                case ForPart():
                    is_known &= self._render_loop(part, texts)
        return is_known

    def _render_interpolation(self, part: InterpolationPart, texts: list[str]) -> bool:
        value = self._interpolated(part)
        if value is UNKNOWN:
            return False
        expr, summary = part.expr, "Invalid template interpolation value"
        if value is None:
            detail = "The expression result is null. Cannot include a null value in a string template."
            self.report(expr.start, expr.end, summary, detail)
            return True
        try:
            text = to_text(value)
        except ConversionError as error:
            detail = f"Cannot include the given value in a string template: {error}."
            self.report(expr.start, expr.end, summary, detail)
            return True
        assert isinstance(text, str)
        self.meter.charge_text(len(text))
        texts.append(text)
        return True

    def _interpolated(self, part: InterpolationPart) -> Value:
        """The value of `${…}`; an unresolved reference keeps its spelling, blanks included."""
        expr = part.expr
        if isinstance(expr, Reference) and expr.name not in self.scope and not part.has_strip:
            return self.source.text[part.start : part.end]
        return self.evaluate(expr)

    def _render_loop(self, part: ForPart, texts: list[str]) -> bool:
        items = self._iterable(part.collection, "directive")
        if items is None:
            return False
        is_known = True
        for scope in _loop_scopes(items, part.key_name, part.value_name):
            self.meter.charge(1)
            is_known &= self.nested(scope)._render(part.body, texts)
        return is_known

    def _wrap(self, expr: TemplateWrap) -> Value:
        return self._interpolated(expr.part)

    def _embedded(self, expr: Embedded) -> Value:
        inner = Evaluator(
            expr.source, self.scope, self.functions, diagnostics=self.diagnostics, meter=self.meter
        )
        return inner.evaluate(expr.expr)

    # Names and steps

    def _reference(self, expr: Reference) -> Value:
        try:
            value = self.scope[expr.name]
        except KeyError:
            return "${" + self.source.text[expr.start : expr.end] + "}"
        return self._follow(value, expr.steps) if expr.steps else value

    def _access(self, expr: Access) -> Value:
        return self._follow(self.evaluate(expr.subject), expr.steps)

    def _follow(self, value: Value, steps: Sequence[Step]) -> Value:
        for step in steps:
            self.meter.charge(1)
            if isinstance(step, SplatStep):
                return self._splat(value, step, steps)
            key = self.evaluate(step.key) if isinstance(step, IndexStep) else None
            if value is UNKNOWN or key is UNKNOWN:
                return UNKNOWN
            try:
                value = access.step_into(value, step, key)
            except access.AccessError as error:
                return self.report(step.start, step.end, error.summary, error.detail)
        return value

    def _splat(self, value: Value, splat: SplatStep, steps: Sequence[Step]) -> Value:
        if value is UNKNOWN:
            return UNKNOWN
        items = elements(value)
        if items is None:
            items = () if value is None else (value,)
        result: Value = tuple(self._follow(item, splat.each) for item in items)
        rest = steps[steps.index(splat) + 1 :]
        return self._follow(result, rest) if rest else result

    # Operators

    def _operation(self, expr: Operation) -> Value:
        value = self.evaluate(expr.first)
        end = expr.first.end
        for operand in expr.rest:
            right = self.evaluate(operand.expr)
            value = self._binary(operand.operator, (value, expr.start, end), (right, operand.expr))
            end = operand.expr.end
        return value

    def _binary(self, operator: int, left: tuple[Value, int, int], right: tuple[Value, Expression]) -> Value:
        left_value, start, left_end = left
        right_value, right_expr = right
        try:
            return binary(operator, left_value, right_value, self.meter)
        except OperandError as error:
            for side, problem in error.problems:
                place = (start, left_end) if side == "left" else (right_expr.start, right_expr.end)
                self.report(*place, "Invalid operand", f"Unsuitable value for {side} operand: {problem}.")
        except ArithmeticError as error:
            self.report(start, right_expr.end, "Operation failed", f"Error during operation: {error}.")
        return UNKNOWN

    def _unary(self, expr: Unary) -> Value:
        value = self.evaluate(expr.expr)
        try:
            return unary(expr.operator, value)
        except ConversionError as error:
            return self.report(
                expr.expr.start,
                expr.expr.end,
                "Invalid operand",
                f"Unsuitable value for unary operand: {error}.",
            )

    def _conditional(self, expr: Conditional) -> Value:
        then, then_problems = self.attempt(expr.then)
        otherwise, otherwise_problems = self.attempt(expr.otherwise)
        condition = self._condition(expr.condition)
        if not isinstance(condition, bool):
            return UNKNOWN
        chosen, other = (then, otherwise) if condition else (otherwise, then)
        self.diagnostics.extend(then_problems if condition else otherwise_problems)
        if type(chosen) is type(other) and isinstance(chosen, str | bool | int):
            return chosen
        self.meter.admit(then)
        self.meter.admit(otherwise)
        shared = unify([type_of(then), type_of(otherwise)])
        if shared is None:
            detail = (
                "The true and false result expressions must have consistent types. The 'true' value is "
                f"{value_type_name(then)}, but the 'false' value is {value_type_name(otherwise)}."
            )
            return self.report(expr.start, expr.end, "Inconsistent conditional result types", detail)
        return convert(chosen, shared)

    def _condition(self, expr: Expression) -> Value:
        value = self.evaluate(expr)
        if value is None:
            detail = "The condition value is null. Conditions must either be true or false."
            return self.report(expr.start, expr.end, "Null condition", detail)
        try:
            return to_bool(value)
        except ConversionError as error:
            detail = f"The condition expression must be of type bool: {error}."
            return self.report(expr.start, expr.end, "Incorrect condition type", detail)

    # Collections

    def _tuple(self, expr: TupleExpr) -> Value:
        evaluate = self.evaluate
        return tuple([evaluate(item) for item in expr.items])

    def _object(self, expr: ObjectExpr) -> Value:
        result: dict[str, Value] = {}
        is_known = True
        for item in expr.items:
            key = item.key.value if isinstance(item.key, Text) else self._key(item.key)
            value = self.evaluate(item.value)
            if isinstance(key, str):
                result[key] = value
            else:
                is_known = False
        return result if is_known else UNKNOWN

    def _key(self, expr: Expression) -> Value:
        value = self.evaluate(expr)
        if value is None:
            return self.report(expr.start, expr.end, "Null value as key", "Can't use a null value as a key.")
        try:
            return to_text(value)
        except ConversionError as error:
            detail = f"Can't use this value as a key: {error}."
            return self.report(expr.start, expr.end, "Incorrect key type", detail)

    def _for(self, expr: ForExpr) -> Value:
        items = self._iterable(expr.collection, "expression")
        if items is None:
            return UNKNOWN
        values: list[Value] = []
        named: dict[str, Value] = {}
        groups: dict[str, list[Value]] = {}
        is_known = True
        for scope in _loop_scopes(items, expr.key_name, expr.value_name):
            self.meter.charge(1)
            inner = self.nested(scope)
            included = True if expr.condition is None else inner._condition(expr.condition)
            if included is False:
                continue
            if included is not True:
                is_known = False
            elif expr.key is None:
                values.append(inner.evaluate(expr.value))
            else:
                key, value = inner._key(expr.key), inner.evaluate(expr.value)
                if not isinstance(key, str):
                    is_known = False
                elif expr.groups:
                    groups.setdefault(key, []).append(value)
                elif key in named:
                    self._duplicate_key(expr.key, key)
                else:
                    named[key] = value
        if not is_known:
            return UNKNOWN
        if expr.key is None:
            return tuple(values)
        return {key: tuple(group) for key, group in groups.items()} if expr.groups else named

    def _duplicate_key(self, expr: Expression, key: str) -> None:
        self.report(
            expr.start,
            expr.end,
            "Duplicate object key",
            f"Two different items produced the key \"{key}\" in this 'for' expression. If duplicates are "
            "expected, use the ellipsis (...) after the value expression to enable grouping by key.",
        )

    def _iterable(self, expr: Expression, construct: str) -> list[tuple[Value, Value]] | None:
        value = self.evaluate(expr)
        if value is UNKNOWN:
            return None
        place = f"cannot be used as the collection in a 'for' {construct}."
        if value is None:
            self.report(expr.start, expr.end, "Iteration over null value", f"A null value {place}")
            return None
        items = iterate(value)
        if items is None:
            name = type_name(type_of(value))
            detail = f"A value of type {name} {place}"
            self.report(expr.start, expr.end, "Iteration over non-iterable value", detail)
        return items

    def _parentheses(self, expr: Parentheses) -> Value:
        return self.evaluate(expr.expr)


def _loop_scopes(
    items: list[tuple[Value, Value]], key_name: str | None, value_name: str
) -> "list[dict[str, Value]]":
    if key_name is None:
        return [{value_name: value} for _, value in items]
    return [{key_name: key, value_name: value} for key, value in items]


_EVALUATIONS: Final[dict[type, Callable[[Evaluator, Any], Value]]] = {
    Template: Evaluator._template,
    TemplateWrap: Evaluator._wrap,
    Embedded: Evaluator._embedded,
    Reference: Evaluator._reference,
    Access: Evaluator._access,
    Call: call,
    Conditional: Evaluator._conditional,
    Operation: Evaluator._operation,
    Unary: Evaluator._unary,
    TupleExpr: Evaluator._tuple,
    ObjectExpr: Evaluator._object,
    ForExpr: Evaluator._for,
    Parentheses: Evaluator._parentheses,
}
