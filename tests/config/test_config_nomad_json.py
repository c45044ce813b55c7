import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, load

LoadConfig = Callable[..., AgentConfig]

RECORDING = Path(__file__).parents[1] / "recordings/nomad/http/agent_info.json"

# The recorded agent had a configuration file of its own, at another place.
OF_THE_RECORDED_AGENT = {
    "ConfigPaths": "its files",
    "Files": "its files",
    "Version": "its version",
}


def recorded_config() -> dict[str, Any]:
    steps = json.loads(RECORDING.read_text())["steps"]
    config: dict[str, Any] = steps[0]["response"]["body"]["config"]
    return config


def key_paths(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from key_paths(inner, f"{path}.{key}")


def test_a_dev_agent_shows_what_was_recorded(load_config: LoadConfig) -> None:
    config = load_config(
        """
        name = "node1"
        ports { http = 14646, rpc = 14647, serf = 14648 }
        advertise { http = "127.0.0.1:4646", rpc = "127.0.0.1:4647", serf = "127.0.0.1:4648" }
        client { options { "test.tighten_network_timeouts" = "true" } }
        plugin "raw_exec" {
          config {
            enabled = true
            denied_envvars = null
            denied_host_uids = null
            denied_host_gids = null
          }
        }
        """
    )
    shown, recorded = config.as_nomad_json(), recorded_config()
    for key in OF_THE_RECORDED_AGENT:
        shown.pop(key)
        recorded.pop(key)
    assert shown == recorded


def test_the_shape_is_the_recorded_one_whatever_is_set() -> None:
    every_key = str(Path(__file__).parent / "every_key.hcl")
    config = load(AgentFlags(config=(every_key,)), environment={}, interfaces=tuple)
    shown = set(key_paths(config.as_nomad_json()))
    free_form = (".Client.Options.", ".Client.Meta.", ".Client.ChrootEnv.", ".HTTPAPIResponseHeaders.")
    missing = {path for path in key_paths(recorded_config()) if not path.startswith(free_form)} - shown
    assert missing == set()


def test_what_is_set_is_shown(load_config: LoadConfig) -> None:
    shown = load_config(
        """
        server {
          eval_gc_threshold = "2h"
          heartbeat_grace = "20s"
          num_schedulers = 4
          job_max_source_size = "2MB"
        }
        client {
          host_volume "a" { path = "/a" }
          drain_on_shutdown { deadline = "10m" }
          template { wait_bounds { min = "2s" } }
        }
        """
    ).as_nomad_json()
    server, client = shown["Server"], shown["Client"]
    assert (server["EvalGCThreshold"], server["HeartbeatGrace"]) == ("2h", 20_000_000_000)
    assert (server["NumSchedulers"], server["JobMaxSourceSize"]) == (4, "2MB")
    assert client["HostVolumes"] == [{"Name": "a", "Path": "/a", "ReadOnly": False}]
    assert client["Drain"] == {"Deadline": "10m", "IgnoreSystemJobs": False, "Force": False}
    assert client["TemplateConfig"]["WaitBounds"]["Min"] == 2_000_000_000


def test_secrets_are_never_shown(load_config: LoadConfig) -> None:
    text = json.dumps(
        load_config(
            """
            acl { replication_token = "hush-1" }
            server { encrypt = "hush-2" }
            consul { token = "hush-3" }
            plugin "docker" { config { auth { password = "hush-4" } } }
            """,
            flags=AgentFlags(dev=True, client_intro_token="hush-5"),
        ).as_nomad_json()
    )
    assert "hush" not in text
    assert text.count("<redacted>") == 3
