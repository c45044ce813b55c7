"""Policies: update, restart, reschedule, migrate, disconnect, scaling, periodic, parameterized."""

from typing import Any, Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import duration, flag, plain_text, text, texts, whole
from yurt.jobspec.hcl.values import UNKNOWN

UPDATE: Final = BlockSpec(
    duration("stagger", "Stagger"),
    whole("max_parallel", "MaxParallel"),
    text("health_check", "HealthCheck"),
    duration("min_healthy_time", "MinHealthyTime"),
    duration("healthy_deadline", "HealthyDeadline"),
    duration("progress_deadline", "ProgressDeadline"),
    flag("auto_revert", "AutoRevert"),
    whole("canary", "Canary"),
    flag("auto_promote", "AutoPromote"),
)
RESTART: Final = BlockSpec(
    whole("attempts", "Attempts"),
    duration("interval", "Interval"),
    duration("delay", "Delay"),
    text("mode", "Mode"),
    flag("render_templates", "RenderTemplates"),
)
RESCHEDULE: Final = BlockSpec(
    whole("attempts", "Attempts"),
    duration("interval", "Interval"),
    duration("delay", "Delay"),
    text("delay_function", "DelayFunction"),
    duration("max_delay", "MaxDelay"),
    flag("unlimited", "Unlimited"),
)
MIGRATE: Final = BlockSpec(
    whole("max_parallel", "MaxParallel"),
    text("health_check", "HealthCheck"),
    duration("min_healthy_time", "MinHealthyTime"),
    duration("healthy_deadline", "HealthyDeadline"),
)
DISCONNECT: Final = BlockSpec(
    duration("lost_after", "LostAfter"),
    duration("stop_on_client_after", "StopOnClientAfter"),
    flag("replace", "Replace"),
    text("reconcile", "Reconcile"),
)
PERIODIC: Final = BlockSpec(
    flag("enabled", "Enabled"),
    text("cron", "Spec"),
    texts("crons", "Specs"),
    flag("prohibit_overlap", "ProhibitOverlap"),
    text("time_zone", "TimeZone"),
    unset={"SpecType": "cron"},
)
PARAMETERIZED: Final = BlockSpec(
    plain_text("payload", "Payload"),
    texts("meta_required", "MetaRequired"),
    texts("meta_optional", "MetaOptional"),
)

_SCALING_UNSET: Final[JSONObject] = {
    "CreateIndex": 0,
    "ModifyIndex": 0,
    "ID": "",
    "Namespace": "",
    "Target": None,
    "Type": "",
}
_VERTICAL: Final = {"cpu": "vertical_cpu", "mem": "vertical_mem"}


def _vertical_scaling(members: JSONObject, reading: Reading) -> Any:  # noqa: ANN401 (JSON)
    kind = _VERTICAL.get(reading.label)
    if kind is None:
        [label] = reading.labels
        reading.evaluator.report(
            label.start,
            label.end,
            "Invalid scaling policy name",
            'scaling policy name must be "cpu" or "mem"',
        )
        return UNKNOWN
    return members | {"Type": kind}


GROUP_SCALING: Final = BlockSpec(
    flag("enabled", "Enabled"),
    whole("min", "Min"),
    whole("max", "Max", is_required=True),
    text("type", "Type", unset="horizontal"),
    blocks=(Nested("policy", "Policy"),),
    unset={**_SCALING_UNSET, "Type": "horizontal"},
)
TASK_SCALING: Final = BlockSpec(
    flag("enabled", "Enabled"),
    whole("min", "Min"),
    whole("max", "Max"),
    blocks=(Nested("policy", "Policy"),),
    labels=("name",),
    unset=_SCALING_UNSET,
    finish=_vertical_scaling,
)
