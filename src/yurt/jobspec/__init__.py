"""Nomad job files (HCL2 and JSON) read into the API's job JSON."""

from yurt.jobspec.errors import JobspecError
from yurt.jobspec.parse import parse_job, parse_submitted_job
from yurt.jobspec.submission import job_submission, parse_api_job, read_variable_file
from yurt.jobspec.variables import Inputs, VariableFile

__all__ = [
    "Inputs",
    "JobspecError",
    "VariableFile",
    "job_submission",
    "parse_api_job",
    "parse_job",
    "parse_submitted_job",
    "read_variable_file",
]
