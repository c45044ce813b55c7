"""What a task is told when files that were rendered for it have changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from yurt.model.task_parts import ChangeScript, Template
from yurt.model.wire import Nanoseconds

NOOP = "noop"
RESTART = "restart"
SIGNAL = "signal"
SCRIPT = "script"


class RestartTask(msgspec.Struct, frozen=True, tag=True):
    """The task is started again."""


class TellTask(msgspec.Struct, frozen=True, tag=True):
    """The task is sent signals, and commands are run in it."""

    signals: tuple[str, ...] = ()
    scripts: tuple[ChangeScript, ...] = ()


Reaction: TypeAlias = RestartTask | TellTask


def reaction_to(changed: Sequence[Template]) -> Reaction:
    """What changes of templates call for, all together: a restart makes everything else needless."""
    if any(template.change_mode == RESTART for template in changed):
        return RestartTask()
    signals = {t.change_signal: None for t in changed if t.change_mode == SIGNAL}
    return TellTask(signals=tuple(signals), scripts=scripts_of(changed))


def scripts_of(templates: Sequence[Template], *, on_first_render: bool = False) -> tuple[ChangeScript, ...]:
    """The scripts of templates, or those that run after the first start already."""
    return tuple(
        template.change_script
        for template in templates
        if template.change_mode == SCRIPT
        and template.change_script is not None
        and (template.change_script.run_on_first_render or not on_first_render)
    )


def longest_splay(changed: Sequence[Template]) -> Nanoseconds:
    """The time over which many instances with the same templates spread their reactions."""
    return max((template.splay for template in changed if template.change_mode != NOOP), default=0)
