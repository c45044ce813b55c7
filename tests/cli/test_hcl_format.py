"""`fmt` lays files out without changing what they say."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from yurt.cli.hcl_format import format_hcl
from yurt.jobspec import JobspecError, parse_submitted_job

JOB_FILES = sorted((Path(__file__).parent.parent / "recordings" / "nomad" / "jobspec").glob("*.nomad.hcl"))


@pytest.mark.parametrize("path", JOB_FILES, ids=lambda path: path.name)
def test_layout_is_stable_and_keeps_the_meaning(path: Path) -> None:
    text = path.read_text()
    try:
        job = parse_submitted_job(text)
    except JobspecError:
        pytest.skip("not a good job file")
    formatted = format_hcl(text)
    assert parse_submitted_job(formatted) == job
    assert format_hcl(formatted) == formatted


def test_blanks_are_put_in_order() -> None:
    untidy = (
        'job   "x"   {\n'
        'type="batch"   \n'
        "    priority   =   50\n\n\n"
        '  group "g"{\n'
        'task   "t" {\n'
        'driver = "raw_exec" # why not\n'
        "config {\n"
        'args = ["a",\n"b ${join(",", ["{"])}",\n]\n'
        'command = "x"\n'
        "}\n"
        "template {\n"
        "data = <<EOF\n"
        "   as   is {\n"
        "EOF\n"
        'destination = "d"\n'
        "}\n}\n}\n}\n\n"
    )
    assert format_hcl(untidy) == (
        'job "x" {\n'
        '  type     = "batch"\n'
        "  priority = 50\n\n"
        '  group "g" {\n'
        '    task "t" {\n'
        '      driver = "raw_exec" # why not\n'
        "      config {\n"
        '        args = ["a",\n          "b ${join(",", ["{"])}",\n        ]\n'
        '        command = "x"\n'
        "      }\n"
        "      template {\n"
        "        data = <<EOF\n"
        "   as   is {\n"
        "EOF\n"
        '        destination = "d"\n'
        "      }\n    }\n  }\n}\n"
    )


def test_check_writes_nothing(yurt: CommandLine, tmp_path: Path) -> None:
    untidy = tmp_path / "a.hcl"
    untidy.write_text("a=1\n")
    (tmp_path / "b.txt").write_text("a=1\n")
    assert yurt(f"yurt fmt -check {tmp_path}") == (1, f"{untidy}\n", "")
    assert untidy.read_text() == "a=1\n"
    assert yurt(f"yurt fmt {tmp_path}") == (0, f"{untidy}\n", "")
    assert untidy.read_text() == "a = 1\n"
    assert yurt(f"yurt fmt -check {tmp_path}") == (0, "", "")
    assert yurt("yurt fmt -", stdin="a=1\n").stdout == "a = 1\n"
    (tmp_path / "c.hcl").write_text("not { hcl\n")
    broken = yurt(f"yurt fmt {tmp_path}")
    assert broken.exit_code == 1
    assert "Error parsing" in broken.stderr
