"""What the functions of templates give."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.templates.rendering_support import rendered, text
from yurt.agent.templates.functions.json_text import json_text
from yurt.agent.templates.functions.times import time_in_layout
from yurt.agent.templates.functions.yaml_reading import read_yaml
from yurt.agent.templates.functions.yaml_text import yaml_text
from yurt.agent.templates.sources import (
    FileQuery,
    Known,
    ServiceQuery,
    TemplateVariable,
    VariableQuery,
    VariablesQuery,
)
from yurt.model.service_registration import ServiceRegistration


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{{ base64URLEncode "a?>" }} {{ base64URLDecode "YT8-" }}', "YT8- a?>"),
        ('{{ indent 2 "a\\nb" }}', "  a\n  b"),
        ('{{ split "," "" | len }} {{ split "" "ab" }}', "0 [a b]"),
        ('{{ trim "x" "xax" }} {{ toTitle "ab cd-ef" }}', "a Ab Cd-Ef"),
        ('{{ "k1=v1 k2=v2" | regexReplaceAll "(\\\\w+)=(\\\\w+)" "${2}:$1" }}', "v1:k1 v2:k2"),
        ('{{ parseInt "" }} {{ parseFloat "2.50" }} {{ parseBool "" }}', "0 2.5 false"),
        ('{{ toJSONPretty (parseJSON "{\\"a\\":[1,{}],\\"b\\":{}}") }}',
         '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": {}\n}'),
        ('{{ toJSON (parseJSON "[1e21,0.0000001,1.5,100000000]") }}', "[1e+21,1e-7,1.5,100000000]"),
        ('{{ toYAML (parseJSON "{\\"b\\":[1,{\\"x\\":\\"y: z\\"}],\\"a\\":{\\"c\\":true}}") }}',
         'a:\n  c: true\nb:\n- 1\n- x: "y: z"'),
        ('{{ toTOML (parseJSON "{\\"a\\":[1,2],\\"t\\":{\\"x\\":\\"y\\"},\\"l\\":[{\\"n\\":1}]}") }}',
         'a = [1.0, 2.0]\n\n[[l]]\n  n = 1.0\n\n[t]\n  x = "y"'),
        ('{{ explodeMap (parseJSON "{\\"a/b\\":1,\\"a/c\\":2}") }}', "map[a:map[b:1 c:2]]"),
        ('{{ $a := parseJSON "{\\"x\\":1}" }}{{ $b := parseJSON "{\\"x\\":2,\\"y\\":3}" }}'
         "{{ mergeMap $a $b }} {{ mergeMapWithOverride $a $b }}", "map[x:1 y:3] map[x:2 y:3]"),
        ('{{ containsAll (split "," "a,b") (split "," "a,b,c") }} '
         '{{ containsAny (split "," "z,b") (split "," "a,b") }} '
         '{{ containsNone (split "," "z") (split "," "a") }}', "true true true"),
        ("{{ divide 2 -7 }} {{ modulo 2 -7 }} {{ divide 2.0 7 }} {{ multiply 2 1.5 }}", "-3 -1 3.5 3"),
        ('{{ scratch.SetX "a" 1 }}{{ scratch.SetX "a" 2 }}{{ scratch.Get "a" }}{{ scratch.Key "a" }}',
         "1true"),
        ('{{ timestamp }} {{ timestamp "2006-01-02" }} {{ timestamp "unix" }}',
         "2026-05-28T20:26:40Z 2026-05-28 1780000000"),
        ('{{ sockaddr "GetPrivateIP" }}', "<GetPrivateIP>"),
        ('{{ sprig_default "d" "" }} {{ sprig_ternary 1 2 true }} {{ sprig_coalesce 0 "" 3 }}', "d 1 3"),
        ('{{ sprig_trunc -2 "abc" }} {{ sprig_substr 1 2 "abc" }} {{ sprig_quote "a" 1 }}', 'bc b "a" "1"'),
        ('{{ sprig_list 3 1 2 | sprig_sortAlpha | sprig_join "," }} {{ sprig_until 3 }}', "1,2,3 [0 1 2]"),
        ('{{ $d := sprig_dict "a" 1 }}{{ sprig_set $d "b" 2 }} {{ sprig_hasKey $d "b" }} {{ sprig_keys $d }}',
         "map[a:1 b:2] true [a b]"),
        ('{{ sprig_dig "a" "b" "no" (parseJSON "{\\"a\\":{\\"b\\":5}}") }}', "5"),
        ('{{ sprig_add 1 2 3 }} {{ sprig_round 2.345 2 }} {{ sprig_max 1 5 3 }}', "6 2.35 5"),
        ('{{ "a\\nb" | sprig_nindent 2 }}', "\n  a\n  b"),
    ],
)  # fmt: skip
def test_functions(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{{ parseInt "x" }}', 'parseInt: strconv.ParseInt: parsing "x": invalid syntax'),
        ('{{ parseUint "-1" }}', "invalid syntax"),
        ('{{ parseJSON "{" }}', "parseJSON: "),
        ('{{ parseYAML "a: *b" }}', "parseYAML: yaml: line 1: aliases are not read"),
        ('{{ base64Decode "%" }}', "illegal base64 data"),
        ('{{ regexMatch "(" "a" }}', "missing closing )"),
        ("{{ divide 0 1 }}", "integer divide by zero"),
        ('{{ mustEnv "NOPE" }}', "missing required environment variable: NOPE"),
        ('{{ file "local/x" }}', "is relative"),
        ('{{ nomadService "a b" }}', "invalid format"),
        ('{{ nomadVar "p@default.mars" }}', "another one than global"),
        ('{{ secret "a" }}', "needs Vault"),
        ('{{ sprig_fail "no good" }}', "no good"),
        ("{{ toTOML 5 }}", "only maps"),
    ],
)
def test_what_functions_refuse(source: str, problem: str) -> None:
    assert problem in text(source)


def an_instance(number: int, *tags: str) -> ServiceRegistration:
    return ServiceRegistration(
        id=f"id{number}", service_name="db", address="10.0.0.1", port=number, tags=tags
    )


def test_services() -> None:
    known: Known = {ServiceQuery("default", "db"): (an_instance(2, "b", "a"), an_instance(1, "a"))}

    assert text('{{ range nomadService "db" }}{{ .Port }}{{ .Tags }}{{ end }}', known) == "1[a]2[a b]"
    assert text('{{ range nomadService "b.db" }}{{ .Port }}{{ end }}', known) == "2"
    assert text('{{ range nomadService 1 "k" "db" }}{{ .Name }}{{ end }}', known) == "db"
    assert text(
        '{{ range $tag, $of := byTag (nomadService "db") }}{{ $tag }}{{ len $of }}{{ end }}', known
    ) == ("a2b1")
    assert "can't evaluate field Nope" in text('{{ range nomadService "db" }}{{ .Nope }}{{ end }}', known)


def test_what_is_not_known_yet_is_missing() -> None:
    first = rendered(
        '{{ with nomadVar "nomad/jobs/x" }}{{ .a }}{{ end }}{{ range nomadService "db" }}{{ end }}'
    )

    assert first.missing == ("nomad.service(db)", "nomad.var.block(nomad/jobs/x@default.global)")
    assert first.used == {VariableQuery("default", "nomad/jobs/x"), ServiceQuery("default", "db")}


def test_services_may_be_empty_and_variables_must_exist() -> None:
    known: Known = {
        VariableQuery("default", "p"): None,
        ServiceQuery("default", "db"): (),
        VariablesQuery("default", "q"): (),
        FileQuery("/local/x"): None,
    }

    assert rendered('{{ nomadVar "p" }}', known).missing == ("nomad.var.block(p@default.global)",)
    assert rendered('{{ nomadService "db" }}{{ nomadVarExists "p" }}', known).missing == ()
    assert rendered('{{ nomadVarList "q" }}', known).missing == ()
    assert rendered('{{ nomadVarListSafe "q" }}', known).missing == ("nomad.var.list(q@default.global)",)
    assert rendered('{{ file "/local/x" }}', known).missing == ("file(/local/x)",)


def test_errors_wait_until_nothing_is_missing() -> None:
    source = '{{ index (split "," (file "/local/list")) 1 }}'

    assert rendered(source).missing == ("file(/local/list)",)
    assert "index out of range" in text(source, {FileQuery("/local/list"): "a"})
    assert text(source, {FileQuery("/local/list"): "a,b"}) == "b"


def test_items_of_variables() -> None:
    variable = TemplateVariable(namespace="prod", path="p", items={"user": "ann"}, modify_index=7)
    known: Known = {VariableQuery("prod", "p"): variable}

    assert text('{{ with nomadVar "p@prod" }}{{ .user | toUpper }}{{ toJSON . }}{{ end }}', known) == (
        'ANN{"user":"ann"}'
    )
    assert text(
        '{{ with nomadVar "p@prod" }}{{ .Metadata.ModifyIndex }}{{ .user.Metadata }}{{ end }}', known
    ) == ("7p")
    assert text('{{ (nomadVar "p@prod").Tuples }}', known) == "[ann]"


def test_the_tasks_environment() -> None:
    assert text('{{ env "A" }}|{{ env "B" }}|{{ envOrDefault "B" "c" }}', variables={"A": "1"}) == "1||c"


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("Mon Jan _2 15:04:05 2006", "Thu May 28 20:26:40 2026"),
        ("Monday, 02-Jan-06 15:04:05 MST", "Thursday, 28-May-26 20:26:40 UTC"),
        ("3:04PM", "8:26PM"),
        ("2006-01-02T15:04:05.000Z07:00", "2026-05-28T20:26:40.123Z"),
        ("15:04:05.999999999 -0700", "20:26:40.123456789 +0000"),
    ],
)
def test_layouts_of_times(layout: str, expected: str) -> None:
    assert time_in_layout(1_780_000_000_123_456_789, layout) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", None),
        ("a: 1", {"a": 1}),
        ("---\na: 1\n", {"a": 1}),
        ("a:\n  b: x # note\n  c: [1, 'two', {d: 3}]\n", {"a": {"b": "x", "c": [1, "two", {"d": 3}]}}),
        ("a:\n- 1\n- b: 2\n  c: 3\n-\n  - x\n", {"a": [1, {"b": 2, "c": 3}, ["x"]]}),
        ("- - 1\n  - 2\n- 3", [[1, 2], 3]),
        ('a: "x\\n: #"\nb: \'it\'\'s\'\n', {"a": "x\n: #", "b": "it's"}),
        ("a: |\n  one\n    two\n\nb: >-\n  one\n  two\n", {"a": "one\n  two\n", "b": "one two"}),
        ("a: |-\n  x\nb: |+\n  y\n\n", {"a": "x", "b": "y\n\n"}),
        ("a: ~\nb: true\nc: 1.5\nd: 0x10\ne: http://x:1/y\nf: -", {"a": None, "b": True, "c": 1.5, "d": 16,
         "e": "http://x:1/y", "f": "-"}),
        ("a: [1,\n  2]\nb: {}\nc:\n", {"a": [1, 2], "b": {}, "c": None}),
    ],
)  # fmt: skip
def test_yaml_is_read(source: str, expected: object) -> None:
    assert read_yaml(source) == expected


@pytest.mark.parametrize(
    "source",
    ["a: &b 1", "a: !x 1", "? a", "a: 1\na: 2", "a: [1", "a\n b: 1", "a: 1\n---\nb: 2", "a: 1\n  b: 2",
     "\ta: 1", "a: 'x' y", "[" * 500, "a: @x"],
)  # fmt: skip
def test_yaml_that_is_not_read_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="yaml: line"):
        read_yaml(source)


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(PLAIN)
def test_yaml_reads_back_as_it_was(value: object) -> None:
    assert read_yaml(yaml_text(value)) == value


@given(PLAIN)
def test_json_reads_back_as_it_was(value: object) -> None:
    assert json.loads(json_text(value)) == value
    assert json.loads(json_text(value, indent=" ", escapes_html=False)) == value
