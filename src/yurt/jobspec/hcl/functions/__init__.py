"""The functions of the language; one module a subject, one registry for all."""

from pathlib import Path

from yurt.jobspec.hcl.function import Function, Functions
from yurt.jobspec.hcl.functions import collections, encoding, format, hashing, network, numeric, text, time
from yurt.jobspec.hcl.functions.filesystem import filesystem_functions

_SUBJECTS = (numeric, text, format, collections, encoding, time, hashing, network)


def standard_functions(files: Path | None = None) -> Functions:
    """All functions by name. Those on files look at `files` and below relative paths; without it they "
    "fail."""
    functions: dict[str, Function] = {}
    for subject in _SUBJECTS:
        functions.update(subject.FUNCTIONS)
    return functions | filesystem_functions(files)
