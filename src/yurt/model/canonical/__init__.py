"""From a folded request to the job that is stored: defaults, merged policies, implied parts."""

from yurt.model.canonical.preserve import preserve
from yurt.model.canonical.request import request_defaults
from yurt.model.canonical.stored import canonical_job

__all__ = ["canonical_job", "preserve", "request_defaults"]
