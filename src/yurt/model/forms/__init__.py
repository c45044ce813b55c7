"""The forms in which requests state a job: what may be said, and what is unset when it is not.

The Structs here are never instantiated. They tell `yurt.model.decode` the names, the kinds and Go's
types of request members, and the zero values that `POST /v1/jobs/parse` shows. A member whose default
is None is a pointer, list or map in Go: unset is `null`, and differs from empty.
"""

from yurt.model.forms.job import JobForm

__all__ = ["JobForm"]
