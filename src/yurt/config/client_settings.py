"""Hands a node agent its part of the configuration."""

from collections.abc import Mapping
from typing import Any

from yurt.agent.settings import (
    DEFAULT_ENV_DENYLIST,
    ArtifactSettings,
    ClientSettings,
    ConsulSettings,
    GcSettings,
    Reserved,
    TemplateSettings,
)
from yurt.config.blocks.agent import AgentConfig
from yurt.config.blocks.client import DEFAULT_CNI_PATH, ClientConfig
from yurt.config.blocks.consul import ConsulConfig
from yurt.config.decode import merged_maps
from yurt.config.quantities import nanoseconds
from yurt.model.node import HostNetwork, HostVolume

# Options that switch drivers, from before drivers had `plugin` blocks: key → driver and path in its config.
_DRIVER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "driver.raw_exec.enable": ("raw_exec", "enabled"),
    "driver.docker.volumes": ("docker", "volumes", "enabled"),
    "driver.docker.privileged.enabled": ("docker", "allow_privileged"),
}

_TRUE = ("1", "t", "true")


def client_settings(config: AgentConfig) -> ClientSettings:
    """The settings of the node agent; `config.data_dir` must be set, in dev mode to a temporary directory."""
    client, directories = config.client, config.directories()
    options = _current_spellings(client.options)
    denied = [name.strip() for name in options.get("env.denylist", "").split(",") if name.strip()]
    return ClientSettings(
        state_dir="" if config.keeps_nothing else directories.state,
        alloc_dir=directories.alloc,
        host_volumes_dir=directories.host_volumes,
        host_volume_plugin_dir=directories.host_volume_plugins,
        common_plugin_dir=directories.common_plugins,
        dev=config.keeps_nothing,
        node_name=config.name,
        intro_token=client.intro_token,
        node_class=client.node_class,
        node_pool=client.node_pool,
        datacenter=config.datacenter,
        region=config.region,
        meta=client.meta,
        options=options,
        denied_networks=client.denied_networks,
        http_address=config.advertise.http,
        tls_enabled=config.tls.http,
        default_ineligible=client.default_ineligible,
        node_max_allocs=client.node_max_allocs,
        countables={name: countable.count for name, countable in client.countables.items()},
        network_interface=client.network_interface,
        network_speed_mbits=client.network_speed_mbits,
        preferred_address_family=client.preferred_address_family,
        host_networks=_host_networks(client),
        host_volumes=_host_volumes(client),
        gc_volumes_on_node_gc=client.gc_volumes_on_node_gc,
        min_dynamic_port=client.min_dynamic_port,
        max_dynamic_port=client.max_dynamic_port,
        # Debian and its like have the plugins elsewhere than Nomad looks for them.
        **({"cni_path": client.cni_path} if client.cni_path != DEFAULT_CNI_PATH else {}),
        cni_config_dir=client.cni_config_dir,
        bridge_network_name=client.bridge_network_name,
        bridge_network_subnet=client.bridge_network_subnet,
        bridge_network_subnet_ipv6=client.bridge_network_subnet_ipv6,
        bridge_network_hairpin_mode=client.bridge_network_hairpin_mode,
        bind_wildcard_default_host_network=client.bind_wildcard_default_host_network,
        cpu_total_compute_mhz=client.cpu_total_compute_mhz,
        memory_total_mb=client.memory_total_mb,
        disk_total_mb=client.disk_total_mb,
        reservable_cores=client.reservable_cores,
        reserved=Reserved(
            cpu_mhz=client.reserved.cpu_mhz,
            memory_mb=client.reserved.memory_mb,
            disk_mb=client.reserved.disk_mb,
            cores=client.reserved.cores,
            ports=client.reserved.reserved_ports,
        ),
        **({"cgroup_parent": client.cgroup_parent} if client.cgroup_parent else {}),
        chroot_env=client.chroot_env,
        disable_remote_exec=client.disable_remote_exec,
        max_kill_timeout=nanoseconds(client.max_kill_timeout_s),
        gc=GcSettings(
            interval=nanoseconds(client.gc_interval_s),
            disk_usage_percent_max=client.gc_disk_usage_threshold,
            inode_usage_percent_max=client.gc_inode_usage_threshold,
            allocs_max=client.gc_max_allocs,
            parallel_destroys=client.gc_parallel_destroys,
        ),
        env_denylist=tuple(denied) or DEFAULT_ENV_DENYLIST,
        service_discovery=client.nomad_service_discovery,
        template=_template_settings(client),
        artifact=_artifact_settings(client),
        consul=_consul_settings(config.consul),
        driver_configs=_driver_configs(config, options),
    )


def _consul_settings(consul: ConsulConfig) -> ConsulSettings:
    return ConsulSettings(
        address=consul.address,
        token=consul.token,
        namespace=consul.namespace,
        timeout_s=consul.timeout_s,
        uses_tls=consul.ssl or consul.address.startswith("https://"),
        verifies=consul.verify_ssl,
        ca_file=consul.ca_file,
        cert_file=consul.cert_file,
        key_file=consul.key_file,
    )


def _template_settings(client: ClientConfig) -> TemplateSettings:
    template, bounds = client.template, client.template.wait_bounds
    return TemplateSettings(
        function_denylist=template.function_denylist,
        disable_file_sandbox=template.disable_file_sandbox,
        wait_min=nanoseconds(template.wait.min_s),
        wait_max=nanoseconds(template.wait.max_s),
        wait_bound_min=None if bounds is None or bounds.min_s is None else nanoseconds(bounds.min_s),
        wait_bound_max=None if bounds is None or bounds.max_s is None else nanoseconds(bounds.max_s),
    )


def _artifact_settings(client: ClientConfig) -> ArtifactSettings:
    artifact = client.artifact
    return ArtifactSettings(
        http_read_timeout_s=artifact.http_read_timeout_s,
        http_max_bytes=artifact.http_max_bytes,
        git_timeout_s=artifact.git_timeout_s,
        unpacked_files_max=artifact.decompression_file_count_limit,
        unpacked_bytes_max=artifact.decompression_bytes_limit,
        inspects=not artifact.disable_artifact_inspection,
        # Each is a path after what may be done with it: `d:r:/srv/files`.
        file_roots=tuple(path.rpartition(":")[2] for path in artifact.filesystem_isolation_extra_paths),
    )


def _current_spellings(options: Mapping[str, str]) -> dict[str, str]:
    """Options with `allowlist` and `denylist` for the older words."""
    return {
        key.replace("whitelist", "allowlist").replace("blacklist", "denylist"): value
        for key, value in options.items()
    }


def _host_networks(client: ClientConfig) -> dict[str, HostNetwork]:
    return {
        name: HostNetwork(
            name=name,
            cidr=network.cidr,
            interface=network.interface,
            reserved_ports=network.reserved_ports,
        )
        for name, network in client.host_networks.items()
    }


def _host_volumes(client: ClientConfig) -> dict[str, HostVolume]:
    return {
        name: HostVolume(name=name, path=volume.path, read_only=volume.read_only)
        for name, volume in client.host_volumes.items()
    }


def _driver_configs(config: AgentConfig, options: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The `config` of each plugin block, over what old options say about the driver."""
    configs: dict[str, Any] = {}
    for option, (driver, *path) in _DRIVER_OPTIONS.items():
        if option in options:
            setting: Any = options[option].lower() in _TRUE
            for key in reversed(path):
                setting = {key: setting}
            configs = merged_maps(configs, {driver: setting})
    return merged_maps(configs, {name: plugin.config for name, plugin in config.plugins.items()})
