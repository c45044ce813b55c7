"""Times, sizes, tables and templates."""

import pytest

from yurt.cli.go_template import TemplateError, render
from yurt.cli.layout import key_list, table
from yurt.cli.paging import next_page_command
from yurt.cli.sizes import format_size
from yurt.cli.tail import keep_last_lines
from yurt.cli.times import absolute, largest_units, relative

SECOND = 10**9
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0s"),
        (999_999_999, "0s"),
        (MINUTE, "1m"),
        (65 * SECOND, "1m5s"),
        (HOUR + 5 * SECOND, "1h"),
        (2 * DAY + 3 * HOUR + MINUTE, "2d3h"),
        (400 * DAY, "1y1mo"),
    ],
)
def test_distances_show_two_units(duration: int, text: str) -> None:
    assert largest_units(duration) == text


def test_relative_times_have_a_direction() -> None:
    assert relative(10 * SECOND, 75 * SECOND) == "1m5s ago"
    assert relative(75 * SECOND, 10 * SECOND) == "1m5s from now"
    assert relative(0, 75 * SECOND) == ""


def test_absolute_time_has_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415

    monkeypatch.setenv("TZ", "IST-5:30")
    time.tzset()
    assert absolute(SECOND) == "1970-01-01T05:30:01+05:30"
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert absolute(SECOND) == "1970-01-01T00:00:01Z"
    assert absolute(0) == ""


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (87, "87 B"),
        (1023, "1023 B"),
        (4096, "4.0 KiB"),
        (284 * 1024, "284 KiB"),
        (32 * 1024**2, "32 MiB"),
        (int(3.6 * 1024**3), "3.6 GiB"),
        (24 * 1024**3, "24 GiB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert format_size(size) == text


def test_tables_fill_empty_cells_and_do_not_pad_the_last() -> None:
    assert table([["A", "Bee"], ["long", ""], ["x", 1]]) == "A     Bee\nlong  <none>\nx     1"
    assert table([["A", "B"], ["x", ""]], empty="") == "A  B\nx  "


def test_key_lists_align() -> None:
    assert key_list([("A", 1), ("Long", True), ("B", "")]) == "A    = 1\nLong = true\nB    = <none>"


@pytest.mark.parametrize(
    ("text", "lines", "kept"),
    [
        (b"a\nb\nc\n", 2, b"b\nc\n"),
        (b"a\nb\nc", 2, b"b\nc"),
        (b"a\n", 5, b"a\n"),
        (b"", 3, b""),
    ],
)
def test_last_lines(text: bytes, lines: int, kept: bytes) -> None:
    assert keep_last_lines(text, lines) == kept


def test_next_page_repeats_the_command() -> None:
    command = ["/bin/yurt", "node", "status", "-per-page", "1", "-page-token=old", "-filter", "a == b"]
    assert (
        next_page_command(command, "new") == "yurt node status -page-token new -per-page 1 -filter 'a == b'"
    )


DATA = {
    "Name": "web",
    "Count": 2,
    "Score": 0.25,
    "Tags": ["a", "b"],
    "Meta": {"k": "v", "n": None},
    "Stop": False,
    "Groups": [{"Name": "x", "Count": 1}, {"Name": "y", "Count": 0}],
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain", "plain"),
        ("{{.Name}} {{.Count}} {{.Score}} {{.Stop}}", "web 2 0.25 false"),
        ("{{.Tags}} {{.Meta}}", "[a b] map[k:v n:<nil>]"),
        ("{{range .Groups}}{{.Name}},{{end}}", "x,y,"),
        ("{{range $i, $g := .Groups}}{{$i}}={{$g.Name}};{{end}}", "0=x;1=y;"),
        ("{{range $k, $v := .Meta}}{{$k}} {{end}}", "k n "),
        ("{{range .Tags}}{{.}}{{else}}none{{end}}", "ab"),
        ("{{if .Stop}}stopped{{else if gt .Count 1}}many{{else}}one{{end}}", "many"),
        ("{{with .Meta}}{{.k}}{{end}}{{with .Stop}}no{{else}} else{{end}}", "v else"),
        ("{{len .Tags}} {{index .Tags 1}} {{(index .Groups 0).Name}}", "2 b x"),
        ('{{.Name | printf "%-5s|%q" "x"}}', 'x    |"web"'),
        ("{{$n := .Count}}{{$n}}{{$n = 7}}{{$n}} {{$.Name}}", "27 web"),
        ("a {{- 1 -}} b {{/* note */}}c", "a1b c"),
        (
            '{{eq .Name "api" "web"}} {{ne 1 2}} {{and .Name .Stop}} {{or .Stop "x"}} {{not .Stop}}',
            "true true false x true",
        ),
        ('{{sprig_join "," .Tags}} {{sprig_upper .Name}} {{.Stop | sprig_default "d"}}', "a,b WEB d"),
        ("{{range .Groups}}{{if eq .Count 0}}{{continue}}{{end}}{{.Name}}{{end}}", "x"),
        ('{{print "a" 1 2}}|{{println "x"}}', "a1 2|x\n"),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert render(template, DATA) == text


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{.Nope}}", "can't evaluate field Nope"),
        ("{{.Name.More}}", "can't evaluate field More"),
        ("{{nosuch .Name}}", 'function "nosuch" not defined'),
        ("{{if .Name}}", "has no {{end}}"),
        ("{{.Name", "unclosed action"),
        ("{{end}}", "unexpected {{end}}"),
        ("{{index .Tags 9}}", "out of range"),
        ("{{$x}}", "undefined variable"),
        ("{{len .Count}}", "error calling len"),
        ("{{break}}", "outside {{range}}"),
        ("{{lt .Name 1}}", "incompatible types"),
    ],
)
def test_bad_templates_are_explained(template: str, problem: str) -> None:
    with pytest.raises(TemplateError) as failure:
        render(template, DATA)
    assert problem in str(failure.value)
