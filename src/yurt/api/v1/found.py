"""Reads of one object that may not be there."""

from __future__ import annotations

from yurt.api.answer import TEXT_TYPE, Answer


def found(answer: Answer, missing: str) -> Answer:
    """Give the answer, or a 404 with `missing` that still says as of which index there is nothing."""
    if answer.body is None:
        answer.status = 404
        answer.body = missing.encode()
        answer.content_type = TEXT_TYPE
    return answer
