"""Job files as commands take them: a path, standard input or a web address; HCL or JSON."""

import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from yurt.cli.command import Session
from yurt.cli.errors import CommandError
from yurt.cli.options import Flag, GeneralOptions
from yurt.errors import YurtError
from yurt.jobspec import Inputs, JobspecError, job_submission, parse_job, read_variable_file
from yurt.model.go_json import read_json
from yurt.sdk import Client

FETCH_TIMEOUT_S = 60.0
JOB_FILE_BYTES_MAX = 64 * 1024 * 1024


class JobFileOptions(GeneralOptions, frozen=True, kw_only=True):
    """The flags of commands that read a job file."""

    is_json: Annotated[
        bool,
        Flag(
            "json",
            "Parse the job file as JSON. If the outer object has a Job field, such as from "
            "'yurt job inspect' or 'yurt job run -output', the value of the field is used as the job.",
        ),
    ] = False
    hcl2_strict: Annotated[
        bool,
        Flag(
            "hcl2-strict",
            "Whether a variable that is given but not declared in the job file is an error. Default = true",
        ),
    ] = True
    variables: Annotated[
        tuple[str, ...],
        Flag("var", "Variable for the job file. May be given several times.", "'key=value'"),
    ] = ()
    variable_files: Annotated[
        tuple[str, ...],
        Flag("var-file", "Path to an HCL file of variable values. May be given several times.", "<path>"),
    ] = ()


class LoadedJob(NamedTuple):
    """A job in the API's form, and the source it came from."""

    job: dict[str, Any]
    submission: dict[str, Any]

    def client(self, client: Client) -> Client:
        """A client for the region and namespace of the job file, which win over flags and environment."""
        return client.within(
            namespace=self.job.get("Namespace") or None, region=self.job.get("Region") or None
        )


def load_job(session: Session, path: str, options: JobFileOptions) -> LoadedJob:
    """Read and parse a job file. Raises `CommandError`."""
    if options.is_json and (options.variables or options.variable_files):
        raise CommandError("Invalid job options: cannot use variables with JSON files.")
    try:
        name, text = _read_source(session, path)
        if options.is_json:
            return _load_json(text)
        return _load_hcl(name, text, options, session.environment)
    except YurtError as error:
        raise CommandError(f"Error getting job struct: {error}") from error


def _read_source(session: Session, path: str) -> tuple[str, str]:
    if path == "-":
        return "stdin.nomad", session.console.stdin.read()
    if path.startswith(("http://", "https://")):
        return os.path.basename(path), _fetch(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return os.path.basename(path), file.read()
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise CommandError(
            f'Error getting jobfile from "{path}": source path error: stat {os.path.abspath(path)}: {cause}'
        ) from error


def _fetch(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=FETCH_TIMEOUT_S) as answer:  # noqa: S310 # the scheme is checked
            body: bytes = answer.read(JOB_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CommandError(f'Error getting jobfile from "{url}": {_cause(error)}') from error
    if len(body) > JOB_FILE_BYTES_MAX:
        raise CommandError(
            f'Error getting jobfile from "{url}": it is larger than {JOB_FILE_BYTES_MAX} bytes'
        )
    return body.decode(errors="replace")


def _cause(error: OSError) -> str:
    """Why a file could not be fetched, without the library's wrapping."""
    if isinstance(error, urllib.error.HTTPError):
        return f"bad response code: {error.code}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror.lower()
    return str(reason)


def _load_json(text: str) -> LoadedJob:
    try:
        value = read_json(text.encode())
    except YurtError as error:
        raise CommandError(f"Failed to parse JSON job: {error}") from error
    job = value.get("Job", value) if isinstance(value, dict) else None
    if not isinstance(job, dict):
        raise CommandError("Failed to parse JSON job: the file must hold an object")
    return LoadedJob(job, {"Source": text, "Format": "json", "VariableFlags": None, "Variables": ""})


def _load_hcl(name: str, text: str, options: JobFileOptions, environment: Mapping[str, str]) -> LoadedJob:
    try:
        inputs = Inputs(
            environment=_job_variables(environment),
            files=[read_variable_file(path) for path in options.variable_files],
            flags=options.variables,
        )
        job = parse_job(text, filename=name, inputs=inputs, files=Path(), strict=options.hcl2_strict)
        return LoadedJob(job, job_submission(text, filename=name, inputs=inputs))
    except JobspecError as error:
        raise CommandError(f"Error parsing job file from {name}:\n{error}") from error


def _job_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that give values to a job file, under the name that its reader knows."""
    found = {}
    for prefix in ("NOMAD_VAR_", "YURT_VAR_"):
        for name, value in environment.items():
            if name.startswith(prefix):
                found["NOMAD_VAR_" + name.removeprefix(prefix)] = value
    return found
