from collections.abc import Callable
from pathlib import Path

import msgspec

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, load
from yurt.config.client_settings import client_settings
from yurt.model.node import HostNetwork, HostVolume

LoadConfig = Callable[..., AgentConfig]


def test_a_node_agent_gets_its_part() -> None:
    every_key = str(Path(__file__).parent / "every_key.hcl")
    settings = client_settings(load(AgentFlags(config=(every_key,)), environment={}, interfaces=tuple))
    assert (settings.state_dir, settings.alloc_dir) == ("/var/lib/yurt/client", "/var/lib/yurt/alloc")
    assert (settings.node_name, settings.node_class, settings.node_pool) == ("node-1", "gpu", "blue")
    assert (settings.http_address, settings.tls_enabled) == ("10.0.0.1:4646", True)
    assert settings.meta == {"rack": "r1", "size": "3", "fast": "true"}
    assert settings.host_volumes["data"] == HostVolume(name="data", path="/srv/data", read_only=True)
    assert settings.host_networks["private"] == HostNetwork(name="private", interface="eth1")
    assert (settings.reserved.cpu_mhz, settings.reserved.cores) == (500, "0-1")
    assert (settings.max_kill_timeout, settings.gc.interval) == (60 * 10**9, 120 * 10**9)
    assert settings.cgroup_parent == "yurt.slice"
    assert settings.countables == {"matlab": 4}
    assert settings.env_denylist == ("SECRET", "TOKEN")
    assert settings.driver_configs["raw_exec"] == {"enabled": True}


def test_a_dev_agent_keeps_nothing_and_runs_raw_exec(load_config: LoadConfig) -> None:
    config = msgspec.structs.replace(load_config(), data_dir="/tmp/dev")
    settings = client_settings(config)
    assert (settings.dev, settings.state_dir, settings.alloc_dir) == (True, "", "/tmp/dev/alloc")
    assert settings.driver_configs == {
        "raw_exec": {"enabled": True},
        "docker": {"volumes": {"enabled": True}},
    }


def test_plugin_blocks_win_over_old_driver_options(load_config: LoadConfig) -> None:
    config = load_config(
        """
        data_dir = "/d"
        client { options { "driver.docker.privileged.enabled" = "1" } }
        plugin "raw_exec" { config { enabled = false } }
        plugin "docker" { config { endpoint = "tcp://x" } }
        """
    )
    assert client_settings(config).driver_configs == {
        "raw_exec": {"enabled": False},
        "docker": {"volumes": {"enabled": True}, "allow_privileged": True, "endpoint": "tcp://x"},
    }


def test_the_older_words_for_lists_still_work(load_config: LoadConfig) -> None:
    config = load_config('data_dir = "/d"\nclient { options { "driver.whitelist" = "exec" } }')
    assert client_settings(config).options["driver.allowlist"] == "exec"
