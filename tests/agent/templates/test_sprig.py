"""What the functions of sprig, spew and printf's rarer verbs give."""

from __future__ import annotations

import pytest

from tests.agent.templates.rendering_support import text
from yurt.agent.templates.functions.registry import NAMES


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # words
        (
            '{{ sprig_abbrev 5 "hello world" }} {{ sprig_abbrevboth 5 10 "1234 5678 9123" }}',
            "he... ...5678...",
        ),
        ('{{ sprig_initials "First Try" }} {{ sprig_swapcase "aB c" }}', "FT Ab C"),
        (
            '{{ sprig_snakecase "FirstName" }} {{ sprig_snakecase "HTTPServer" }} '
            '{{ sprig_snakecase "NoHTTPS" }}',
            "first_name http_server no_https",
        ),
        (
            '{{ sprig_snakecase "GO PATH" }} {{ sprig_kebabcase "FirstName" }} '
            '{{ sprig_camelcase "http_server" }}',
            "go_path first-name HttpServer",
        ),
        ('{{ sprig_wrap 5 "aa bb cc" }}|{{ sprig_wrapWith 3 "-" "abcdefg" }}', "aa bb\ncc|abc-def-g"),
        # regular expressions
        ('{{ sprig_regexFind "[a-z][1-9]" "abcd1234" }} [{{ sprig_regexFind "z" "a" }}]', "d1 []"),
        (
            '{{ sprig_regexFindAll "[2,4,6,8]" "123456789" -1 }} {{ sprig_regexFindAll "[0-9]" "12" 1 }}',
            "[2 4 6 8] [1]",
        ),
        ('{{ sprig_regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}', "-W-xxW-"),
        ('{{ sprig_regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "${1}" }}', "-${1}-${1}-"),
        (
            '{{ sprig_regexSplit "z+" "pizza" -1 }} {{ sprig_regexSplit "," "a,b,c" 2 }} '
            '{{ sprig_regexSplit "" "ab" -1 }}',
            "[pi a] [a b,c] [a b]",
        ),
        ('{{ sprig_regexQuoteMeta "1.2.3" }}', "1\\.2\\.3"),
        # paths
        (
            '{{ sprig_base "a/b/c" }} {{ sprig_dir "a/b" }} {{ sprig_dir "a" }} {{ sprig_ext "a/b.tar.gz" }}',
            "c a . .gz",
        ),
        (
            '{{ sprig_clean "a/../b//c" }} {{ sprig_clean "" }} {{ sprig_isAbs "/a" }} {{ sprig_base "" }}',
            "b/c . true .",
        ),
        (
            '{{ sprig_urlParse "http://u:p@h.d:1/e?f=g#h" }}',
            "map[fragment:h host:h.d:1 hostname:h.d opaque: path:/e query:f=g scheme:http userinfo:u:p]",
        ),
        (
            '{{ sprig_urlJoin (sprig_dict "scheme" "http" "host" "h:1" "path" "/p" "query" "q=1" '
            '"fragment" "f") }}',
            "http://h:1/p?q=1#f",
        ),
        # numbers
        (
            "{{ sprig_addf 1.5 2 3 }} {{ sprig_add1f 1.5 }} {{ sprig_subf 7.5 2 3 }} "
            "{{ sprig_mulf 1.5 2 2 }}",
            "6.5 2.5 2.5 6",
        ),
        (
            "{{ sprig_divf 10 2 4 }} {{ sprig_maxf 1 2.5 3 }} {{ sprig_minf 1.5 2 }} "
            '{{ sprig_toDecimal "777" }}',
            "1.25 3 1.5 511",
        ),
        (
            "{{ sprig_seq 3 }}|{{ sprig_seq 0 2 }}|{{ sprig_seq 2 -2 }}|{{ sprig_seq 0 2 10 }}|"
            "{{ sprig_seq 0 -2 -5 }}",
            "1 2 3|0 1 2|2 1 0 -1 -2|0 2 4 6 8 10|0 -2 -4",
        ),
        # lists, maps, types
        (
            "{{ sprig_chunk 2 (sprig_list 1 2 3) }} {{ sprig_slice (sprig_list 1 2 3) 1 2 }}",
            "[[1 2] [3]] [2]",
        ),
        (
            "{{ sprig_all 1 true }} {{ sprig_any 0 false }} {{ sprig_toStrings (sprig_list 1 2) }}",
            "true false [1 2]",
        ),
        ('{{ sprig_pluck "a" (sprig_dict "a" 1) (sprig_dict "b" 2) (sprig_dict "a" 3) }}', "[1 3]"),
        (
            '{{ sprig_mergeOverwrite (sprig_dict "a" 1) (sprig_dict "a" 2) }} '
            "{{ sprig_deepEqual (sprig_list 1) (sprig_list 1) }}",
            "map[a:2] true",
        ),
        (
            '{{ sprig_kindIs "slice" (sprig_list) }} {{ sprig_typeIs "string" "a" }} '
            '{{ sprig_splitn "." 2 "a.b.c" }}',
            "true true map[_0:a _1:b.c]",
        ),
        # times
        (
            '{{ sprig_now | sprig_date "2006-01-02 15:04" }} {{ sprig_htmlDate 0 }} {{ sprig_now.Unix }}',
            "2026-05-28 20:26 1970-01-01 1780000000",
        ),
        ('{{ sprig_dateInZone "15:04 MST -0700" sprig_now "Europe/Berlin" }}', "22:26 CEST +0200"),
        (
            '{{ sprig_now | sprig_date_modify "-1.5h" | sprig_date "15:04" }} '
            "{{ sprig_unixEpoch sprig_now }}",
            "18:56 1780000000",
        ),
        (
            '{{ sprig_duration "95" }} {{ sprig_durationRound "2h10m5s" }} '
            '{{ sprig_durationRound "2400h10m5s" }}',
            "1m35s 2h 3mo",
        ),
        (
            '{{ sprig_toDate "2006-01-02" "2026-05-27" | sprig_ago }} '
            '{{ sprig_toDate "Jan 2, 2006 3:04pm" "May 1, 2026 4:05pm" }}',
            "44h26m40s 2026-05-01 16:05:00 +0000 UTC",
        ),
        # versions
        ('{{ (sprig_semver "v1.2.3-beta.1+x").Minor }} {{ sprig_semver "v1.2" }}', "2 1.2.0"),
        # the rest
        (
            '{{ sprig_b32enc "a" }} {{ sprig_b32dec "ME======" }} {{ sprig_adler32sum "a" }} '
            "{{ sprig_hello }}",
            "ME====== a 6422626 Hello!",
        ),
        (
            "{{ len (sprig_randAlphaNum 7) }} {{ len sprig_uuidv4 }} {{ sprig_randInt 3 4 }} "
            '{{ len (sprig_shuffle "abc") }}',
            "7 36 3 3",
        ),
        (
            '{{ spew_dump (parseJSON "{\\"a\\":[1,\\"x\\",null]}") }}',
            '(map[string]interface {}) (len=1) {\n (string) (len=1) "a": ([]interface {}) (len=3 cap=3) {\n'
            '  (float64) 1,\n  (string) (len=1) "x",\n  (interface {}) <nil>\n }\n}\n',
        ),
        ('{{ printf "%[2]d %[1]d %[3]*.[2]*[1]f" 1 2 3 }}', "2 1 %!f(int=1)"),
        (
            '{{ printf "%#v %#v %[5]d" (split "," "a,b") (parseJSON "{\\"a\\":[1,null]}") }}',
            '[]string{"a", "b"} map[string]interface {}{"a":[]interface {}{1, interface {}(nil)}} '
            "%!d(BADINDEX)",
        ),
    ],
)
def test_what_they_give(source: str, expected: str) -> None:
    assert text(source) == expected


def test_the_environment_is_that_of_the_task() -> None:
    assert text('{{ sprig_expandenv "$A-${B}-$NOPE" }}', variables={"A": "1", "B": "2"}) == "1-2-"


@pytest.mark.parametrize(
    ("constraint", "version", "fits"),
    [
        ("^1.2.0", "1.9.9", True),
        ("^1.2.0", "2.0.0", False),
        ("^0.2.3", "0.3.0", False),
        ("~1.2", "1.2.9", True),
        ("~1.2.3", "1.3.0", False),
        (">= 1.0, < 2", "1.5.0", True),
        (">=1.0 <2", "2.0.0", False),
        ("1.2.x", "1.2.7", True),
        ("1.2 - 1.4", "1.3.1", True),
        ("<1 || >2", "3.0.0", True),
        ("*", "1.0.0", True),
        (">=1.0.0", "1.1.0-beta", False),
        (">=1.0.0-0", "1.1.0-beta", True),
        ("!=1.2.3", "1.2.3", False),
    ],
)
def test_versions_meet_constraints(constraint: str, version: str, fits: bool) -> None:
    assert text(f'{{{{ sprig_semverCompare "{constraint}" "{version}" }}}}') == str(fits).lower()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{{ parseJSON "nope" }}', "parseJSON: invalid character 'o' in literal null (expecting 'u')"),
        ('{{ parseJSON "{" }}', "parseJSON: unexpected end of JSON input"),
        ('{{ parseJSON "[1 2]" }}', "invalid character '2' after array element"),
        ('{{ parseJSON "{\\"a\\":1 2}" }}', "invalid character '2' after object key:value pair"),
        ('{{ parseJSON "{\\"a\\" 1}" }}', "invalid character '1' after object key"),
        ('{{ parseJSON "{a:1}" }}', "invalid character 'a' looking for beginning of object key string"),
        ('{{ parseJSON "1 2" }}', "invalid character '2' after top-level value"),
        ('{{ parseJSON "?" }}', "invalid character '?' looking for beginning of value"),
        ('{{ parseJSON "NaN" }}', "invalid character 'N' looking for beginning of value"),
        ('{{ base64Decode "aG!=" }}', "base64Decode: illegal base64 data at input byte 2"),
        ('{{ base64Decode "aGkh1" }}', "base64Decode: illegal base64 data at input byte 4"),
        ('{{ "a".Foo }}', 'unexpected . after term "\\"a\\""'),
        ("{{ divide 0 1 }}", "error calling divide: runtime error: integer divide by zero"),
        ('{{ sprig_semver "x" }}', "Invalid Semantic Version"),
        ('{{ sprig_regexFind "(" "a" }}', "missing closing )"),
        ('{{ sprig_mustToDate "2006" "x" }}', 'parsing time "x" as "2006"'),
        ("{{ sprig_randInt 4 4 }}", "invalid argument"),
        ('{{ sprig_repeat 100000000 "abcd" }}', "more than"),
        ("{{ sprig_randAlpha 100000000 }}", "more than"),
    ],
)
def test_mistakes_are_told_as_go_tells_them(source: str, problem: str) -> None:
    assert problem in text(source)


def test_what_needs_another_service_or_library_is_not_offered() -> None:
    assert not {f"sprig_{name}" for name in ("bcrypt", "htpasswd", "getHostByName", "genCA")} & NAMES
