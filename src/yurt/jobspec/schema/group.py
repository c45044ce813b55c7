"""`group`."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import duration, flag, text_map, whole
from yurt.jobspec.schema.identity import CONSUL, SECRETS, VAULT
from yurt.jobspec.schema.placement import AFFINITIES, CONSTRAINTS, SPREADS
from yurt.jobspec.schema.policies import DISCONNECT, GROUP_SCALING, MIGRATE, RESCHEDULE, RESTART, UPDATE
from yurt.jobspec.schema.resources import NETWORKS
from yurt.jobspec.schema.service import SERVICES
from yurt.jobspec.schema.storage import EPHEMERAL_DISK, VOLUME
from yurt.jobspec.schema.task import TASKS


def hand_down(
    tasks: list[JSONObject] | None, vault: JSONObject | None, secrets: list[JSONObject] | None
) -> None:
    """Give a `vault` block to the tasks without their own, and `secret` blocks to all."""
    for task in tasks or ():
        if vault is not None and task["Vault"] is None:
            task["Vault"] = dict(vault)
        if secrets:
            task["Secrets"] = [*(task["Secrets"] or ()), *(dict(secret) for secret in secrets)]


def _group(members: JSONObject, reading: Reading) -> JSONObject:
    hand_down(members["Tasks"], members.pop("Vault"), members.pop("Secrets"))
    volumes = members["Volumes"]
    members["Volumes"] = {volume["Name"]: volume for volume in volumes} if volumes else None
    return {"Name": reading.label, **members}


GROUP: Final = BlockSpec(
    whole("count", "Count"),
    duration("shutdown_delay", "ShutdownDelay"),
    duration("max_run_duration", "MaxRunDuration"),
    duration("stop_after_client_disconnect", "StopAfterClientDisconnect"),
    duration("max_client_disconnect", "MaxClientDisconnect"),
    flag("prevent_reschedule_on_lost", "PreventRescheduleOnLost"),
    labels=("name",),
    either=(text_map("meta", "Meta"),),
    blocks=(
        TASKS,
        CONSTRAINTS,
        AFFINITIES,
        SPREADS,
        NETWORKS,
        SERVICES,
        Nested("volume", "Volumes", VOLUME, is_list=True),
        Nested("restart", "RestartPolicy", RESTART),
        Nested("reschedule", "ReschedulePolicy", RESCHEDULE),
        Nested("update", "Update", UPDATE),
        Nested("migrate", "Migrate", MIGRATE),
        Nested("disconnect", "Disconnect", DISCONNECT),
        Nested("ephemeral_disk", "EphemeralDisk", EPHEMERAL_DISK),
        Nested("scaling", "Scaling", GROUP_SCALING),
        Nested("consul", "Consul", CONSUL),
        Nested("vault", "Vault", VAULT),
        SECRETS,
    ),
    finish=_group,
)
