"""Job files and expressions replayed against what Nomad made of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from yurt.jobspec import (
    Inputs,
    JobspecError,
    VariableFile,
    parse_job,
    parse_submitted_job,
    read_variable_file,
)

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nomad" / "jobspec"
JOB_FILES = sorted(path.name.removesuffix(".nomad.hcl") for path in RECORDINGS.glob("*.nomad.hcl"))
GOOD_FILES = [name for name in JOB_FILES if (RECORDINGS / f"{name}.json").exists()]
BAD_FILES = [name for name in JOB_FILES if (RECORDINGS / f"{name}.error.txt").exists()]
EXPRESSIONS = [json.loads(line) for line in (RECORDINGS / "expressions.jsonl").read_text().splitlines()]
NO_FILES = Path("/nowhere")

# Nomad doubles closing braces behind an unresolved reference, a flaw that breaks JSON texts. We do not.
BRACES_KEPT = {
    r'"${attr.x}}"': "${attr.x}}",
    r'"${attr.x} }"': "${attr.x} }",
    r'"${attr.x}}}"': "${attr.x}}}",
    r'"${attr.x} } }x"': "${attr.x} } }x",
    r'"${attr.x}  }}x"': "${attr.x}  }}x",
    r'"${attr.x}${attr.y}}"': "${attr.x}${attr.y}}",
    r'"${attr.x}}${attr.y}"': "${attr.x}}${attr.y}",
}
BRACES_KEPT_IN_FILE = {
    "json": '{"port": ${NOMAD_PORT_http}}',
    "spaced": "{ ${attr.kernel.name} }",
    "two": "{{${attr.x}}}",
}
# We stop at the first syntax error; Nomad goes on and counts what follows from it.
OTHERS_COUNTED = re.compile(r", and \d+ other diagnostic\(s\)$")


def test_the_recordings_are_here() -> None:
    assert (len(JOB_FILES), len(GOOD_FILES), len(EXPRESSIONS)) == (72, 42, 294)


def job_file(name: str) -> str:
    return (RECORDINGS / f"{name}.nomad.hcl").read_text()


def variable_files(name: str) -> list[Path]:
    paths = (RECORDINGS / f"{name}.vars", RECORDINGS / f"{name}.vars.json")
    return [path for path in paths if path.exists()]


def by_command_line(name: str) -> dict[str, Any] | str:
    """What the command line makes of a file: the job, or the lines of its error."""
    files = [VariableFile(path.read_text(), path.name) for path in variable_files(name)]
    try:
        return parse_job(
            job_file(name), filename=f"{name}.nomad.hcl", inputs=Inputs(files=files), files=NO_FILES
        )
    except JobspecError as error:
        return str(error)


def by_server(name: str) -> dict[str, Any] | str:
    """What the parse route makes of a file."""
    variables = "".join(path.read_text() for path in variable_files(name))
    try:
        return parse_submitted_job(job_file(name), variables=variables)
    except JobspecError as error:
        return f"Failed to parse job: {error}"


@pytest.mark.parametrize("name", GOOD_FILES)
def test_good_job_file_gives_the_recorded_job(name: str) -> None:
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text())["parse"]
    if name == "brace-after-reference":
        recorded["Meta"] |= BRACES_KEPT_IN_FILE

    assert by_server(name) == recorded
    assert by_command_line(name) == recorded


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_job_file_gives_the_recorded_errors(name: str) -> None:
    recorded = (RECORDINGS / f"{name}.error.txt").read_text()
    is_unordered = recorded.startswith("note:") or name == "var-file-wrong-type"
    sections = re.split(r"\n(?=POST|\$ nomad job validate)", recorded.partition("$ ")[2])
    command_line = sections[0].partition(f"from {name}.nomad.hcl:\n")[2].rstrip("\n")
    server = sections[1].partition("\nstatus ")[2].partition("\n")[2].rstrip("\n")

    for answer, expected in ((by_command_line(name), command_line), (by_server(name), server)):
        if expected in ("", "(parses)"):
            assert isinstance(answer, dict)
        elif is_unordered:
            assert isinstance(answer, str)
            assert sorted(lines_of(answer)) == sorted(lines_of(expected))
        else:
            assert answer == expected


def lines_of(text: str) -> list[str]:
    return text.removeprefix("Failed to parse job: ").split("\n")


@pytest.mark.parametrize("recorded", EXPRESSIONS, ids=[record["expr"] for record in EXPRESSIONS])
def test_expression_gives_the_recorded_value_or_error(recorded: dict[str, Any]) -> None:
    expr = recorded["expr"]
    text = f'job "j" {{\n meta = {{\n  k = {expr}\n }}\n}}\n'
    answer: dict[str, Any]
    try:
        answer = {"value": parse_submitted_job(text)["Meta"]["k"]}
    except JobspecError as error:
        answer = {"error": str(error).split("\n")}

    expected = {key: value for key, value in recorded.items() if key != "expr"}
    if expr in BRACES_KEPT:
        expected = {"value": BRACES_KEPT[expr]}
    if "error" in expected:
        expected["error"] = [OTHERS_COUNTED.sub("", line) for line in expected["error"]]
    assert answer == expected


def flag_cases() -> list[Any]:
    cases = []
    for block in (RECORDINGS / "var-flags" / "results.txt").read_text().split("\n$ ")[1:]:
        command, status, *rest = block.rstrip("\n").split("\n")
        cases.append(
            pytest.param(command.strip(), status, "\n".join(rest), id=command.strip() or "nothing given")
        )
    return cases


@pytest.mark.parametrize(("command", "status", "output"), flag_cases())
def test_values_of_variables_come_from_where_recorded(
    command: str, status: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(RECORDINGS / "var-flags")
    words = re.findall(r"(?:'[^']*'|\S)+", command)
    words = [word.replace("'", "") for word in words]
    environment = dict(word.split("=", 1) for word in words if word.startswith("NOMAD_VAR_"))
    flags = [words[at + 1] for at, word in enumerate(words) if word == "-var"]
    paths = [words[at + 1] for at, word in enumerate(words) if word == "-var-file"]

    def parse() -> Any:
        return parse_job(
            Path("flags.nomad.hcl").read_text(),
            filename="flags.nomad.hcl",
            inputs=Inputs(
                environment=environment, files=[read_variable_file(path) for path in paths], flags=flags
            ),
            strict="-hcl2-strict=false" not in words,
        )

    if status == "exit 0":
        assert parse()["Meta"] == json.loads(output)
    else:
        with pytest.raises(JobspecError) as caught:
            parse()
        assert (
            f"Error getting job struct: Error parsing job file from flags.nomad.hcl:\n{caught.value}"
            == output
        )
