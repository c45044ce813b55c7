"""Errors as clients see them: a status and a plain text."""

from __future__ import annotations

from yurt.errors import YurtError
from yurt.log.errors import LogBusy, LogWriteFailed
from yurt.model.decode import BadRequestBody


class HttpError(YurtError):
    """An answer that is not a success. The text is what clients compare against.

    Few of them say as of which index they hold.
    """

    def __init__(self, status: int, text: str, *, index: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.index = index


# Everything that is not listed is a 500 with its text, as in Nomad.
_STATUS: dict[type[Exception], int] = {
    BadRequestBody: 400,
    LogBusy: 503,
    LogWriteFailed: 500,
}


def status_of(error: YurtError) -> int:
    """The status that an operating error is answered with."""
    if isinstance(error, HttpError):
        return error.status
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
