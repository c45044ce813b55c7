"""`task`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import duration, plain_flag, plain_text, text_map, texts
from yurt.jobspec.hcl.values import UNKNOWN
from yurt.jobspec.schema.identity import CONSUL, IDENTITY, SECRETS, VAULT
from yurt.jobspec.schema.placement import AFFINITIES, CONSTRAINTS
from yurt.jobspec.schema.policies import RESTART, TASK_SCALING
from yurt.jobspec.schema.resources import RESOURCES
from yurt.jobspec.schema.service import SERVICES
from yurt.jobspec.schema.storage import ARTIFACT, CSI_PLUGIN, LOGS, TEMPLATE, VOLUME_MOUNT

_DEFAULT_IDENTITIES: Final = ("", "default")


def _task(members: JSONObject, reading: Reading) -> JSONObject:
    identities = members["Identities"]
    if identities is not None:
        members["Identities"] = [each for each in identities if each["Name"] not in _DEFAULT_IDENTITIES]
        for identity in identities:
            if identity["Name"] in _DEFAULT_IDENTITIES:
                members["Identity"] = identity
    policies = [policy for policy in members["ScalingPolicies"] or [] if policy is not UNKNOWN]
    members["ScalingPolicies"] = policies or None
    if members["CSIPluginConfig"] is None:
        del members["CSIPluginConfig"]  # the one member that is left out when unset
    return {"Name": reading.label, **members}


_LIFECYCLE: Final = BlockSpec(plain_text("hook", "Hook", is_required=True), plain_flag("sidecar", "Sidecar"))
_ACTION: Final = BlockSpec(
    plain_text("command", "Command", is_required=True),
    texts("args", "Args"),
    labels=("name",),
    finish=lambda members, reading: {"Name": reading.label, **members},
)
_SCHEDULE: Final = BlockSpec(
    blocks=(
        Nested(
            "cron",
            "Cron",
            BlockSpec(
                plain_text("start", "Start"), plain_text("end", "End"), plain_text("timezone", "Timezone")
            ),
        ),
    )
)

TASK: Final = BlockSpec(
    plain_text("driver", "Driver"),
    plain_text("user", "User"),
    plain_flag("leader", "Leader"),
    duration("kill_timeout", "KillTimeout"),
    plain_text("kill_signal", "KillSignal"),
    duration("shutdown_delay", "ShutdownDelay", unset=0),
    plain_text("kind", "Kind"),
    labels=("name",),
    either=(text_map("env", "Env"), text_map("meta", "Meta")),
    blocks=(
        Nested("config", "Config"),
        Nested("resources", "Resources", RESOURCES),
        CONSTRAINTS,
        AFFINITIES,
        SERVICES,
        Nested("template", "Templates", TEMPLATE, is_list=True),
        Nested("artifact", "Artifacts", ARTIFACT, is_list=True),
        Nested("logs", "LogConfig", LOGS),
        Nested("lifecycle", "Lifecycle", _LIFECYCLE),
        Nested("restart", "RestartPolicy", RESTART),
        Nested("volume_mount", "VolumeMounts", VOLUME_MOUNT, is_list=True),
        Nested("dispatch_payload", "DispatchPayload", BlockSpec(plain_text("file", "File"))),
        Nested("vault", "Vault", VAULT),
        Nested("consul", "Consul", CONSUL),
        Nested("identity", "Identities", IDENTITY, is_list=True),
        SECRETS,
        Nested("action", "Actions", _ACTION, is_list=True),
        Nested("scaling", "ScalingPolicies", TASK_SCALING, is_list=True),
        Nested("csi_plugin", "CSIPluginConfig", CSI_PLUGIN),
        Nested("schedule", "Schedule", _SCHEDULE),
    ),
    unset={"Identity": None},
    finish=_task,
)
TASKS: Final = Nested("task", "Tasks", TASK, is_list=True)
