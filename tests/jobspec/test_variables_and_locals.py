"""Declarations of variables and locals, and the rules on their values."""

from pathlib import Path
from typing import Any

import pytest

from yurt.jobspec import (
    Inputs,
    JobspecError,
    VariableFile,
    job_submission,
    parse_api_job,
    parse_job,
    parse_submitted_job,
    read_variable_file,
)


def meta_of(text: str, meta: str, inputs: Inputs = Inputs()) -> Any:  # noqa: B008 (JSON; frozen)
    job = parse_job(
        f'{text}\njob "j" {{\n meta = {{\n  x = jsonencode({meta})\n }}\n}}\n',
        filename="j.hcl",
        inputs=inputs,
    )
    return job["Meta"]["x"]


def problem(text: str, inputs: Inputs = Inputs()) -> str:  # noqa: B008 (frozen)
    with pytest.raises(JobspecError) as caught:
        parse_job(f'{text}\njob "j" {{\n}}\n', filename="j.hcl", inputs=inputs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ('variable "1a" {\n default = 1\n}', "j.hcl:1,10-14: Invalid variable name; "),
        ('variable "a" {\n default = 1\n}\nvariable "a" {\n default = 2\n}', "<nil>: Duplicate variable; "),
        ('variable "a" {\n default = upper("x")\n}', "j.hcl:2,12-22: Function calls not allowed; "),
        ('variable "a" {\n default = [var.b]\n}', "j.hcl:2,13-18: Variables not allowed; "),
        (
            'variable "a" {\n type = number\n default = "x"\n}',
            "j.hcl:3,12-15: Invalid default value for variable; ",
        ),
        ('variable "a" {\n type = list\n}', "The list type constructor requires one argument"),
        ('variable "a" {\n type = "string"\n}', "A type specification is either a primitive type keyword"),
        ('variable "a" {\n type = text\n}', 'The keyword "text" is not a valid type specification.'),
        ('variable "a" {\n type = text(x)\n}', 'Keyword "text" is not a valid type constructor.'),
        (
            'variable "a" {\n type = string(x)\n}',
            'Primitive type keyword "string" does not expect arguments.',
        ),
        (
            'variable "a" {\n type = list(string, string)\n}',
            "The list type constructor requires one argument",
        ),
        (
            'variable "a" {\n type = tuple(string)\n}',
            "Tuple type constructor requires a list of element types.",
        ),
        ('variable "a" {\n type = object(string)\n}', "Object type constructor requires a map"),
        (
            'variable "a" {\n type = object({ (x) = string })\n}',
            "Object constructor map keys must be attribute names.",
        ),
        ('variable "a" {\n nullable = true\n}', 'An argument named "nullable" is not expected here.'),
        ("variables {\n a {\n }\n}", 'Unexpected "a" block; '),
        (
            'variable "a" {\n default = 1\n validation {\n condition = true\n }\n}',
            '"error_message" is required',
        ),
        (
            'variable "a" {\n default = 1\n validation {\n condition = true\n error_message = "m"\n }\n}',
            "must refer to var.a in order to test incoming values.",
        ),
        (
            'variable "a" {\n default = 1\n validation {\n condition = var.b\n error_message = "m"\n }\n}',
            "can only refer to the variable itself, using var.a.",
        ),
        (
            'variable "a" {\n default = 1\n validation {\n condition = [var.a]\n error_message = "m"\n }\n}',
            "Invalid variable validation result; Invalid validation condition result value: ",
        ),
        (
            'variable "a" {\n default = 1\n validation {\n condition = var.a == 1 ? null : null\n'
            ' error_message = "m"\n }\n}',
            "must return either true or false, not null.",
        ),
        (
            'variable "a" {\n default = 1\n validation {\n condition = var.a\n error_message = " "\n }\n}',
            "j.hcl:5,18-21: Invalid validation error message; An empty string is not a valid nor useful ",
        ),
        (
            'variable "a" '
            '{\n default = 1\n validation {\n condition = var.a > 1\n error_message = "m ${var.a}"\n }\n}',
            "j.hcl:2,12-13: Invalid value for default variable; m 1",
        ),
    ],
)
def test_wrong_declarations_are_refused(declaration: str, expected: str) -> None:
    assert expected in problem(declaration)


def test_every_fault_of_a_validation_is_told() -> None:
    found = problem('variable "a" {\n default = 1\n validation {\n condition = var.b || local.c\n }\n}')
    assert found.count("can only refer to the variable itself") == 2
    assert "must refer to var.a in order to test incoming values." in found
    assert '"error_message" is required' in found


def test_only_the_winning_value_is_validated() -> None:
    text = 'variable "a" {\n default = 1\n validation {\n condition = var.a > 1\n error_message = "m"\n }\n}'
    assert meta_of(text, "var.a", Inputs(flags=["a=2"])) == "2"
    assert "Invalid value for cmd variable" in problem(text, Inputs(flags=["a=0"]))
    assert "Invalid value for varfile variable" in problem(
        text, Inputs(files=[VariableFile("a = 0", "v.hcl")])
    )


def test_null_is_a_default() -> None:
    assert meta_of('variable "a" {\n default = null\n}', "var.a") == "null"


def test_values_of_files_may_be_json_and_must_be_constant() -> None:
    text = 'variable "a" {\n}'
    assert meta_of(text, "var.a", Inputs(files=[VariableFile('{"a": [1, "x"]}', "v.json")])) == '[1,"x"]'
    assert "Variables not allowed" in problem(text, Inputs(files=[VariableFile("a = b", "v.hcl")]))
    assert "Variables not allowed" in problem(text, Inputs(files=[VariableFile('{"a": "${b}"}', "v.json")]))
    assert 'Unexpected "variable" block' in problem(
        text, Inputs(files=[VariableFile('variable "a" {}', "v.hcl")])
    )


def test_a_variable_file_with_a_syntax_error_is_named() -> None:
    text = 'variable "a" {\n default = 1\n}'
    assert problem(text, Inputs(files=[VariableFile("a = \n", "v.hcl")])).startswith(
        "unable to parse var file: v.hcl:1,5-2,1: Invalid expression; "
    )
    with pytest.raises(
        JobspecError, match=r"^unable to parse var content: input\.hcl:1,5-2,1: Invalid expression; "
    ):
        parse_submitted_job('job "j" {\n}\n', variables="a = \n")


def test_an_expression_given_as_a_flag_may_be_wrong() -> None:
    assert "<value for var.a from arguments>:1,2-2: " in problem(
        'variable "a" {\n type = bool\n}', Inputs(flags=["a=!"])
    )


def test_locals_refer_to_each_other_in_any_order() -> None:
    chain = "\n".join(f" l{n} = local.l{n + 1}" for n in range(2000))
    assert meta_of(f"locals {{\n{chain}\n l2000 = 7\n}}", "local.l0") == "7"
    assert meta_of('locals {\n a = local["b"]\n b = 1\n}', "local.a") == "1"
    assert meta_of("locals {\n a = 1\n}\nlocals {\n a = 2\n}", "local.a") == "2"
    assert meta_of("locals {\n a = keys(local)\n b = 1\n}", "local.a") == '["b"]'


def test_circles_of_locals_are_refused() -> None:
    message = problem("locals {\n a = local.b\n b = local.c\n c = local.a\n}")
    assert "This object does not have an attribute named" in message
    assert "Unsupported attribute" in problem("locals {\n a = local.a\n}")


def test_locals_are_evaluated_even_when_unused() -> None:
    assert 'There is no function named "nope"' in problem("locals {\n a = nope()\n}")


def test_file_functions_work_where_files_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("héllo")
    (tmp_path / "raw").write_bytes(b"\xff")
    job = parse_job(
        """job "j" {
          meta = {
            text = file("sub/a.txt")
            b64  = filebase64("raw")
            is   = fileexists("sub/a.txt")
            not  = fileexists("sub/b.txt")
            set  = join(",", fileset("sub", "*.txt"))
            abs  = abspath("x")
            base = basename("/a/b.txt")
            dir  = dirname("/a/b.txt")
            home = pathexpand("~") == "~"
          }
        }
        """,
        filename="j.hcl",
        files=tmp_path,
    )
    assert job["Meta"] == {
        "text": "héllo",
        "b64": "/w==",
        "is": "true",
        "not": "false",
        "set": "a.txt",
        "abs": str(tmp_path / "x"),
        "base": "b.txt",
        "dir": "/a",
        "home": "false",
    }
    for call, expected in (
        ('file("raw")', "are not valid UTF-8; use the filebase64 function"),
        ('file("sub")', "failed to read sub: "),
        ('fileexists("sub")', "sub is a directory, not a file"),
    ):
        with pytest.raises(JobspecError) as caught:
            parse_job(f'job "j" {{\n name = {call}\n}}\n', filename="j.hcl", files=tmp_path)
        assert expected in str(caught.value)


def test_a_submission_holds_source_and_values() -> None:
    text = """
        variable "s" {}
        variable "l" {
          type = list(string)
        }
        variable "o" {
          default = 1
        }
        job "j" {
        }
        """
    submission = job_submission(
        text,
        filename="j.hcl",
        inputs=Inputs(
            environment={"NOMAD_VAR_s": "env", "HOME": "/"},
            files=[VariableFile("o = 2\n", "v.hcl")],
            flags=['l=["a"]', "s=flag", "dropped"],
        ),
    )
    assert submission == {
        "Source": text,
        "Format": "hcl2",
        "VariableFlags": {"s": "flag"},
        "Variables": 'o = 2\nl = ["a"]',
    }


def test_jobs_in_the_json_of_the_api_come_with_and_without_a_wrapper() -> None:
    assert parse_api_job('{"Job": {"ID": "a"}}', filename="j.json") == {"ID": "a"}
    assert parse_api_job('{"ID": "a"}', filename="j.json") == {"ID": "a"}
    for text in ("[]", "{", '{"Job": 5}'):
        with pytest.raises(JobspecError, match=r"j\.json cannot be used"):
            parse_api_job(text, filename="j.json")


def test_variable_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff")
    with pytest.raises(JobspecError, match="it is not UTF-8 text"):
        read_variable_file(str(tmp_path / "bad"))
