"""How long to wait before a template is rendered again."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from yurt.agent.settings import TemplateSettings
from yurt.model.task_parts import Template
from yurt.model.wire import Nanoseconds


class QuietTime(msgspec.Struct, frozen=True):
    """Data must be quiet for `least`; after `most` it is rendered in any case."""

    least: Nanoseconds
    most: Nanoseconds


def quiet_time(template: Template, settings: TemplateSettings) -> QuietTime:
    """What a job asks for, within the bounds of its node."""
    own = template.wait
    least = settings.wait_min if own is None or own.min is None else own.min
    most = settings.wait_max if own is None or own.max is None else own.max
    least, most = _bounded(least, settings), _bounded(most, settings)
    return QuietTime(least, max(least, most))


def quiet_time_of_all(times: Iterable[QuietTime]) -> QuietTime:
    """What serves several templates that are rendered together."""
    listed = list(times)
    least = max((time.least for time in listed), default=0)
    return QuietTime(least, max(least, min((time.most for time in listed), default=0)))


def next_look(first_news: Nanoseconds, last_news: Nanoseconds, quiet: QuietTime) -> Nanoseconds:
    """When to render, if no more news comes."""
    return min(last_news + quiet.least, first_news + quiet.most)


def _bounded(duration: Nanoseconds, settings: TemplateSettings) -> Nanoseconds:
    low, high = settings.wait_bound_min, settings.wait_bound_max
    if low is not None:
        duration = max(duration, low)
    return duration if high is None else min(duration, high)
