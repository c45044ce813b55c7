"""A job file, with the values of its variables, read into the API's job JSON."""

from pathlib import Path
from typing import Final

from yurt.jobspec.decoding import JSONObject, Reading, decode_block
from yurt.jobspec.errors import JobspecError
from yurt.jobspec.hcl.content import AnyBody, Schema, SchemaBlock, any_attributes, content, parse_json
from yurt.jobspec.hcl.diagnostics import Diagnostic, HCLError
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.parser import parse
from yurt.jobspec.hcl.syntax import Attribute
from yurt.jobspec.hcl.values import Value
from yurt.jobspec.locals import evaluate_locals
from yurt.jobspec.schema.job import JOB
from yurt.jobspec.variables import Inputs, Variable, VariableFile, VariableFileError, Variables

SUBMITTED_FILENAME: Final = "input.hcl"
"""What messages call a job file that came without a name."""

_FILE: Final = Schema(frozenset(), {"job": ("name",), "variable": ("name",), "variables": (), "locals": ()})


def parse_job(
    text: str,
    *,
    filename: str,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    files: Path | None = None,
    strict: bool = True,
) -> JSONObject:
    """The job that a job file describes, in request form: unset members are null.

    The text is HCL2's JSON syntax when it begins with `{`, after blanks, else the native syntax. `files` is
    the folder that functions such as `file` look into; without it they fail. With `strict`, a value for an
    undeclared variable is an error. Raises JobspecError.
    """
    return _parse(
        _parsed_file(text, filename), inputs, files, strict=strict, file_error="unable to parse var file: "
    )


def parse_submitted_job(text: str, *, variables: str = "") -> JSONObject:
    """The job that a job file sent to a server describes, without a look at files or the environment.

    `variables` is text in the syntax of variable files. Values for undeclared variables are ignored.
    Raises JobspecError.
    """
    inputs = Inputs(files=(VariableFile(variables, SUBMITTED_FILENAME),) if variables else ())
    body = _parsed_file(text, SUBMITTED_FILENAME)
    return _parse(body, inputs, None, strict=False, file_error="unable to parse var content: ")


def _parse(body: AnyBody, inputs: Inputs, files: Path | None, *, strict: bool, file_error: str) -> JSONObject:
    reader = _JobReader(body, files)
    try:
        return reader.job(inputs, strict=strict)
    except VariableFileError as error:
        raise JobspecError.of_text(error.error, prefix=file_error) from error
    except HCLError as error:
        raise JobspecError.of([*reader.diagnostics, *error.diagnostics]) from error


def declared_variables(text: str, *, filename: str) -> dict[str, Variable]:
    """The variables that a job file declares. Raises JobspecError."""
    reader = _JobReader(_parsed_file(text, filename), None)
    try:
        return reader.variables().declared
    except HCLError as error:
        raise JobspecError.of([*reader.diagnostics, *error.diagnostics]) from error


def _parsed_file(text: str, filename: str) -> AnyBody:
    try:
        if text.removeprefix("\ufeff").lstrip(" ").startswith("{"):
            return parse_json(text, filename=filename)
        return parse(text, filename=filename)
    except HCLError as error:
        raise JobspecError.of_text(error) from error


class _JobReader:
    def __init__(self, body: AnyBody, files: Path | None) -> None:
        self.body = body
        self.diagnostics: list[Diagnostic] = []
        # Agents parse job files only when they are asked to.
        from yurt.jobspec.hcl.functions import standard_functions  # noqa: PLC0415

        self.functions = standard_functions(files)
        self.meter = Meter()
        self.blocks: dict[str, list[SchemaBlock]] = {kind: [] for kind in _FILE.blocks}

    def variables(self) -> Variables:
        """Sort the blocks of the file and declare its variables."""
        for block in content(self.body, _FILE, self.diagnostics).blocks:
            self.blocks[block.type].append(block)
        self._stop_on_problems()
        variables = Variables(self.functions, self.meter, self.diagnostics)
        for block in self.blocks["variable"]:
            variables.declare(block)
        for block in self.blocks["variables"]:
            variables.declare_all(block)
        self._stop_on_problems()
        return variables

    def job(self, inputs: Inputs, *, strict: bool) -> JSONObject:
        scope: dict[str, Value] = {"var": self.variables().values(inputs, strict=strict)}
        self._stop_on_problems()
        job_block = self._only_job(self.blocks["job"])
        evaluator = Evaluator(
            self.body.source, scope, self.functions, diagnostics=self.diagnostics, meter=self.meter
        )
        attributes: dict[str, Attribute] = {}
        for block in self.blocks["locals"]:
            attributes.update(any_attributes(block.body, self.diagnostics))
        evaluator.scope = {**scope, "local": evaluate_locals(attributes, evaluator)}
        late: list[Diagnostic] = []
        job: JSONObject = decode_block(JOB, Reading(job_block.labels, job_block.body, evaluator), late)
        self._stop_on_problems(late)
        return job

    def _only_job(self, blocks: list[SchemaBlock]) -> SchemaBlock:
        if not blocks:
            self.diagnostics.append(Diagnostic(summary="Missing job block", detail="A job block is required"))
        for extra in blocks[1:]:
            self.diagnostics.append(
                Diagnostic(
                    summary="Duplicate job block",
                    detail=f"Only one job block is allowed. Another was defined at {blocks[0].type_range}.",
                    subject=extra.type_range,
                )
            )
        self._stop_on_problems()
        return blocks[0]

    def _stop_on_problems(self, late: list[Diagnostic] | None = None) -> None:
        if self.diagnostics or late:
            raise JobspecError.of(self.diagnostics, late or ())
