"""Values of expressions, beyond the recordings."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.jobspec.hcl import HCLError, Source
from yurt.jobspec.hcl.diagnostics import Diagnostic
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.functions import standard_functions
from yurt.jobspec.hcl.functions.json_text import json_text
from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.parser import parse_expression
from yurt.jobspec.hcl.values import UNKNOWN, Value

FUNCTIONS = standard_functions()
SCOPE: Mapping[str, Value] = {"var": {"n": 5, "xs": ("a", "b"), "m": {"k": "v"}, "none": None}}


def evaluate(text: str, scope: Mapping[str, Value] = SCOPE) -> tuple[Value, list[Diagnostic]]:
    source = Source(text, "t")
    diagnostics: list[Diagnostic] = []
    evaluator = Evaluator(source, scope, FUNCTIONS, diagnostics=diagnostics, meter=Meter())
    return evaluator.evaluate(parse_expression(source)), diagnostics


def value(text: str) -> str:
    """The value of an expression, as JSON."""
    result, diagnostics = evaluate(text)
    assert diagnostics == []
    return json_text(result)


def problem(text: str) -> str:
    result, diagnostics = evaluate(text)
    assert result is UNKNOWN or diagnostics
    return "\n".join(map(str, diagnostics))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("!true || 1 < 2 && 2 >= 2 == true", "true"),
        ("1 <= 0 || 2 > 3", "false"),
        ("-(-3)", "3"),
        ("var.xs[var.n - 4]", '"b"'),
        ('var.m[join("", ["k"])]', '"v"'),
        ("[[1], [2]][*][0]", "[1,2]"),
        ("[{ a = [1, 2] }].*.a[0]", "[1,2]"),
        ("var.none[*]", "[]"),
        ("[for k, v in { b = 1, a = 2 } : k if v > 1]", '["a"]'),
        ("{ for i, v in var.xs : v => i }", '{"a":0,"b":1}'),
        ('{ for v in [1, 2, 3] : v % 2 == 0 ? "even" : "odd" => v... }', '{"even":[2],"odd":[1,3]}'),
        ('[for s in convert(["b", "a"], set(string)) : s]', '["a","b"]'),
        ('[for i, s in convert(["b"], set(string)) : i]', '["b"]'),
        ("<<E\n%{ for k, v in { a = 1 } ~}\n${k}=${v}\n%{ endfor ~}\nE\n", '"a=1\\n"'),
        ('<<-E\n    a\n    ${~ "x"}\n  E\n', '"    a\\nx\\n"'),
        ('<<-E\n    a ${"x" ~}\n    b\n  E\n', '"a x    b\\n"'),
        ('"%{ if false }a%{ endif }b"', '"b"'),
        ('"${"a"}${~ "b" }"', '"ab"'),
        ('{ (var.n) = 1, "q" : 2, 3 = 4 }', '{"3":4,"5":1,"q":2}'),
        ("max([1, 3, 2]...)", "3"),
        ("true ? var.none : 1", "null"),
        ('(true ? [1, "a"] : [2, 3])', '[1,"a"]'),
        ('false ? convert([1], list(number)) : ["a"]', '["a"]'),
        ('true ? { a = { b = 1 } } : { a = { b = "x" } }', '{"a":{"b":"1"}}'),
        ("convert({ a = 1, b = 2 }, map(string))", '{"a":"1","b":"2"}'),
        ('convert(["1", 2], tuple([number, string]))', '[1,"2"]'),
        ("convert([1, true], list(any))", '["1","true"]'),
        ("convert(convert([1], list(number)), set(string))", '["1"]'),
        ("[1] == [1]", "true"),
        ("[1] == convert([1], list(number))", "false"),
        ("{ a = 1 } != { a = 2 }", "true"),
        ("convert([1], list(number)) == convert([1], list(number))", "true"),
        ("convert({ a = 1 }, map(number)) == convert({ a = 1 }, map(number))", "true"),
        ("convert({ a = 1 }, map(number)).a", "1"),
        ("1 == 1.0", "true"),
        ("9 / 3", "3"),
        ("1e3", "1000"),
        ("pow(2, 0.5) * pow(2, 0.5)", "2.0000000000000004"),
        ("pow(2, 80)", "1208925819614629200000000"),
        ("7.5 % 2", "1.5"),
        ("10 % (1/0)", "10"),
    ],
)
def test_value(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "null + 1",
            "t:1,1-5: Invalid operand; Unsuitable value for left operand: argument must not be null.",
        ),
        ("-null", "Unsuitable value for unary operand: argument must not be null."),
        ("!5", "Unsuitable value for unary operand: bool required, but have number."),
        ("1/0 - 1/0", "t:1,1-10: Operation failed; Error during operation: the result is not a number."),
        ("(1/0) / (1/0)", "can't divide zero by zero or infinity by infinity"),
        ("var.none ? 1 : 2", "t:1,1-9: Null condition; "),
        (
            "[] ? 1 : 2",
            "Incorrect condition type; The condition expression must be of type bool: bool required",
        ),
        ("true ? 1 : []", "Inconsistent conditional result types; "),
        ("true ? { a = [] } : { a = 1 }", "Inconsistent conditional result types; "),
        ("var.none.a", "Attempt to get attribute from null value; "),
        ("var.none[0]", "Attempt to index null value; "),
        ("var.xs[null]", "Can't use a null value as an indexing key."),
        ("var.xs.a", "This value does not have any attributes."),
        ("var.xs[0.5]", "an index must be a whole number."),
        ('var.xs["a"]', "a number is required."),
        ("var.n[0]", "This value does not have any indices."),
        ("var.m[[]]", "string required, but have tuple."),
        (
            "convert({ a = 1 }, map(number)).b",
            'Missing map element; This map does not have an element with the key "b".',
        ),
        ("{ (null) = 1 }", "Null value as key; "),
        ("{ ([]) = 1 }", "Incorrect key type; "),
        ("{ for v in [[]] : v => 1 }", "Incorrect key type; "),
        ("[for v in [1] : v if []]", "Incorrect condition type; "),
        (
            '"%{ for v in 5 }%{ endfor }x"',
            "A value of type number cannot be used as the collection in a 'for' directive.",
        ),
        ('"%{ if [] }%{ endif }x"', "Incorrect condition type; "),
        ("max(5...)", "Invalid expanding argument value; "),
        ("upper()", 'Function "upper" expects 1 argument(s). Missing value for "str".'),
        ("join()", 'Function "join" expects at least 1 argument(s). Missing value for "separator".'),
        (
            'upper("a", "b")',
            't:1,12-15: Too many function arguments; Function "upper" expects only 1 argument(s).',
        ),
        ('uper("a")', 'There is no function named "uper". Did you mean "upper"?'),
        ("upper([])", 'Invalid value for "str" parameter: string required, but have tuple.'),
        ("try()", "at least one argument is required"),
        ("try(nope(), [][0])", "no expression succeeded:\n- Call to unknown function: "),
        ("can()", "takes 1 argument(s), got 0"),
        ("convert(1)", "takes 2 argument(s), got 1"),
        ("convert(1, nope)", "Invalid type specification; "),
        ("convert([1], tuple([]))", "tuple of 0 elements required, but have 1"),
        ("convert([[]], tuple([string]))", "element 0: string required, but have tuple"),
        ("convert(1, tuple([]))", "tuple required, but have number"),
        ("convert(1, object({}))", "object required, but have number"),
        ("convert({}, object({ a = string, b = string }))", 'attributes "a" and "b" are required'),
        ("convert({ a = [] }, object({ a = string }))", 'attribute "a": string required, but have tuple'),
        ("convert([1, []], list(any))", "all elements must have the same type"),
        ("convert([1], map(string))", "map of string required"),
        ("convert(true, number)", "number required, but have bool"),
    ],
)
def test_problem(text: str, expected: str) -> None:
    assert expected in problem(text)


def test_an_error_in_the_arm_not_taken_does_not_count() -> None:
    assert value("true ? 1 : nope()") == "1"


def test_names_of_loops_are_gone_behind_them() -> None:
    assert value("[[for v in [1] : v], v]") == '[[1],"${v}"]'


@pytest.mark.parametrize(
    "text",
    [
        '"%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }x%{ endfor }%{ endfor }'
        '%{ endfor }"',
        "[for a in range(1024) : [for b in range(1024) : [for c in range(1024) : 1]]]",
        "setproduct(range(1000), range(1000), range(1000))",
        'replace(format("%4000d", 1), "", format("%4000d", 1))',
        'format("%999999999d", 1)',
        'indent(999999999, "a\\nb")',
        'regex_replace("aaaaaaaaaaaaaaaaaaaaaaaaa", "((((a{1,100}){1,100}){1,100}){1,100})", "x")',
        "1" + "0" * 5000,
        "9" + "9" * 2000 + " * " + "9" + "9" * 2000,
        "1e-2400 * 1e-2400",
    ],
)
def test_expensive_expressions_are_refused(text: str) -> None:
    try:
        result, diagnostics = evaluate(text)
    except HCLError as error:
        assert_refused(error)
    else:
        assert result is UNKNOWN
        assert diagnostics


def assert_refused(error: HCLError) -> None:
    assert error.diagnostics


def test_values_that_double_are_refused_before_they_fill_the_memory() -> None:
    big: Value = ("x",) * 10
    for _ in range(40):
        big = (big, big)
    for text in ("jsonencode(var.big)", "var.big == var.big", "true ? var.big : []", "flatten(var.big)"):
        with pytest.raises(HCLError, match="Evaluation too expensive"):
            evaluate(text, {"var": {"big": big}})


def test_values_nested_without_end_are_refused() -> None:
    deep: Value = ()
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(HCLError, match="Value nested too deeply"):
        evaluate("jsonencode(var.deep)", {"var": {"deep": deep}})
    for depth in (500, 100_000):
        assert "nested too deeply" in problem(f'jsondecode("{"[" * depth}{"]" * depth}")')


def test_the_deepest_nesting_that_parses_can_be_evaluated() -> None:
    levels = NESTING_DEPTH_MAX // 2 - 1
    every_operator = "true||true&&true==1<1+1*" + "(1+1*-" * levels + "1" + ")" * levels
    assert evaluate(every_operator)[1] == []
    strings = '"a${' * levels + '"x"' + '}"' * levels
    assert value(strings) == '"' + "a" * levels + 'x"'


PARTS = st.sampled_from(
    [
        *(
            "1",
            "0",
            "2.5",
            '"a"',
            '"5"',
            "true",
            "null",
            "[1, 2]",
            "{ a = 1 }",
            "var.xs",
            "var.m",
            "var.none",
        ),
        *("attr.x", "range(3)", "convert([1], set(number))", "1/0", "1/3", "pow(2, 0.5)", '"${attr.y} z"'),
    ]
)


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "%", "<", ">=", "==", "!=", "&&", "||"])
    names = st.sampled_from([*FUNCTIONS, "try", "can"])
    return st.one_of(
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("[for v in {} : {}]".format, inner, inner),
        st.builds("{{ for k, v in {} : k => {} }}".format, inner, inner),
        st.builds("{}({})".format, names, st.lists(inner, max_size=3).map(", ".join)),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[*].a".format, inner),
        st.builds('"x${{{}}}y"'.format, inner),
    )


@given(st.recursive(PARTS, combined, max_leaves=12))
def test_any_expression_has_a_value_or_a_diagnostic(text: str) -> None:
    result, diagnostics = outcome(text)
    assert result is not UNKNOWN or diagnostics


def outcome(text: str) -> tuple[Value, Any]:
    try:
        return evaluate(text)
    except HCLError as error:
        return UNKNOWN, error.diagnostics
