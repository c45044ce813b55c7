"""Volumes, disks, artifacts, templates and logs."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, Nested
from yurt.jobspec.fields import MAP_VALUE, duration, flag, plain_flag, plain_text, text, texts, whole

_SPLAY_NS: Final = 5_000_000_000

EPHEMERAL_DISK: Final = BlockSpec(
    whole("size", "SizeMB"), flag("sticky", "Sticky"), flag("migrate", "Migrate")
)
VOLUME: Final = BlockSpec(
    plain_text("type", "Type"),
    plain_text("source", "Source"),
    plain_flag("read_only", "ReadOnly"),
    plain_flag("sticky", "Sticky"),
    plain_flag("per_alloc", "PerAlloc"),
    plain_text("access_mode", "AccessMode"),
    plain_text("attachment_mode", "AttachmentMode"),
    labels=("name",),
    blocks=(
        Nested(
            "mount_options",
            "MountOptions",
            BlockSpec(plain_text("fs_type", "FSType"), texts("mount_flags", "MountFlags")),
        ),
    ),
    finish=lambda members, reading: {"Name": reading.label, **members},
)
VOLUME_MOUNT: Final = BlockSpec(
    text("volume", "Volume"),
    text("destination", "Destination"),
    flag("read_only", "ReadOnly"),
    text("propagation_mode", "PropagationMode"),
    text("selinux_label", "SELinuxLabel"),
)
CSI_PLUGIN: Final = BlockSpec(
    plain_text("id", "ID"),
    plain_text("type", "Type"),
    plain_text("mount_dir", "MountDir"),
    plain_text("stage_publish_base_dir", "StagePublishBaseDir"),
    duration("health_timeout", "HealthTimeout", unset=0),
)
TEMPLATE: Final = BlockSpec(
    text("source", "SourcePath"),
    text("data", "EmbeddedTmpl"),
    text("destination", "DestPath"),
    text("change_mode", "ChangeMode", unset="restart"),
    text("change_signal", "ChangeSignal"),
    duration("splay", "Splay", unset=_SPLAY_NS),
    text("perms", "Perms", unset="0644"),
    whole("uid", "Uid"),
    whole("gid", "Gid"),
    text("left_delimiter", "LeftDelim"),
    text("right_delimiter", "RightDelim"),
    flag("env", "Envvars"),
    flag("once", "Once"),
    flag("error_on_missing_key", "ErrMissingKey", unset=False),
    duration("vault_grace", "VaultGrace"),
    blocks=(
        Nested(
            "change_script",
            "ChangeScript",
            BlockSpec(
                text("command", "Command"),
                texts("args", "Args"),
                duration("timeout", "Timeout"),
                flag("fail_on_error", "FailOnError"),
                flag("run_on_first_render", "RunOnFirstRender"),
            ),
        ),
        Nested("wait", "Wait", BlockSpec(duration("min", "Min"), duration("max", "Max"))),
    ),
)
ARTIFACT: Final = BlockSpec(
    text("source", "GetterSource"),
    text("destination", "RelativeDest"),
    text("mode", "GetterMode"),
    flag("insecure", "GetterInsecure"),
    plain_flag("chown", "Chown"),
    blocks=(
        Nested("options", "GetterOptions", field=MAP_VALUE),
        Nested("headers", "GetterHeaders", field=MAP_VALUE),
    ),
)
LOGS: Final = BlockSpec(
    whole("max_files", "MaxFiles"),
    whole("max_file_size", "MaxFileSizeMB"),
    flag("disabled", "Disabled"),
    flag("enabled", "Enabled"),
)
