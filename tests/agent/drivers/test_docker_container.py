"""How a task's config becomes the description of a container."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.drivers.specs import a_spec
from yurt.agent.drivers import DriverError, TaskMount, TaskOwner, TaskPort, TaskResources, TaskSpec
from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.docker.answers import ContainerState, Endpoint, NetworkSettings
from yurt.agent.drivers.docker.config import DockerConfig, LoggingConfig
from yurt.agent.drivers.docker.container import Facts, container_body
from yurt.agent.drivers.docker.options import AllowedModes, DockerOptions, VolumesOptions
from yurt.agent.drivers.docker.ports import driver_network
from yurt.agent.drivers.docker.task import exit_result

IMAGE_ID = "sha256:12"
MIB = 1 << 20
DEFAULTS = DockerOptions()


@pytest.fixture
def spec(tmp_path: Path) -> TaskSpec:
    return a_spec(tmp_path / "a/task", {}, shared_dir=f"{tmp_path}/a/alloc", env={"B": "2", "A": "1"})


def body(
    spec: TaskSpec,
    config: dict[str, Any] | None = None,
    options: DockerOptions = DEFAULTS,
    **facts: Any,
) -> dict[str, Any]:
    decoded, problems = decode_config({"image": "x:1", **(config or {})}, DockerConfig)
    assert decoded is not None, problems
    return dict(container_body(spec, decoded, options, Facts(image_id=IMAGE_ID, **facts)))


def host(spec: TaskSpec, config: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return dict(body(spec, config, **more)["HostConfig"])


def test_a_container_can_be_described_as_json(spec: TaskSpec) -> None:
    told = json.loads(msgspec.json.encode(body(spec)))

    assert (told["Image"], told["Env"]) == (IMAGE_ID, ["A=1", "B=2"])


@pytest.mark.parametrize(
    ("config", "command", "entrypoint"),
    [
        pytest.param({}, None, None, id="the image's own"),
        pytest.param({"command": "run", "args": ["a"]}, ["run", "a"], None, id="command and arguments"),
        pytest.param({"args": ["a", "b"]}, ["a", "b"], None, id="arguments for the image's entrypoint"),
        pytest.param({"entrypoint": ["e"], "args": ["a"]}, ["a"], ("e",), id="another entrypoint"),
    ],
)
def test_what_is_run(
    spec: TaskSpec, config: dict[str, Any], command: list[str] | None, entrypoint: tuple[str] | None
) -> None:
    told = body(spec, config)

    assert (told.get("Cmd"), told.get("Entrypoint")) == (command, entrypoint)


# --- limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory_mb", "memory_max_mb", "hard_limit", "limits"),
    [
        pytest.param(64, 0, 0, (64, 0, 64), id="one limit"),
        pytest.param(64, 128, 0, (128, 64, 128), id="memory_max above"),
        pytest.param(64, 0, 256, (256, 64, 256), id="memory_hard_limit above"),
        pytest.param(64, 512, 256, (512, 64, 512), id="the larger of both"),
        pytest.param(64, -1, 0, (0, 64, None), id="no hard limit"),
    ],
)
def test_memory(
    spec: TaskSpec, memory_mb: int, memory_max_mb: int, hard_limit: int, limits: tuple[int, int, int | None]
) -> None:
    resources = TaskResources(memory_mb=memory_mb, memory_max_mb=memory_max_mb)

    told = host(msgspec.structs.replace(spec, resources=resources), {"memory_hard_limit": hard_limit})

    hard, reserved, swap = limits
    assert (told["Memory"], told["MemoryReservation"]) == (hard * MIB, reserved * MIB)
    assert told.get("MemorySwap") == (None if swap is None else swap * MIB)


def test_swappiness_only_where_the_kernel_has_it(spec: TaskSpec) -> None:
    assert host(spec, has_swappiness=True)["MemorySwappiness"] == 0
    assert "MemorySwappiness" not in host(spec)


@pytest.mark.parametrize(
    ("shares", "node_shares", "expected"),
    [(500, 8000, 500), (1, 8000, 2), (10_000, 524_288, 5_000)],
    ids=["as they are", "at least 2", "scaled on a large node"],
)
def test_cpu_shares(spec: TaskSpec, shares: int, node_shares: int, expected: int) -> None:
    resources = TaskResources(cpu_shares=shares, node_cpu_shares=node_shares)

    assert host(msgspec.structs.replace(spec, resources=resources))["CpuShares"] == expected


def test_a_hard_limit_is_the_tasks_part_of_all_cores(spec: TaskSpec) -> None:
    resources = TaskResources(cpu_shares=1000, node_cpu_shares=4000, cores=(1, 3))

    told = host(
        msgspec.structs.replace(spec, resources=resources), {"cpu_hard_limit": True, "cpu_cfs_period": 50_000}
    )

    assert (told["CpuPeriod"], told["CpuQuota"]) == (50_000, 12_500 * (os.cpu_count() or 1))
    assert told["CpusetCpus"] == "1,3"


def test_pids_are_at_most_the_operators(spec: TaskSpec) -> None:
    options = DockerOptions(pids_limit=100)

    assert "PidsLimit" not in host(spec)
    assert host(spec, options=options)["PidsLimit"] == 100
    assert host(spec, {"pids_limit": 50}, options=options)["PidsLimit"] == 50
    with pytest.raises(
        DriverError, match="pids_limit cannot be greater than nomad plugin config pids_limit: 100"
    ):
        host(spec, {"pids_limit": 101}, options=options)


def test_ulimits(spec: TaskSpec) -> None:
    told = host(spec, {"ulimit": [{"nofile": "10:20", "nproc": "5"}]})["Ulimits"]

    assert told == [{"Name": "nofile", "Soft": 10, "Hard": 20}, {"Name": "nproc", "Soft": 5, "Hard": 5}]


# --- files ------------------------------------------------------------------------------------------


def test_a_task_sees_its_own_directories(spec: TaskSpec) -> None:
    alloc = os.path.dirname(spec.task_dir)

    assert host(spec)["Binds"] == [
        f"{alloc}/alloc:/alloc",
        f"{alloc}/alloc/logs:/alloc/logs:ro",
        f"{alloc}/task/local:/local",
        f"{alloc}/task/secrets:/secrets",
    ]


@pytest.mark.parametrize(
    "config",
    [
        {"volumes": ["local/x:/x", "../alloc/data:/y:ro"]},
        {"mount": [{"type": "bind", "source": "local/x", "target": "/x"}]},
        {"mounts": [{"type": "tmpfs", "target": "/x"}]},
    ],
)
def test_what_is_the_allocs_own_needs_no_permission(spec: TaskSpec, config: dict[str, Any]) -> None:
    host(spec, config)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"volumes": ["/etc:/x"]}, 'volumes are not enabled; cannot mount host paths: "/etc:/x"'),
        ({"volumes": ["../../b:/x"]}, "volumes are not enabled"),
        ({"volumes": ["link/x:/x"]}, "volumes are not enabled"),
        ({"volumes": ["data:/x"], "volume_driver": "nfs"}, 'cannot use volume driver "nfs"'),
        ({"mount": [{"type": "bind", "source": "/etc", "target": "/x"}]}, 'cannot mount host path: "/etc"'),
        ({"mount": [{"source": "data", "target": "/x"}]}, 'cannot mount volume: "data"'),
    ],
)
def test_what_is_not_needs_the_operators(spec: TaskSpec, config: dict[str, Any], said: str) -> None:
    os.makedirs(spec.task_dir)
    os.symlink("/etc", f"{spec.task_dir}/link")

    with pytest.raises(DriverError, match=said):
        host(spec, config)
    host(spec, config, options=DockerOptions(volumes=VolumesOptions(enabled=True)))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"volumes": ["/x"]}, '"/x" is not of the form source:target'),
        ({"mount": [{"type": "magic", "target": "/x"}]}, 'invalid mount type: "magic"'),
        ({"mount": [{"type": "tmpfs", "source": "x", "target": "/x"}]}, "invalid source"),
        ({"devices": [{"host_path": "/dev/x"}]}, 'device "/dev/x" is not allowed on this agent'),
        ({"ulimit": {"nofile": "many"}}, 'nofile = "many" is neither a number nor'),
        ({"cpu_hard_limit": True, "cpu_cfs_period": 2_000_000}, "invalid value for cpu_cfs_period"),
        ({"security_opt": ["seccomp=/no/such/file"]}, "opening seccomp profile"),
        ({"ports": ["http"]}, 'port "http" not found, check network block'),
        ({"runtime": "kata"}, 'requested runtime "kata" is not allowed'),
        ({"pid_mode": "host"}, 'pid_mode "host" is not allowed on this agent'),
        ({"cap_add": ["net_admin"]}, "does not allow the following capabilities: net_admin"),
        ({"privileged": True}, "Docker privileged mode is disabled on this Nomad agent"),
    ],
)
def test_what_cannot_be_done_is_refused(spec: TaskSpec, config: dict[str, Any], said: str) -> None:
    with pytest.raises(DriverError, match=said):
        host(spec, config)


def test_devices_that_are_allowed_need_permissions_that_exist(spec: TaskSpec) -> None:
    options = DockerOptions(allow_devices=("/dev/x*",))
    device = {"host_path": "/dev/x1", "cgroup_permissions": "rx"}
    with pytest.raises(DriverError, match="invalid cgroup permission"):
        host(spec, {"devices": [device]}, options=options)
    told = host(spec, {"devices": [{**device, "cgroup_permissions": "r"}]}, options=options)
    assert [one["PathOnHost"] for one in told["Devices"]] == ["/dev/x1"]


def test_mounts_are_described_in_dockers_words(spec: TaskSpec) -> None:
    config = {
        "mount": [
            {
                "target": "/v",
                "source": "data",
                "readonly": True,
                "volume_options": {
                    "no_copy": True,
                    "labels": [{"a": "b"}],
                    "driver_config": {"name": "nfs", "options": {"x": "y"}},
                },
            },
            {"type": "bind", "target": "/b", "source": "/srv", "bind_options": {"propagation": "rslave"}},
        ]
    }
    options = DockerOptions(volumes=VolumesOptions(enabled=True, selinuxlabel="z"))
    spec = msgspec.structs.replace(spec, mounts=(TaskMount(source="/vol", target="/m", readonly=True),))

    told = host(spec, config, options=options)

    assert told["Mounts"] == [
        {
            "Type": "volume",
            "Target": "/v",
            "ReadOnly": True,
            "Source": "data",
            "VolumeOptions": {
                "NoCopy": True,
                "Labels": {"a": "b"},
                "DriverConfig": {"Name": "nfs", "Options": {"x": "y"}},
            },
        },
        {
            "Type": "bind",
            "Target": "/b",
            "ReadOnly": False,
            "Source": "/srv",
            "BindOptions": {"Propagation": "rslave"},
        },
        {"Type": "bind", "Source": "/vol", "Target": "/m", "ReadOnly": True},
    ]
    assert told["Binds"][1].endswith(":/alloc/logs:ro,z")


# --- network ----------------------------------------------------------------------------------------

PORTS = (
    TaskPort(label="http", host_ip="10.0.0.1", host_port=20001, to=80),
    TaskPort(label="same", host_ip="10.0.0.1", host_port=20002),
)


def test_ports_are_published_for_both_protocols(spec: TaskSpec) -> None:
    told = body(msgspec.structs.replace(spec, ports=PORTS), {"ports": ["http", "same"]})

    expected = {
        "80/tcp": [{"HostIp": "10.0.0.1", "HostPort": "20001"}],
        "80/udp": [{"HostIp": "10.0.0.1", "HostPort": "20001"}],
        "20002/tcp": [{"HostIp": "10.0.0.1", "HostPort": "20002"}],
        "20002/udp": [{"HostIp": "10.0.0.1", "HostPort": "20002"}],
    }
    assert told["HostConfig"]["PortBindings"] == expected
    assert set(told["ExposedPorts"]) == set(expected)


def test_an_old_port_map_says_the_number_itself(spec: TaskSpec) -> None:
    told = host(msgspec.structs.replace(spec, ports=PORTS), {"port_map": [{"same": 8080}]})

    assert set(told["PortBindings"]) == {"8080/tcp", "8080/udp"}


def test_a_groups_network_is_shared_without_ports_of_its_own(spec: TaskSpec) -> None:
    spec = msgspec.structs.replace(spec, ports=PORTS)

    told = host(spec, {"ports": ["http"]}, group_network="container:pause")

    assert (told["NetworkMode"], told["PortBindings"]) == ("container:pause", {})
    with pytest.raises(DriverError, match="hostname cannot be set"):
        host(spec, {"hostname": "x"}, group_network="container:pause")


def test_a_task_may_leave_its_groups_network(spec: TaskSpec) -> None:
    assert host(spec, {"network_mode": "host"}, group_network="container:pause")["NetworkMode"] == "host"


def test_a_container_has_its_names_in_networks_of_users(spec: TaskSpec) -> None:
    config = {"network_aliases": ["web"], "ipv4_address": "10.1.1.1", "mac_address": "02:00:00:00:00:01"}

    told = body(spec, {**config, "network_mode": "mine"})["NetworkingConfig"]["EndpointsConfig"]

    assert told["mine"]["Aliases"] == ("web",)
    assert told["mine"]["IPAMConfig"]["IPv4Address"] == "10.1.1.1"
    assert body(spec, {**config, "network_mode": "host"})["NetworkingConfig"]["EndpointsConfig"] == {}


def test_the_groups_resolver_wins_over_the_tasks(spec: TaskSpec) -> None:
    config = {"dns_servers": ["1.1.1.1"]}
    with_own = msgspec.structs.replace(spec, mounts=(TaskMount(source="/x", target="/etc/resolv.conf"),))

    assert host(spec, config)["Dns"] == ("1.1.1.1",)
    assert host(with_own, config)["Dns"] == ()


@pytest.mark.parametrize(
    ("networks", "wants_ipv6", "address", "advertised"),
    [
        pytest.param(None, False, None, None, id="no network"),
        pytest.param({"host": Endpoint()}, False, None, None, id="the host's"),
        pytest.param(
            {"bridge": Endpoint(ip_address="172.17.0.2")}, False, "172.17.0.2", False, id="docker's"
        ),
        pytest.param({"mine": Endpoint(ip_address="10.1.1.1")}, False, "10.1.1.1", True, id="a user's"),
        pytest.param(
            {"mine": Endpoint(ip_address="10.1.1.1", global_ipv6_address="fd::1")},
            True,
            "fd::1",
            True,
            id="IPv6",
        ),
    ],
)
def test_a_containers_address(
    networks: dict[str, Endpoint] | None, wants_ipv6: bool, address: str | None, advertised: bool | None
) -> None:
    found = driver_network(NetworkSettings(networks=networks), port_map={"http": 80}, wants_ipv6=wants_ipv6)

    assert (found.ip if found else None) == address
    assert (found.auto_advertise if found else None) == advertised


# --- rights, labels, logs ---------------------------------------------------------------------------


def test_modes_and_privileges_are_the_operators_to_allow(spec: TaskSpec) -> None:
    config = {"pid_mode": "container:web", "privileged": False}
    by_pattern = DockerOptions(allowed_modes=AllowedModes(pid=("container:*",)))

    assert host(spec, config, options=by_pattern)["PidMode"] == "container:web"
    privileged = host(spec, {"privileged": True}, options=DockerOptions(allow_privileged=True))
    assert privileged["Privileged"]
    assert "CapDrop" not in privileged


def test_capabilities_start_from_none(spec: TaskSpec) -> None:
    told = host(spec, {"cap_drop": ["all"], "cap_add": ["CAP_CHOWN"]})

    assert (told["CapDrop"], told["CapAdd"]) == (["ALL"], ["CHOWN"])


def test_a_seccomp_profile_is_sent_along(spec: TaskSpec, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text("{}")
    options = [f"seccomp={tmp_path}/profile.json", "seccomp=unconfined", "no-new-privileges"]

    told = host(spec, {"security_opt": options})["SecurityOpt"]

    assert told == ["seccomp={}", "seccomp=unconfined", "no-new-privileges"]


def test_labels_tell_whose_container_it_is(spec: TaskSpec) -> None:
    owner = TaskOwner(job_id="j", job_name="job", group="g", namespace="default", node_name="n1")
    options = DockerOptions(extra_labels=("job_*", "task*"))

    told = body(msgspec.structs.replace(spec, owner=owner), {"labels": {"a": "b"}}, options)["Labels"]

    assert told == {
        "a": "b",
        "com.hashicorp.nomad.alloc_id": spec.alloc_id,
        "com.hashicorp.nomad.job_id": "j",
        "com.hashicorp.nomad.job_name": "job",
        "com.hashicorp.nomad.task_group_name": "g",
        "com.hashicorp.nomad.task_name": "t",
        "yurt.alloc_id": spec.alloc_id,
    }


@pytest.mark.parametrize(
    ("config", "options", "expected"),
    [
        ({}, LoggingConfig(), ("json-file", {"max-file": "2", "max-size": "2m"})),
        ({}, LoggingConfig(type="journald"), ("journald", {})),
        (
            {"logging": {"driver": "syslog", "config": [{"tag": "x"}]}},
            LoggingConfig(type="journald"),
            ("syslog", {"tag": "x"}),
        ),
    ],
)
def test_what_docker_does_with_output(
    spec: TaskSpec, config: dict[str, Any], options: LoggingConfig, expected: tuple[str, dict[str, str]]
) -> None:
    told = host(spec, config, options=DockerOptions(logging=options))["LogConfig"]

    assert (told["Type"], told["Config"]) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ContainerState(), (0, False, "")),
        (ContainerState(exit_code=3), (3, False, "Docker container exited with non-zero exit code: 3")),
        (ContainerState(exit_code=137, oom_killed=True), (137, True, "OOM Killed")),
    ],
)
def test_ends_are_told_in_dockers_way(state: ContainerState, expected: tuple[int, bool, str]) -> None:
    result = exit_result(state)

    assert (result.exit_code, result.oom_killed, result.error) == expected
    assert result.signal == 0
