"""`locals`: named values that may refer to each other in any order."""

from collections.abc import Mapping

from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.syntax import Attribute, AttributeStep, Expression, KeyStep, Reference
from yurt.jobspec.hcl.values import Value
from yurt.jobspec.hcl.walk import free_names


def evaluate_locals(attributes: Mapping[str, Attribute], evaluator: Evaluator) -> dict[str, Value]:
    """The value of each local. Locals that refer to each other in a circle are reported as missing."""
    values: dict[str, Value] = {}
    scope = {**evaluator.scope, "local": values}
    for name in _in_order(attributes):
        inner = evaluator.nested(scope)
        value = inner.evaluate(attributes[name].expr)
        evaluator.meter.admit(value)
        values[name] = value
    return values


def _in_order(attributes: Mapping[str, Attribute]) -> list[str]:
    """The names, each after those that it needs; circles are cut where they are met."""
    needs = {name: _needed(attribute.expr, attributes) for name, attribute in attributes.items()}
    ordered: dict[str, None] = {}
    for name in attributes:
        # Depth first without recursion: a chain of locals may be longer than the stack is deep.
        pending = [(name, iter(needs[name]))]
        visiting = {name}
        while pending and pending[0][0] not in ordered:
            current, rest = pending[-1]
            following = next((need for need in rest if need not in ordered and need not in visiting), None)
            if following is None:
                ordered[current] = None
                pending.pop()
            else:
                visiting.add(following)
                pending.append((following, iter(needs[following])))
    return list(ordered)


def _needed(expr: Expression, attributes: Mapping[str, Attribute]) -> list[str]:
    needed: list[str] = []
    for item in free_names(expr):
        if isinstance(item, Reference) and item.name == "local":
            match item.steps[:1]:
                case (AttributeStep(name=name),) if name in attributes:
                    needed.append(name)
                case (KeyStep(key=str(name)),) if name in attributes:
                    needed.append(name)
                case ():
                    needed.extend(attributes)
    return needed
