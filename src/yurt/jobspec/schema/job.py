"""`job`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import MAP_VALUE, flag, plain_text, text, text_map, texts, whole
from yurt.jobspec.schema.group import GROUP, hand_down
from yurt.jobspec.schema.identity import SECRETS, VAULT
from yurt.jobspec.schema.placement import AFFINITIES, CONSTRAINTS, SPREADS
from yurt.jobspec.schema.policies import MIGRATE, PARAMETERIZED, PERIODIC, RESCHEDULE, UPDATE
from yurt.jobspec.schema.task import TASKS

# Members that only servers fill.
_SERVER_MEMBERS: Final[JSONObject] = {
    **dict.fromkeys(("Stop", "ParentID", "DispatchIdempotencyToken", "Payload", "NomadTokenID")),
    **dict.fromkeys(("ConsulNamespace", "VaultNamespace", "Status", "StatusDescription", "Stable")),
    **dict.fromkeys(("Version", "VersionTag", "SubmitTime", "CreateIndex", "ModifyIndex", "JobModifyIndex")),
    "Dispatched": False,
}


def _job(members: JSONObject, reading: Reading) -> JSONObject:
    groups = [*(_group_of(task) for task in members.pop("Tasks") or ()), *(members["TaskGroups"] or ())]
    members["TaskGroups"] = groups or None
    vault, secrets = members.pop("Vault"), members.pop("Secrets")
    for group in groups:
        hand_down(group["Tasks"], vault, secrets)
    for member in ("ID", "Name"):
        if members[member] is None:
            members[member] = reading.label
    return members


def _group_of(task: JSONObject) -> JSONObject:
    """The group that a task written directly in the job stands for."""
    unset = {name: value for name, value in GROUP.unset.items() if name not in ("Vault", "Secrets")}
    return {**unset, "Name": task["Name"], "Tasks": [task]}


_UI: Final = BlockSpec(
    plain_text("description", "Description"),
    blocks=(
        Nested(
            "link", "Links", BlockSpec(plain_text("label", "Label"), plain_text("url", "URL")), is_list=True
        ),
    ),
)
_MULTIREGION: Final = BlockSpec(
    blocks=(
        Nested(
            "strategy",
            "Strategy",
            BlockSpec(whole("max_parallel", "MaxParallel"), text("on_failure", "OnFailure")),
        ),
        Nested(
            "region",
            "Regions",
            BlockSpec(
                whole("count", "Count"),
                texts("datacenters", "Datacenters"),
                plain_text("node_pool", "NodePool"),
                labels=("name",),
                blocks=(Nested("meta", "Meta", field=MAP_VALUE),),
                finish=lambda members, reading: {"Name": reading.label, **members},
            ),
            is_list=True,
        ),
    )
)

JOB: Final = BlockSpec(
    text("region", "Region"),
    text("namespace", "Namespace"),
    text("id", "ID"),
    text("name", "Name"),
    text("type", "Type"),
    whole("priority", "Priority"),
    flag("all_at_once", "AllAtOnce"),
    texts("datacenters", "Datacenters"),
    text("node_pool", "NodePool"),
    labels=("name",),
    either=(text_map("meta", "Meta"),),
    blocks=(
        Nested("group", "TaskGroups", GROUP, is_list=True),
        TASKS,
        CONSTRAINTS,
        AFFINITIES,
        SPREADS,
        Nested("update", "Update", UPDATE),
        Nested("reschedule", "Reschedule", RESCHEDULE),
        Nested("migrate", "Migrate", MIGRATE),
        Nested("periodic", "Periodic", PERIODIC),
        Nested("parameterized", "ParameterizedJob", PARAMETERIZED),
        Nested("multiregion", "Multiregion", _MULTIREGION),
        Nested("ui", "UI", _UI),
        Nested("vault", "Vault", VAULT),
        SECRETS,
    ),
    unset=_SERVER_MEMBERS,
    finish=_job,
)
