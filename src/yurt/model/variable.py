"""Variables: small secrets of jobs and people, kept encrypted."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from yurt.model.durations import duration_text, parse_duration
from yurt.model.times import HOUR_NS, SECOND_NS
from yurt.model.wire import Nanoseconds, Wire

VARIABLE_BYTES_MAX = 64 * 1024
LOCK_TTL_DEFAULT: Nanoseconds = 15 * SECOND_NS
LOCK_DELAY_DEFAULT: Nanoseconds = 15 * SECOND_NS
LOCK_TTL_MIN: Nanoseconds = 10 * SECOND_NS
LOCK_TTL_MAX: Nanoseconds = 24 * HOUR_NS

_PATH = re.compile(r"[a-zA-Z0-9-_~/]{1,128}")


class VariableKey(NamedTuple):
    """What identifies a variable."""

    namespace: str
    path: str


class VariableLock(Wire, frozen=True, kw_only=True):
    """A lock on a variable: only who knows its id may change the variable."""

    id: str
    ttl: Nanoseconds
    lock_delay: Nanoseconds


class Variable(Wire, frozen=True, kw_only=True):
    """A variable as the log and State keep it: `data` are its items, encrypted with the key `key_id`."""

    namespace: str
    path: str
    key_id: str
    data: bytes
    lock: VariableLock | None = None
    create_index: int = 0
    create_time: Nanoseconds = 0
    modify_index: int = 0
    modify_time: Nanoseconds = 0

    @property
    def key(self) -> VariableKey:
        """What identifies it."""
        return VariableKey(self.namespace, self.path)


class LockView(Wire, frozen=True, kw_only=True):
    """A lock as the API shows it."""

    ttl: str
    lock_delay: str
    id: str


class VariableMetadata(Wire, frozen=True, kw_only=True):
    """A variable without its items."""

    namespace: str
    path: str
    lock: LockView | None = None
    create_index: int = 0
    create_time: Nanoseconds = 0
    modify_index: int = 0
    modify_time: Nanoseconds = 0


class VariableView(VariableMetadata, frozen=True, kw_only=True):
    """A variable with its items in clear; None for who may not read them."""

    items: dict[str, str] | None = None


class LockForm(Wire, frozen=True, kw_only=True):
    """A lock as clients ask for it; durations are texts or nanoseconds."""

    id: str = ""
    ttl: Any = None
    lock_delay: Any = None


class VariableDecryptedForm(Wire, frozen=True, kw_only=True):
    """A variable as clients send it."""

    namespace: str = ""
    path: str = ""
    items: dict[str, str] | None = None
    lock: LockForm | None = None


def metadata_of(variable: Variable, *, with_lock: bool = True) -> VariableMetadata:
    """Show a variable without its items."""
    return VariableMetadata(**_shown(variable, with_lock=with_lock))


def view_of(variable: Variable, items: dict[str, str] | None, *, with_lock: bool = True) -> VariableView:
    """Show a variable with its items."""
    return VariableView(**_shown(variable, with_lock=with_lock), items=items)


def _shown(variable: Variable, *, with_lock: bool) -> dict[str, Any]:
    lock = variable.lock if with_lock else None
    return {
        "namespace": variable.namespace,
        "path": variable.path,
        "lock": None
        if lock is None
        else LockView(ttl=duration_text(lock.ttl), lock_delay=duration_text(lock.lock_delay), id=lock.id),
        "create_index": variable.create_index,
        "create_time": variable.create_time,
        "modify_index": variable.modify_index,
        "modify_time": variable.modify_time,
    }


def path_problem(path: str) -> str:
    """Say what is wrong with a path that is to be written; empty if nothing is."""
    if _PATH.fullmatch(path) is None:
        return f'invalid path "{path}"'
    parts = path.split("/")
    if parts[0] != "nomad":
        return ""
    if len(parts) == 1:
        return (
            '"nomad" is a reserved top-level directory path, but you may write variables to '
            '"nomad/jobs", "nomad/job-templates", "nomad/sentinel", or below'
        )
    if parts[1] == "jobs":
        return ""
    if parts[1] == "job-templates":
        is_below = len(parts) == 3 and parts[2] != ""
        return "" if is_below else _TEMPLATES_PROBLEM
    return (
        'only paths at "nomad/jobs" or "nomad/job-templates" and below are valid paths under the '
        'top-level "nomad" directory'
    )


_TEMPLATES_PROBLEM = (
    '"nomad/job-templates" is a reserved directory path, but you may write variables at the level '
    'below it, for example, "nomad/job-templates/template-name"'
)


def size_of(items: dict[str, str]) -> int:
    """How many bytes items take, names and values together."""
    return sum(len(name.encode()) + len(value.encode()) for name, value in items.items())


def lock_times(form: LockForm | None) -> tuple[Nanoseconds, Nanoseconds]:
    """The TTL and the delay that a client asks for, or the defaults. Raises ValueError with Go's text."""
    if form is None:
        return LOCK_TTL_DEFAULT, LOCK_DELAY_DEFAULT
    return _duration(form.ttl, LOCK_TTL_DEFAULT), _duration(form.lock_delay, LOCK_DELAY_DEFAULT)


def lock_problems(ttl: Nanoseconds, delay: Nanoseconds) -> list[str]:
    """Say what is wrong with the times of a lock."""
    problems = []
    if ttl < 0 or delay < 0:
        problems.append("Lock delay and TTL must be positive")
    if not LOCK_TTL_MIN <= ttl <= LOCK_TTL_MAX:
        problems.append("TTL must be between 10 seconds and 24 hours")
    return problems


def _duration(given: object, default: Nanoseconds) -> Nanoseconds:
    if given in (None, "", 0):
        return default
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    try:
        return parse_duration(str(given))
    except ValueError:
        raise ValueError(f'time: invalid duration "{given}"') from None
