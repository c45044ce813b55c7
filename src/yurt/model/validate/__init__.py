"""What is wrong with a stored job, what is dubious about it, and what an update may not change.

The texts, their nesting and their order are those that clients of Nomad know. A driver's own options
are not looked at here: only the driver knows them.
"""

from yurt.model.validate.job import JobRules, job_errors
from yurt.model.validate.update import index_errors, next_version, update_errors
from yurt.model.validate.warnings import job_warnings, source_size_warning

__all__ = [
    "JobRules",
    "index_errors",
    "job_errors",
    "job_warnings",
    "next_version",
    "source_size_warning",
    "update_errors",
]
