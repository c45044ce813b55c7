"""When a periodic job is launched next."""

from collections.abc import Mapping
from typing import Any

from yurt.cli.times import launch_time
from yurt.errors import YurtError


def next_launch(periodic: Mapping[str, Any], now_ns: int) -> str:
    """Say when a `Periodic` block, in the API's form, comes due next; empty when it never does."""
    if periodic.get("Enabled") is False:
        return ""
    from yurt.model.cron import next_after  # noqa: PLC0415 # few jobs are periodic, every command pays

    specs = periodic.get("Specs") or [periodic.get("Spec") or ""]
    try:
        due = [next_after(spec, now_ns, periodic.get("TimeZone") or "") for spec in specs]
    except YurtError:
        # The server has judged the expression; one that we cannot read is not worth failing for.
        return ""
    at = min((moment for moment in due if moment is not None), default=0)
    return launch_time(at, now_ns) if at else ""
