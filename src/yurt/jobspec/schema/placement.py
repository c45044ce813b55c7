"""`constraint`, `affinity` and `spread`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import INT8, UINT8, Field, plain_text, plain_whole, text, whole

# Short forms in the order in which they win over each other, whatever the order in the file.
_CONSTRAINT_SHORT_FORMS: Final = ("version", "semver", "regexp", "set_contains")
_AFFINITY_SHORT_FORMS: Final = (*_CONSTRAINT_SHORT_FORMS, "set_contains_all", "set_contains_any")
# Accepted and without effect; whoever uses them is told so at registration, as the constraint is empty.
_CONSTRAINT_IGNORED: Final = ("is_set", "is_not_set", "set_contains_all", "set_contains_any")


def _inputs(*names: str) -> tuple[Field, ...]:
    return tuple(text(name, name) for name in ("attribute", "operator", "value", *names))


def _operands(members: JSONObject, short_forms: tuple[str, ...]) -> JSONObject:
    operand, right = members["operator"] or "=", members["value"] or ""
    for name in short_forms:
        if members[name]:
            operand, right = name, members[name]
    return {"LTarget": members["attribute"] or "", "RTarget": right, "Operand": operand}


def _constraint(members: JSONObject, _: Reading) -> JSONObject:
    result = _operands(members, _CONSTRAINT_SHORT_FORMS)
    if members["distinct_hosts"]:
        result |= {"Operand": "distinct_hosts", "RTarget": members["distinct_hosts"]}
    if members["distinct_property"]:
        result |= {
            "Operand": "distinct_property",
            "LTarget": members["distinct_property"],
            "RTarget": members["value"] or "",
        }
    return result


def _affinity(members: JSONObject, _: Reading) -> JSONObject:
    weight = members["Weight"]
    # Nomad keeps the lowest eight bits of the weight; registration then checks what is left of it.
    wrapped = None if weight is None else (weight + 128) % 256 - 128
    return _operands(members, _AFFINITY_SHORT_FORMS) | {"Weight": wrapped}


CONSTRAINT: Final = BlockSpec(
    *_inputs(*_CONSTRAINT_SHORT_FORMS, *_CONSTRAINT_IGNORED, "distinct_hosts", "distinct_property"),
    finish=_constraint,
)
AFFINITY: Final = BlockSpec(*_inputs(*_AFFINITY_SHORT_FORMS), whole("weight", "Weight"), finish=_affinity)
SPREAD: Final = BlockSpec(
    plain_text("attribute", "Attribute"),
    whole("weight", "Weight", bounds=INT8),
    blocks=(
        Nested(
            "target",
            "SpreadTarget",
            BlockSpec(
                plain_whole("percent", "Percent", bounds=UINT8),
                labels=("value",),
                finish=lambda members, reading: {"Value": reading.label, **members},
            ),
            is_list=True,
        ),
    ),
)

CONSTRAINTS: Final = Nested("constraint", "Constraints", CONSTRAINT, is_list=True)
AFFINITIES: Final = Nested("affinity", "Affinities", AFFINITY, is_list=True)
SPREADS: Final = Nested("spread", "Spreads", SPREAD, is_list=True)
