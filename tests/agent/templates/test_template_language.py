"""Templates mean what they mean in Go, and cannot hold up or fill up the agent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.templates.rendering_support import text
from yurt.agent.templates.language import ParseFailed, TemplateFailed
from yurt.agent.templates.language.text import float_text
from yurt.agent.templates.rendering import read_template


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", "plain"),
        ("a {{- 1 -}} b", "a1b"),
        ("a {{ 1 -}}\n\n b", "a 1b"),
        ("a{{/* nothing */}}b", "ab"),
        ("a {{- /* nothing */ -}} b", "ab"),
        ("{{ `raw \\n` }}{{ \"tab\\t\\u00e9\\x41\\101\" }}", "raw \\ntab\té\x41A"),
        ("{{ 0x1F }} {{ 0b11 }} {{ 017 }} {{ 1_000 }} {{ 'a' }} {{ -3 }}", "31 3 15 1000 97 -3"),
        ("{{ 1.5 }} {{ 1e3 }} {{ 1000000.0 }} {{ 1e-7 }} {{ 100000.5 }}", "1.5 1000 1e+06 1e-07 100000.5"),
        ("{{ true }} {{ false }}", "true false"),
        ("{{ $x := 1 }}{{ $x }}{{ $x = 2 }}{{ $x }}", "12"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}", "1"),
        ("{{ if false }}a{{ else if true }}b{{ else }}c{{ end }}", "b"),
        ("{{ with 0 }}a{{ else with 5 }}{{ . }}{{ end }}", "5"),
        ("{{ with $x := 5 }}{{ $x }}{{ . }}{{ end }}", "55"),
        ("{{ range loop 3 }}{{ . }},{{ end }}", "0,1,2,"),
        ("{{ range 3 }}{{ . }}{{ end }}", "012"),
        ("{{ range loop 0 }}x{{ else }}none{{ end }}", "none"),
        ('{{ range $i, $x := split "," "a,b" }}{{ $i }}={{ $x }} {{ end }}', "0=a 1=b "),
        ('{{ range $k, $v := parseJSON "{\\"b\\":1,\\"a\\":2}" }}{{ $k }}={{ $v }} {{ end }}', "a=2 b=1 "),
        ("{{ range loop 9 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 3 }}{{ break }}{{ end }}"
         "{{ . }}{{ end }}", "02"),
        ("{{ range loop 2 }}{{ range loop 2 }}{{ if eq . 1 }}{{ break }}{{ end }}{{ . }}{{ end }};{{ end }}",
         "0;0;"),
        ('{{ define "t" }}[{{ . }}]{{ end }}{{ template "t" 1 }}{{ template "t" "x" }}', "[1][x]"),
        ('{{ block "b" 5 }}<{{ . }}>{{ end }}', "<5>"),
        ('{{ "a" | printf "%s-%s" "b" }}', "b-a"),
        ('{{ ("{\\"a\\":{\\"b\\":[1,2]}}" | parseJSON).a.b }}', "[1 2]"),
        ("{{ and 1 0 (index nil 5) }} {{ or 0 2 (index nil 5) }} {{ not 0 }}", "0 2 true"),
        ('{{ eq "a" "b" "a" }} {{ ne 1 2 }} {{ lt 1 2 }} {{ le 2 2 }} {{ gt "b" "a" }} {{ ge 1 2 }}',
         "true true true true true false"),
        ('{{ len "é" }} {{ len (split "," "a,b") }} {{ slice "abc" 1 }} {{ slice "abc" 0 2 }}', "2 2 bc ab"),
        ('{{ index (parseJSON "{\\"a\\":[1,2]}") "a" 1 }}', "2"),
        ('{{ print 1 2 "a" 3 }} {{ println "x" }}', "1 2a3 x\n"),
        ('{{ html "<a href=\\"x\\">" }} {{ js "it\'s" }} {{ urlquery "a b&c" }}',
         "&lt;a href=&#34;x&#34;&gt; it\\'s a+b%26c"),
        ("{{ .nothing.at.all }}", "<no value>"),
        ('{{ (parseJSON "{\\"a\\":null}").a }} {{ parseJSON "{\\"a\\":null}" }}', "<no value> map[a:<nil>]"),
    ],
)  # fmt: skip
def test_meaning(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("form", "args", "expected"),
    [
        ("%05d|%-4d|%+d|%x|%X|%o|%b", "42 42 42 255 255 8 5", "00042|42  |+42|ff|FF|10|101"),
        ("%6.2f|%.3e|%g|%v", "3.14159 1234.5 0.1 2.0", "  3.14|1.234e+03|0.1|2"),
        ("%s|%q|%10s|%-5s|%.2s", '"a" "b\\"" "c" "d" "xyz"', 'a|"b\\""|         c|d    |xy'),
        ("%t|%c|%U|%T|%%", "true 65 233 1.5", "true|A|U+00E9|float64|%"),
        ("%x %X", '"hi" "hi"', "6869 6869"),
        ("%d %s", '"x"', "%!d(string=x) %!s(MISSING)"),
        ("%d", "1 2", "1%!(EXTRA int=2)"),
        ("%*d|%-*d|", "4 7 3 7", "   7|7  |"),
        ("%q", '(split "," "a,b")', '["a" "b"]'),
        ("100%", "", "100%!(NOVERB)"),
        ("%y", "1", "%!y(int=1)"),
    ],
)
def test_printf(form: str, args: str, expected: str) -> None:
    assert text(f'{{{{ printf "{form}" {args} }}}}') == expected


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ nosuchfunc }}", 'template: :1: function "nosuchfunc" not defined'),
        ("a\nb{{ $x }}", 'template: :2: undefined variable "$x"'),
        ("{{ if true }}", "template: :1: unexpected EOF"),
        ("{{ end }}", "template: :1: unexpected {{end}}"),
        ("{{ if }}a{{ end }}", "template: :1: missing value for if"),
        ("{{ }}", "template: :1: missing value for command"),
        ("{{ break }}", "template: :1: {{break}} outside {{range}}"),
        ("{{ (1 }}", "template: :1: unclosed left paren"),
        ("{{ 1) }}", "template: :1: unexpected right paren"),
        ("{{ 1", "template: :1: unclosed action"),
        ('{{ "a', "template: :1: unterminated quoted string"),
        ("{{/* a", "template: :1: unclosed comment"),
        ("{{ ! }}", "template: :1: unrecognized character in action: U+0021 '!'"),
        ("{{ 1a }}", 'template: :1: bad number syntax: "1a"'),
        ("{{ 1 | 2 }}", "template: :1: non executable command in pipeline stage 2"),
        ("{{ 1 | }}", "template: :1: missing value for command"),
        ("{{ if true }}{{ else }}{{ else }}{{ end }}", "template: :1: expected end; found {{else}}"),
        ("{{ template 5 }}", 'template: :1: unexpected "5" in template clause'),
        ("{{ end if }}", "template: :1: unexpected <if> in end"),
    ],
)
def test_what_cannot_be_read(source: str, problem: str) -> None:
    with pytest.raises(ParseFailed) as failure:
        read_template(source)
    assert str(failure.value) == problem


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{{ index (split "," "a") 5 }}',
         'template: :1:3: executing "" at <index (split "," "a") 5>: error calling index: '
         "index out of range: 5"),
        ("{{ plugin \"x\" }}",
         'template: :1:3: executing "" at <plugin "x">: error calling plugin: function is disabled'),
        ('é\né{{ toUpper 5 }}',
         'template: :2:13: executing "" at <5>: wrong type for value; expected string; got int'),
        ("{{ toUpper }}",
         'template: :1:3: executing "" at <toUpper>: wrong number of args for toUpper: want 1 got 0'),
        ("{{ (toUpper \"a\").x }}",
         'template: :1:12: executing "" at <"a">: can\'t evaluate field x in type string'),
        ('{{ template "none" }}',
         'template: :1:3: executing "" at <{{template "none"}}>: template "none" not defined'),
        ('{{ eq 1 "a" }}',
         'template: :1:3: executing "" at <eq 1 "a">: error calling eq: incompatible types for comparison'),
        ("{{ range true }}{{ end }}",
         'template: :1:9: executing "" at <true>: range can\'t iterate over true'),
        ('{{ define "t" }}{{ len 5 }}{{ end }}{{ template "t" }}',
         'template: :1:19: executing "t" at <len 5>: error calling len: len of type int'),
        ("{{ 5 6 }}", 'template: :1:3: executing "" at <5>: can\'t give argument to non-function 5'),
        ('{{ key "a" }}',
         'template: :1:3: executing "" at <key "a">: error calling key: it needs Consul, '
         "which this node does not talk to"),
    ],
)  # fmt: skip
def test_what_cannot_be_run(source: str, problem: str) -> None:
    assert text(source) == f"failed: {problem}"


def test_a_missing_key_fails_when_asked_to() -> None:
    source = '{{ ("{}" | parseJSON).zz }}'

    assert text(source) == "<no value>"
    assert text(source, strict=True) == (
        'failed: template: :1:11: executing "" at <parseJSON>: map has no entry for key "zz"'
    )


def test_other_delimiters() -> None:
    template = read_template("{{ kept }} [[ toUpper `a` -]] !", left="[[", right="]]")

    assert [type(part).__name__ for part in template.body] == ["Text", "Action", "Text"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ range loop 1000000 }}{{ range loop 1000 }}{{ end }}{{ end }}", "steps"),
        ('{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', "depth"),
        ("{{ loop 99999999999 }}", "items"),
        ('{{ indent 99999999 "a" }}', "characters"),
        ('{{ sprig_repeat 999999999 "ab" }}', "characters"),
        ('{{ printf "%999999d" 1 }}', "widths"),
        ('{{ $x := "aaaaaaaaaaaaaaaa" }}{{ range loop 40 }}{{ $x = printf "%s%s" $x $x }}{{ end }}', "data"),
        ('{{ $x := sprig_repeat 1000000 "abcd" }}{{ range loop 99 }}{{ $x }}{{ end }}', "longer"),
        ('{{ $x := sprig_repeat 9999 "a" }}{{ replaceAll "a" $x $x }}', "characters"),
        ('{{ regexReplaceAll "a(.*b)?" "x" (sprig_repeat 5000 "a") }}', "too long"),
    ],
)
def test_limits(source: str, problem: str) -> None:
    failed = text(source)

    assert failed.startswith("failed: ")
    assert problem in failed


def test_nesting_has_a_limit() -> None:
    with pytest.raises(ParseFailed, match="nested more than 60 deep"):
        read_template("{{ if true }}" * 100)
    with pytest.raises(ParseFailed, match="nested more than 60 deep"):
        read_template("{{ " + "(" * 500 + "1" + ")" * 500 + " }}")
    assert "nested too deeply" in text('{{ parseJSON "' + "[" * 900 + "]" * 900 + '" | print }}')


@given(st.text(alphabet='{}()|.$"`- =:,abx15\n', max_size=40))
def test_no_text_is_too_odd(source: str) -> None:
    """Whatever stands in a template, it is rendered or refused."""
    try:
        template = read_template("{{" + source + "}}")
    except TemplateFailed:
        return
    assert template.source
    text("{{" + source + "}}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_fractions_read_back_as_they_were(number: float) -> None:
    assert float(float_text(number)) == number
