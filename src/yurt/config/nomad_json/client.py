"""The `Client` member."""

from typing import Any

from yurt.config.blocks.client import ClientConfig, DrainOnShutdown
from yurt.config.blocks.client_tasks import ArtifactConfig, RetryConfig, TemplateConfig
from yurt.config.nomad_json.server import join_json
from yurt.config.nomad_json.unset import if_set, list_or_null, redacted
from yurt.config.quantities import duration_text, nanoseconds, size_text

# Settings that have no effect here are shown as Nomad shows them when they are not set.
_UNSERVED: dict[str, Any] = {
    "ClientMaxPort": 14512,
    "ClientMinPort": 14000,
    "CpuDisableDmidecode": False,
    "DiskFreeMB": 0,
    "LogFile": "",
    "NoHostUUID": True,
}


def client_json(client: ClientConfig) -> dict[str, Any]:
    return {
        **_UNSERVED,
        **_machine_json(client),
        **_network_json(client),
        "AllocDir": client.alloc_dir,
        "AllocMountsDir": client.alloc_mounts_dir,
        "Artifact": _artifact_json(client.artifact),
        "ChrootEnv": client.chroot_env,
        "CommonPluginDir": client.common_plugin_dir,
        "DefaultIneligible": client.default_ineligible,
        "DisableRemoteExec": client.disable_remote_exec,
        "Drain": client.drain_on_shutdown and _drain_json(client.drain_on_shutdown),
        "Enabled": client.enabled,
        "Fingerprinters": [
            {
                "Name": name,
                "RetryInterval": nanoseconds(fingerprint.retry_interval_s),
                "RetryAttempts": fingerprint.retry_attempts,
                "ExitOnFailure": fingerprint.exit_on_failure,
            }
            for name, fingerprint in client.fingerprints.items()
        ],
        "GCDiskUsageThreshold": client.gc_disk_usage_threshold,
        "GCInodeUsageThreshold": client.gc_inode_usage_threshold,
        "GCInterval": nanoseconds(client.gc_interval_s),
        "GCMaxAllocs": client.gc_max_allocs,
        "GCParallelDestroys": client.gc_parallel_destroys,
        "GCVolumesOnNodeGC": client.gc_volumes_on_node_gc,
        "HostVolumePluginDir": client.host_volume_plugin_dir,
        "HostVolumes": [
            {"Name": name, "Path": volume.path, "ReadOnly": volume.read_only}
            for name, volume in client.host_volumes.items()
        ]
        or None,
        "HostVolumesDir": client.host_volumes_dir,
        "IntroToken": redacted(client.intro_token),
        "MaxKillTimeout": duration_text(client.max_kill_timeout_s),
        "Meta": client.meta,
        "NodeClass": client.node_class,
        "NodeMaxAllocs": client.node_max_allocs,
        "NodePool": client.node_pool,
        "NomadServiceDiscovery": client.nomad_service_discovery,
        "Options": client.options,
        "ServerJoin": join_json(client.server_join),
        "Servers": list_or_null(client.servers),
        "StateDir": client.state_dir,
        "TemplateConfig": _template_json(client.template),
        "Users": {
            "MaxDynamicUser": client.users.dynamic_user_max,
            "MinDynamicUser": client.users.dynamic_user_min,
        },
    }


def _machine_json(client: ClientConfig) -> dict[str, Any]:
    reserved = client.reserved
    return {
        "CgroupParent": client.cgroup_parent,
        "CpuCompute": client.cpu_total_compute_mhz,
        "DiskTotalMB": client.disk_total_mb,
        "MemoryMB": client.memory_total_mb,
        "ReservableCores": client.reservable_cores,
        "Reserved": {
            "CPU": reserved.cpu_mhz,
            "Cores": reserved.cores,
            "DiskMB": reserved.disk_mb,
            "MemoryMB": reserved.memory_mb,
            "ReservedPorts": reserved.reserved_ports,
        },
    }


def _network_json(client: ClientConfig) -> dict[str, Any]:
    return {
        "BindWildcardDefaultHostNetwork": client.bind_wildcard_default_host_network,
        "BridgeNetworkHairpinMode": client.bridge_network_hairpin_mode,
        "BridgeNetworkName": if_set(client, "bridge_network_name", ""),
        "BridgeNetworkSubnet": if_set(client, "bridge_network_subnet", ""),
        "BridgeNetworkSubnetIPv6": client.bridge_network_subnet_ipv6,
        "CNIConfigDir": client.cni_config_dir,
        "CNIPath": client.cni_path,
        "HostNetworks": [
            {
                "Name": name,
                "CIDR": network.cidr,
                "Interface": network.interface,
                "ReservedPorts": network.reserved_ports,
            }
            for name, network in client.host_networks.items()
        ]
        or None,
        "MaxDynamicPort": client.max_dynamic_port,
        "MinDynamicPort": client.min_dynamic_port,
        "NetworkInterface": client.network_interface,
        "NetworkSpeed": client.network_speed_mbits,
        "PreferredAddressFamily": client.preferred_address_family,
    }


def _drain_json(drain: DrainOnShutdown) -> dict[str, Any]:
    return {
        "Deadline": duration_text(drain.deadline_s),
        "IgnoreSystemJobs": drain.ignore_system_jobs,
        "Force": drain.force,
    }


def _artifact_json(artifact: ArtifactConfig) -> dict[str, Any]:
    return {
        "DecompressionFileCountLimit": artifact.decompression_file_count_limit,
        "DecompressionSizeLimit": size_text(artifact.decompression_bytes_limit),
        "DisableArtifactInspection": artifact.disable_artifact_inspection,
        "DisableFilesystemIsolation": artifact.disable_filesystem_isolation,
        "FilesystemIsolationExtraPaths": list_or_null(artifact.filesystem_isolation_extra_paths),
        "GCSTimeout": duration_text(artifact.gcs_timeout_s),
        "GitTimeout": duration_text(artifact.git_timeout_s),
        "HTTPMaxSize": size_text(artifact.http_max_bytes),
        "HTTPReadTimeout": duration_text(artifact.http_read_timeout_s),
        "HgTimeout": duration_text(artifact.hg_timeout_s),
        "S3Timeout": duration_text(artifact.s3_timeout_s),
        "SetEnvironmentVariables": artifact.set_environment_variables,
    }


def _template_json(template: TemplateConfig) -> dict[str, Any]:
    bounds = template.wait_bounds
    return {
        "BlockQueryWaitTime": nanoseconds(template.block_query_wait_s),
        "BlockQueryWaitTimeHCL": "",
        "ConsulRetry": _retry_json(RetryConfig()),
        "DisableSandbox": template.disable_file_sandbox,
        "FunctionBlacklist": None,
        "FunctionDenylist": list(template.function_denylist),
        "MaxStale": nanoseconds(template.max_stale_s),
        "MaxStaleHCL": "",
        "NomadRetry": _retry_json(template.nomad_retry),
        "UseClientConsulToken": False,
        "VaultDefaultLeaseDuration": nanoseconds(300.0),
        "VaultDefaultLeaseDurationHCL": "",
        "VaultRetry": _retry_json(RetryConfig()),
        "Wait": _wait_json(template.wait.min_s, template.wait.max_s),
        "WaitBounds": bounds and _wait_json(bounds.min_s, bounds.max_s),
    }


def _wait_json(min_s: float | None, max_s: float | None) -> dict[str, Any]:
    return {
        "Max": None if max_s is None else nanoseconds(max_s),
        "MaxHCL": "",
        "Min": None if min_s is None else nanoseconds(min_s),
        "MinHCL": "",
    }


def _retry_json(retry: RetryConfig) -> dict[str, Any]:
    return {
        "Attempts": retry.attempts,
        "Backoff": nanoseconds(retry.backoff_s),
        "BackoffHCL": "",
        "MaxBackoff": nanoseconds(retry.max_backoff_s),
        "MaxBackoffHCL": "",
    }
