"""Functions of the language, beyond the recordings."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from yurt.jobspec.hcl import HCLError, Source
from yurt.jobspec.hcl.diagnostics import Diagnostic
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.functions import standard_functions
from yurt.jobspec.hcl.functions.json_text import json_text
from yurt.jobspec.hcl.functions.yaml_reader import YAMLError, yaml_value
from yurt.jobspec.hcl.functions.yaml_text import yaml_text
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.parser import parse_expression
from yurt.jobspec.hcl.values import UNKNOWN, Value
from yurt.model.regexp_replace import replace_all

NAMES = (Path(__file__).parent / "function_names.txt").read_text().split()


def evaluate(text: str) -> tuple[Value, list[Diagnostic]]:
    source = Source(text, "t")
    diagnostics: list[Diagnostic] = []
    evaluator = Evaluator(source, {}, standard_functions(), diagnostics=diagnostics, meter=Meter())
    return evaluator.evaluate(parse_expression(source)), diagnostics


def value(text: str) -> str:
    result, diagnostics = evaluate(text)
    assert diagnostics == []
    return json_text(result)


def test_all_functions_are_there() -> None:
    assert sorted(standard_functions()) == NAMES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ceil(1/0) == 1/0 && floor(1/0) == 1/0", "true"),
        ("[signum(-2), signum(0), signum(7)]", "[-1,0,1]"),
        ("log(0, 2) == -1/0", "true"),
        ("pow(10, 400) == 1/0", "true"),
        ('parseint("-FF", 16)', "-255"),
        ('upper("straße")', '"STRAßE"'),
        ('trim("abc", "")', '"abc"'),
        ('trimprefix("abc", "a")', '"bc"'),
        ('substr("hello", -2, -1)', '"lo"'),
        ('substr("e\\u0301a", 0, 1)', '"e\u0301"'),
        ('reverse("ae\\u0301")', '"e\u0301a"'),
        ('split("", "ab")', '["a","b"]'),
        ('indent(2, "a\\nb\\n")', '"a\\n  b\\n  "'),
        (
            'format("%+d|% d|%-5d|%05d|%5s|%.2s|%t|%%", 3, 3, 3, -3, "a", "abc", "true")',
            '"+3| 3|3    |-0003|    a|ab|true|%"',
        ),
        ('format("%v %v %v %#v %v", "s", true, 1.5, "s", null)', '"s true 1.5 \\"s\\" null"'),
        ('format("%G %E %.3f %f", 0.00001, 1, 1/3, 2)', '"1E-05 1.000000E+00 0.333 2.000000"'),
        ('format("%[1]s%[1]s", "a")', '"aa"'),
        ('formatlist("%s", "a")', '["a"]'),
        ("length(convert([1], set(number)))", "1"),
        ('index(convert({ a = 1 }, map(number)), "a")', "1"),
        ('index(["a", "b"], 1)', '"b"'),
        ('lookup(convert({}, map(string)), "a", 5)', '"5"'),
        ("contains([[1]], [1])", "true"),
        ('distinct(["b", "a", "b"])', '["b","a"]'),
        ('concat([1], ["a"])', '[1,"a"]'),
        ('concat(range(2), convert(["x"], list(string)))', '["0","1","x"]'),
        ("concat(range(1), convert([[]], list(list(string))))", "[0,[]]"),
        ("chunklist([1, 2], 0)", "[[1,2]]"),
        ("slice(convert([1, 2], list(number)), 0, 1)", "[1]"),
        ("coalescelist(null, [], [1])", "[1]"),
        ("keys(convert({ b = 1, a = 1 }, map(number)))", '["a","b"]'),
        ("values(convert({ b = 1, a = 2 }, map(number)))", "[2,1]"),
        ("merge()", "{}"),
        ("merge(convert({ a = 1 }, map(number)), convert({ b = 2 }, map(number)))", '{"a":1,"b":2}'),
        ('zipmap(["a"], range(1))', '{"a":0}'),
        ("setunion([1, 2], [2, 3])", "[1,2,3]"),
        ('setunion([1], ["a"])', '["1","a"]'),
        ('setproduct(convert([2, 1], set(number)), convert(["a"], set(string)))', '[[1,"a"],[2,"a"]]'),
        ("setunion([[1]], [[1]])", "[[1]]"),
        ('jsondecode("1.50")', "1.5"),
        ('csvdecode("a,b\\n\\"x,y\\",2\\n")', '[{"a":"x,y","b":"2"}]'),
        ("formatdate(\"'it''s' YYYY\", \"2024-03-05T15:04:09-07:00\")", '"it\'s 2024"'),
        ('formatdate("Z ZZZ ZZZZ HH", "2024-03-05T00:04:09-07:00")', '"-07:00 -0700 -0700 12"'),
        ('timeadd("2024-03-05T15:04:09+01:00", "-24h")', '"2024-03-04T15:04:09+01:00"'),
        ("strlen(uuidv4())", "36"),
        ('cidrhost("10.0.0.0/8", -1)', '"10.255.255.255"'),
    ],
)
def test_value(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("signum(1.5)", "a whole number is required"),
        ("log(-1, 2)", "the logarithm of these numbers is not a number"),
        ("pow(-1, 0.5)", "the result is not a number"),
        ("parseint(5, 10)", "first argument must be a string, not number"),
        ('parseint("", 10)', 'cannot parse "" as a base 10 integer'),
        (f'parseint("{"9" * 5000}", 10)', "numbers must be smaller than"),
        ('substr("a", 0.5, 1)', "a whole number is required"),
        ('substr("a", 0, 0.5)', "a whole number is required"),
        ('join(",", [null])', "element 0 is null; cannot concatenate null values"),
        ('indent(-1, "a")', "a whole number of spaces is required"),
        ('format("%z", 1)', 'unrecognized format character "z" at offset 1'),
        ('format("%", 1)', "the format string ends in the middle of a verb"),
        ('format("%x", "text")', "a number is required"),
        ('format("%t", 5)', "bool required, but have number"),
        ('element("a", 0)', "cannot read elements from string"),
        ("element([1], 0.5)", "a whole number is required"),
        ('index(convert({}, map(string)), "a")', 'the given key "a" does not exist in the map'),
        ("index(convert({}, map(string)), 1)", "key for map must be string"),
        ('lookup("a", "b", "c")', "lookup() requires a map as the first argument"),
        ('lookup(convert({}, map(number)), "a", "x")', "a number is required"),
        ('contains("a", "a")', "argument must be list, tuple, or set"),
        ("sort([null])", "a null string cannot be sorted"),
        ('concat("a")', "all arguments must be lists or tuples; got string"),
        ("chunklist([1], -1)", "the size argument must be a positive whole number"),
        ("slice([1], 0.5, 1)", "a whole number is required"),
        ("slice([1], -1, 1)", "start index must not be less than zero"),
        ("slice([1, 2], 2, 1)", "start index must not be greater than end index"),
        ("coalesce([], 1)", "all arguments must have the same type"),
        ("coalescelist([])", "no non-null arguments"),
        ('values("a")', "must have map or object type"),
        ('merge("a")', 'arguments must be maps or objects, got "string"'),
        ("zipmap([null], [1])", "a key must not be null"),
        ("range()", "must have one, two, or three arguments"),
        ("range(0, 5, 0)", "step must lead from the start towards the limit"),
        ("range(1/0)", "the arguments must be finite numbers"),
        ("setunion([1], [[]])", "given sets must all have compatible element types"),
        ('setproduct("a", [1])', "list of dynamic required, but have string"),
        ("jsonencode(1/0)", "cannot serialize infinity as JSON"),
        ("yamlencode(1/0)", "cannot serialize infinity as YAML"),
        ('jsondecode("[1] x")', "Extra data at line 1, column 5"),
        ('jsondecode("NaN")', "invalid value NaN"),
        ('jsondecode("1e99999")', "numbers must be smaller than"),
        ('csvdecode("")', "missing header line"),
        ('csvdecode("a,a\\n1,2")', "duplicate column name in the header line"),
        ('csvdecode("a,b\\n1")', "wrong number of fields in line 2: 1 instead of 2"),
        ('csvdecode("a\\n\\"")', "invalid CSV: "),
        ('formatdate("\'x", "2024-03-05T15:04:09Z")', "unterminated literal '"),
        ('formatdate("YYYY", "2024-03-05")', "missing hour"),
        ('formatdate("YYYY", "2024-03-05T15:04:09")', "a UTC offset such as Z or +01:00 must follow"),
        ('formatdate("YYYY", "2024-13-05T15:04:09Z")', "month must be in 1..12"),
        ('timeadd("9999-12-31T23:59:59Z", "1h")', "not within the years 1 to 9999"),
        ('timeadd("2024-03-05T15:04:09Z", "")', 'time: invalid duration ""'),
        ('bcrypt("x")', "bcrypt is not supported; hash the text beforehand"),
        ('rsadecrypt("aGk=", "x")', "a private key in PEM form without a password is required"),
        (f'uuidv5("{"z" * 36}", "x")', "invalid UUID format"),
        ('cidrhost("10.0.0.0", 1)', "invalid CIDR expression: invalid CIDR address: 10.0.0.0"),
        ('cidrhost("x/8", 1)', "invalid CIDR expression"),
        ('cidrhost("10.0.0.0/8", 0.5)', "a whole number is required"),
        ('cidrsubnet("10.0.0.0/8", 2, 4)', "prefix extension of 2 does not accommodate a subnet numbered 4"),
        ('cidrsubnets("10.0.0.0/8", 0)', "must extend prefix by at least one bit"),
        ('cidrsubnets("10.0.0.0/8", 1, 1, 1)', "not enough remaining address space"),
    ],
)
def test_problem(text: str, expected: str) -> None:
    result, diagnostics = evaluate(text)
    assert result is UNKNOWN
    assert expected in str(diagnostics[0])


def test_rsadecrypt_reads_what_the_public_key_wrote() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    secret = base64.b64encode(key.public_key().encrypt(b"geheim", padding.PKCS1v15())).decode()
    assert value(f'rsadecrypt("{secret}", <<E\n{pem}E\n)') == '"geheim"'
    result, diagnostics = evaluate(f'rsadecrypt("aGk=", <<E\n{pem}E\n)')
    assert result is UNKNOWN
    assert "failed to decrypt" in str(diagnostics[0])


# Regular expressions


def test_replacing_by_regular_expressions_is_charged_for() -> None:
    assert value('regex_replace("x1y22", "[0-9]+", "#")') == '"x#y#"'
    _, diagnostics = evaluate('regex_replace("a", "(", "")')
    assert "missing closing )" in str(diagnostics[0])
    with pytest.raises(HCLError, match="Evaluation too expensive"):
        replace_all("(a+)+$", "x", "a" * 1_000_000, chars_max=10, charge=Meter().charge)


def assert_message(error: Exception) -> None:
    assert str(error)


# YAML


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "null"),
        ("# only a comment\n", "null"),
        ("--- 5\n", "5"),
        ("---\na: 1\n...\n", '{"a":1}'),
        ("- a\n- - b\n  - c\n-\n  d: 1\n- \n", '["a",["b","c"],{"d":1},null]'),
        ("a:\n- 1\n- 2\nb: x\n", '{"a":[1,2],"b":"x"}'),
        ("a: 'it''s'\n\"b c\": \"x\\ty\\u00e9\"\n", '{"a":"it\'s","b c":"x\\tyé"}'),
        ("a: [1, {b: c, d}, 'e', \"f\"]  # comment\n", '{"a":[1,{"b":"c","d":null},"e","f"]}'),
        ("a: [\n  1,\n  2\n]\nb: 1\n", '{"a":[1,2],"b":1}'),
        ("a: |\n  x\n   y\n\n  z\nb: >-\n  p\n  q\n\n  r\n", '{"a":"x\\n y\\n\\nz\\n","b":"p q\\nr"}'),
        ("a: |+\n  x\n\nb: |2\n    y\n", '{"a":"x\\n\\n","b":"  y\\n"}'),
        ("a: one\n  two\n\n  three\n", '{"a":"one two\\nthree"}'),
        ("[yes, No, on, OFF, ~, null, y, True]", "[true,false,true,false,null,null,true,true]"),
        ("[0x10, 0b11, 010, 1_000, -5, +5, 1.5, 1e3, .5]", "[16,3,8,1000,-5,5,1.5,1000,0.5]"),
        ("[2001-02-03, 2001-02-03T04:05:06Z, 2001-02-03 04:05:06 -05]",
         '["2001-02-03T00:00:00Z","2001-02-03T04:05:06Z","2001-02-03T04:05:06-05:00"]'),
        ("a: http://x/y#z\n", '{"a":"http://x/y#z"}'),
        ("a: \"x\n  y\"\n", '{"a":"x y"}'),
        ("a:\n  b:\n    c: 1\n  d: 2\n", '{"a":{"b":{"c":1},"d":2}}'),
    ],
)  # fmt: skip
def test_yaml_is_read(text: str, expected: str) -> None:
    assert json_text(yaml_value(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n  b: 2\n", "on line"),
        ("a: b: c\n", "mapping values are not allowed in this context"),
        ("a: 1\na: 2\n", 'key "a" is already set in this map'),
        ("a: &x 1\n", "anchors, aliases and tags are not supported"),
        ("<<: 1\n", "merge keys are not supported"),
        ("a: @x\n", "found character that cannot start any token"),
        ("a: 'x\n", "found unexpected end of stream"),
        ("a: [1 2\n", "did not find expected"),
        ("a: [1] x\n", "did not find expected key"),
        ("a: |x\n", "did not find expected comment or line break"),
        ("a: .inf\n", "infinity and NaN are not supported"),
        ("- 1\nb\n", "did not find expected <document start>"),
        ("\ta: 1\n", "found character that cannot start any token"),
        ("a: 1" + "0" * 5000, "numbers must be smaller than"),
        ("[" * 100, "nested too deeply"),
        ("- " * 100, "nested too deeply"),
    ],
)
def test_bad_yaml_is_refused(text: str, expected: str) -> None:
    with pytest.raises(YAMLError) as caught:
        yaml_value(text)
    assert expected in str(caught.value)


def test_yaml_is_written() -> None:
    text = yaml_text(
        {"a": (), "b": {}, "c": ((1, 2), {"k": "v", "l": "x"}), "d": "a\nb", "e": "a\n\n", "f": "<&>"}
    )
    assert text == (
        '"a": []\n"b": {}\n"c":\n- - 1\n  - 2\n- "k": "v"\n  "l": "x"\n"d": |-\n  a\n  b\n"e": |+\n  '
        'a\n\n"f": "<&>"\n'
    )


JSON_VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_what_is_written_as_yaml_is_read_back(data: Value) -> None:
    assert yaml_value(yaml_text(data)) == data


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from([*"-:#|>[]{},'\"&\n ab1", "- ", ": ", "\n  "])).map("".join)
    )
)
def test_any_yaml_is_read_or_refused(text: str) -> None:
    try:
        yaml_value(text)
    except YAMLError as error:
        assert_message(error)
