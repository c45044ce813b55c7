"""What a command line hands over with a job: its source, and the values of its variables."""

from pathlib import Path

import msgspec

from yurt.jobspec.decoding import JSONObject
from yurt.jobspec.errors import JobspecError
from yurt.jobspec.hcl.diagnostics import Diagnostic
from yurt.jobspec.hcl.values import Primitive
from yurt.jobspec.parse import declared_variables
from yurt.jobspec.variables import ENVIRONMENT_PREFIX, Inputs, VariableFile


def read_variable_file(path: str) -> VariableFile:
    """Read a variable file. Raises JobspecError when that fails."""
    try:
        return VariableFile(Path(path).read_text(encoding="utf-8"), path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        problem = f'failed to read "{path}": open {path}: {reason}'
    except UnicodeDecodeError:
        problem = f'failed to read "{path}": it is not UTF-8 text'
    diagnostic = Diagnostic(summary="Failed to read file", detail=problem)
    raise JobspecError([f"unable to parse var file: {diagnostic}"], [diagnostic])


def parse_api_job(text: str, *, filename: str) -> JSONObject:
    """The job in a file of the API's JSON, with or without the outer `Job`. Raises JobspecError."""
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise _not_a_job(filename, str(error)) from error
    job = decoded.get("Job", decoded) if isinstance(decoded, dict) else None
    if not isinstance(job, dict):
        raise _not_a_job(filename, "it must be a JSON object, the job itself or one with a member Job")
    return job


def job_submission(text: str, *, filename: str, inputs: Inputs) -> JSONObject:
    """The source of a job in HCL2 as the API keeps it beside the job. Raises JobspecError.

    Values from flags and the environment go into `VariableFlags` when their variable is of a primitive type
    or of none, else into `Variables` as lines after the variable files.
    """
    flags: dict[str, str] = {}
    texts = [file.text for file in inputs.files]
    given = {
        name.removeprefix(ENVIRONMENT_PREFIX): value
        for name, value in inputs.environment.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    } | dict(flag.partition("=")[::2] for flag in inputs.flags if "=" in flag)
    for name, variable in declared_variables(text, filename=filename).items():
        if name not in given:
            continue
        if variable.type is None or isinstance(variable.type, Primitive):
            flags[name] = given[name]
        else:
            texts.append(f"{name} = {given[name]}\n")
    return {
        "Source": text,
        "Format": "hcl2",
        "VariableFlags": flags,
        "Variables": "\n".join(part.removesuffix("\n") for part in texts),
    }


def _not_a_job(filename: str, problem: str) -> JobspecError:
    diagnostic = Diagnostic(summary="Invalid JSON job", detail=f"{filename} cannot be used: {problem}.")
    return JobspecError([str(diagnostic)], [diagnostic])
