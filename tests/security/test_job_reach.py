"""Job fields that reach the host: refused unless the operator allows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.specs import a_spec
from tests.support.real_agent import running_agent
from yurt.agent.drivers import DriverError
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.container import Facts, container_body
from yurt.agent.drivers.docker.options import DockerOptions, VolumesOptions

MOUNT = {"type": "bind", "target": "/x"}


def described(directory: Path, config: dict[str, Any], options: DockerOptions) -> dict[str, Any]:
    spec = a_spec(directory / "a/task", {}, shared_dir=f"{directory}/a/alloc")
    decoded, problems = decode_config({"image": "x:1", **config}, DockerConfig)
    assert decoded is not None, problems
    return dict(container_body(spec, decoded, options, Facts(image_id="sha256:1"))["HostConfig"])


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"privileged": True}, id="privileged"),
        pytest.param({"volumes": ["/etc:/host"]}, id="host path"),
        pytest.param({"volumes": ["/var/run/docker.sock:/d.sock"]}, id="Docker's socket"),
        pytest.param({"volumes": ["../../../etc:/host"]}, id="path with dots"),
        pytest.param({"volumes": ["local/link:/host"]}, id="link that leads out"),
        pytest.param({"volumes": ["data:/x"], "volume_driver": "local"}, id="volume driver"),
        pytest.param({"mount": [{**MOUNT, "source": "/"}]}, id="bind mount"),
        pytest.param({"mount": [{**MOUNT, "source": "../../.."}]}, id="bind mount with dots"),
        pytest.param({"mount": [{**MOUNT, "type": "volume", "source": "v"}]}, id="named volume"),
        pytest.param(
            {
                "mount": [
                    {
                        **MOUNT,
                        "type": "volume",
                        "volume_options": {
                            "driver_config": {"name": "local", "options": {"device": "/", "o": "bind"}}
                        },
                    }
                ]
            },
            id="volume that is a bind mount",
        ),
        pytest.param({"cap_add": ["sys_admin"]}, id="capability"),
        pytest.param({"cap_add": ["ALL"]}, id="all capabilities"),
        pytest.param({"pid_mode": "host"}, id="host's processes"),
        pytest.param({"ipc_mode": "host"}, id="host's memory"),
        pytest.param({"uts_mode": "host"}, id="host's name"),
        pytest.param({"userns_mode": "host"}, id="host's users"),
        pytest.param({"devices": [{"host_path": "/dev/sda"}]}, id="disk"),
        pytest.param({"devices": [{"host_path": "/dev/kvm/../sda"}]}, id="disk by way of dots"),
        pytest.param({"runtime": "sysbox"}, id="runtime"),
    ],
)
def test_a_container_gets_nothing_of_the_host_unasked(config: dict[str, Any], tmp_path: Path) -> None:
    local = tmp_path / "a/task/local"
    local.mkdir(parents=True)
    (local / "link").symlink_to("/")
    with pytest.raises(DriverError):
        described(tmp_path, config, DockerOptions(allow_devices=("/dev/kvm",)))


def test_the_defaults_leave_a_container_few_capabilities(tmp_path: Path) -> None:
    (tmp_path / "a/task").mkdir(parents=True)
    host = described(tmp_path, {}, DockerOptions())
    assert host["CapDrop"] == ["ALL"]
    assert not {"SYS_ADMIN", "NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_MODULE"} & set(host["CapAdd"])
    assert not host["Privileged"]


def test_what_was_checked_is_what_is_mounted(tmp_path: Path) -> None:
    """A link that another task of the group changes after the check must not matter."""
    local = tmp_path / "a/task/local"
    (local / "data").mkdir(parents=True)
    (local / "link").symlink_to("data")
    host = described(tmp_path, {"volumes": ["local/link:/x"]}, DockerOptions())
    assert f"{(local / 'data').resolve()}:/x" in host["Binds"]
    allowed = DockerOptions(volumes=VolumesOptions(enabled=True))
    assert "/etc:/x" in described(tmp_path, {"volumes": ["/etc:/x"]}, allowed)["Binds"]


def test_raw_exec_is_off_unless_it_is_enabled(tmp_path: Path) -> None:
    with running_agent(
        tmp_path, more_config='plugin "raw_exec" {\n config {\n enabled = false\n }\n}'
    ) as agent:
        (node,) = agent.call("GET", "/v1/nodes").json
        drivers = agent.call("GET", f"/v1/node/{node['ID']}").json["Drivers"]
        assert drivers.get("raw_exec", {"Detected": False})["Detected"] is False
