"""A machine is described by the attributes and resources that job files and the scheduler know."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from yurt.agent.fingerprint.bridge import fingerprint_bridge
from yurt.agent.fingerprint.cgroup import fingerprint_cgroup
from yurt.agent.fingerprint.cpu import fingerprint_cpu
from yurt.agent.fingerprint.facts import Facts, Probe, merge
from yurt.agent.fingerprint.host import fingerprint_host
from yurt.agent.fingerprint.host_volumes import HostVolumeMissing
from yurt.agent.fingerprint.memory import fingerprint_memory
from yurt.agent.fingerprint.network import BadHostNetwork, InterfaceNotFound, fingerprint_network
from yurt.agent.fingerprint.plugins import (
    fingerprint_cni_plugins,
    fingerprint_host_volume_plugins,
    fingerprint_secrets_plugins,
)
from yurt.agent.fingerprint.registry import fingerprint
from yurt.agent.id_sets import BadIdSet, format_ids, parse_ids
from yurt.agent.settings import ClientSettings, Reserved
from yurt.model.node import (
    NODE_INELIGIBLE,
    DriverInfo,
    HostNetwork,
    HostVolume,
    Node,
    NodeMemory,
)
from yurt.model.resources import NetworkResource
from yurt.model.wire import NodeID

LINUX_ATTRIBUTES = {
    "cpu.arch",
    "cpu.frequency",
    "cpu.numcores",
    "cpu.reservablecores",
    "cpu.totalcompute",
    "cpu.usablecompute",
    "kernel.arch",
    "kernel.name",
    "kernel.version",
    "memory.totalbytes",
    "nomad.service_discovery",
    "nomad.version",
    "numa.node.count",
    "numa.node0.cores",
    "os.name",
    "os.signals",
    "os.version",
    "plugins.host_volume.mkdir.version",
    "plugins.secrets.nomad.version",
    "plugins.secrets.vault.version",
    "unique.advertise.address",
    "unique.hostname",
    "unique.network.ip-address",
    "unique.storage.bytestotal",
    "yurt.version",
}

Machine = Callable[[dict[str, str]], Path]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Lay out the files of a made-up machine; its root is the answer."""

    def lay_out(files: dict[str, str]) -> Path:
        for name, content in files.items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return lay_out


def settings(**changes: object) -> ClientSettings:
    return ClientSettings(state_dir="/var/lib/yurt/client", alloc_dir="/var/lib/yurt/alloc", **changes)  # type: ignore[arg-type]


def this_machine(**changes: object) -> Node:
    changes = {"http_address": "10.0.0.1:4646", "network_interface": "lo"} | changes
    probe = Probe(settings=settings(**changes))
    return fingerprint(probe, node_id=NodeID("n1"), secret_id="s1", drivers={})


def test_this_machine_has_every_attribute_job_files_count_on() -> None:
    node = this_machine()

    assert set(node.attributes) >= LINUX_ATTRIBUTES
    assert node.attributes["kernel.name"] == "linux"
    assert node.attributes["unique.network.ip-address"] == "127.0.0.1"
    assert node.attributes["unique.advertise.address"] == "10.0.0.1:4646"
    assert node.node_resources.memory.memory_mb > 0
    assert node.node_resources.disk.disk_mb > 0
    assert node.node_resources.cpu.cpu_shares == int(node.attributes["cpu.totalcompute"])


def test_loopback_is_offered_as_recorded() -> None:
    networks = this_machine().node_resources.networks or ()
    first = next(network for network in networks if network.mode == "host")

    assert first == NetworkResource(mode="host", device="lo", cidr="127.0.0.1/32", ip="127.0.0.1", mbits=1000)


def test_configured_values_replace_what_was_found() -> None:
    node = this_machine(
        cpu_total_compute_mhz=9000,
        memory_total_mb=512,
        disk_total_mb=4096,
        min_dynamic_port=25000,
        max_dynamic_port=26000,
        reserved=Reserved(cpu_mhz=500, memory_mb=64, disk_mb=10, ports="22,8500-8600"),
        node_name="node1",
        node_class="big",
        node_pool="gpu",
        meta={"rack": "r1"},
        default_ineligible=True,
    )

    assert node.node_resources.cpu.cpu_shares == 9000
    assert node.attributes["cpu.usablecompute"] == "8500"
    assert node.node_resources.memory == NodeMemory(memory_mb=512)
    assert node.attributes["memory.totalbytes"] == str(512 << 20)
    assert node.node_resources.disk.disk_mb == 4096
    assert (node.node_resources.min_dynamic_port, node.node_resources.max_dynamic_port) == (25000, 26000)
    assert node.reserved_resources.networks.reserved_host_ports == "22,8500-8600"
    assert node.reserved_resources.memory.memory_mb == 64
    assert (node.name, node.node_class, node.node_pool) == ("node1", "big", "gpu")
    assert (node.meta or {})["rack"] == "r1"
    assert (node.meta or {})["connect.log_level"] == "info"
    assert node.scheduling_eligibility == NODE_INELIGIBLE


def test_a_driver_that_is_not_detected_adds_no_attributes() -> None:
    drivers = {
        "raw_exec": DriverInfo(attributes={"driver.raw_exec": "true"}, detected=True, healthy=True),
        "docker": DriverInfo(attributes={"driver.docker.version": "1"}, detected=False),
    }
    probe = Probe(settings=settings())
    node = fingerprint(probe, node_id=NodeID("n1"), secret_id="s1", drivers=drivers)

    assert node.attributes["driver.raw_exec"] == "1"
    assert "driver.docker" not in node.attributes
    assert "driver.docker.version" not in node.attributes
    assert node.drivers == drivers


@pytest.mark.parametrize(
    ("options", "has_cpu", "has_memory"),
    [
        pytest.param({"fingerprint.denylist": "cpu, host"}, False, True, id="denied"),
        pytest.param({"fingerprint.allowlist": "cpu"}, True, False, id="allowed"),
        pytest.param({"fingerprint.blacklist": "memory"}, True, False, id="older spelling"),
    ],
)
def test_options_select_fingerprinters(options: dict[str, str], has_cpu: bool, has_memory: bool) -> None:
    node = this_machine(options=options)

    assert ("cpu.numcores" in node.attributes) is has_cpu
    assert ("memory.totalbytes" in node.attributes) is has_memory


def test_a_host_volume_without_directory_stops_the_start() -> None:
    with pytest.raises(HostVolumeMissing, match="certs"):
        this_machine(host_volumes={"certs": HostVolume(name="certs", path="/no/such/directory")})


def test_cores_are_read_with_their_nodes_kinds_and_speeds(machine: Machine) -> None:
    files = {
        "/sys/devices/system/cpu/online": "0-3",
        "/sys/devices/system/node/node0/cpulist": "0-1",
        "/sys/devices/system/node/node1/cpulist": "2-3",
        "/sys/devices/system/node/node0/distance": "10 20",
        "/sys/devices/system/node/node1/distance": "20 10",
        "/sys/devices/cpu_atom/cpus": "2-3",
        "/proc/cpuinfo": "processor : 0\nmodel name\t: Fast One\n",
    }
    for core in range(4):
        base = f"/sys/devices/system/cpu/cpu{core}"
        files[f"{base}/cpufreq/base_frequency"] = "2400000" if core < 2 else "1800000"
        files[f"{base}/cpufreq/cpuinfo_max_freq"] = "5000000"
        files[f"{base}/topology/physical_package_id"] = str(core // 2)
    probe = Probe(
        settings=settings(reserved=Reserved(cores="3"), reservable_cores="0-3"), root=machine(files)
    )
    facts = fingerprint_cpu(probe)

    assert facts.attributes["cpu.modelname"] == "Fast One"
    assert facts.attributes["cpu.numcores"] == "4"
    assert facts.attributes["cpu.frequency.performance"] == "2400"
    assert facts.attributes["cpu.frequency.efficiency"] == "1800"
    assert facts.attributes["cpu.numcores.efficiency"] == "2"
    assert facts.attributes["cpu.totalcompute"] == "8400"
    assert (facts.attributes["numa.node.count"], facts.attributes["numa.node1.cores"]) == ("2", "2-3")
    assert facts.processors is not None
    topology = facts.processors.topology
    assert topology is not None
    assert topology.distances == ((10, 20), (20, 10))
    cores = topology.cores or ()
    assert [core.socket_id for core in cores] == [0, 0, 1, 1]
    assert cores[3].disable
    assert 3 not in (facts.cpu.reservable_cpu_cores or () if facts.cpu else ())


def test_without_a_rated_speed_the_constant_clock_is_taken(machine: Machine) -> None:
    root = machine(
        {
            "/sys/devices/system/cpu/online": "0",
            "/proc/cpuinfo": "processor : 0\ncpu MHz : 3391.119\nbogomips : 5192.25\n",
        }
    )
    facts = fingerprint_cpu(Probe(settings=settings(), root=root))

    assert facts.attributes["cpu.frequency"] == "2596"
    assert facts.attributes["numa.node0.cores"] == "0"


@pytest.mark.parametrize(
    ("files", "version"),
    [
        pytest.param({"/sys/fs/cgroup/cgroup.controllers": "cpu"}, "2", id="unified"),
        pytest.param({"/sys/fs/cgroup/memory/tasks": ""}, "1", id="one hierarchy a controller"),
        pytest.param({}, None, id="off"),
    ],
)
def test_cgroup_version(machine: Machine, files: dict[str, str], version: str | None) -> None:
    facts = fingerprint_cgroup(Probe(settings=settings(), root=machine(files)))

    assert facts.attributes.get("os.cgroups.version") == version


def test_bridges_are_offered_when_the_kernel_can_load_the_module(machine: Machine) -> None:
    modules = f"/lib/modules/{os.uname().release}/modules.builtin"
    without = Probe(settings=settings(), root=machine({}))
    assert fingerprint_bridge(without) == Facts()

    built_in = Probe(settings=settings(), root=machine({modules: "kernel/net/bridge/bridge.ko\n"}))
    assert fingerprint_bridge(built_in).networks == (NetworkResource(mode="bridge"),)


@pytest.mark.parametrize(
    ("files", "name", "version"),
    [
        pytest.param(
            {"/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n'}, "ubuntu", "24.04", id="os-release"
        ),
        pytest.param(
            {"/etc/os-release": 'ID=debian\nVERSION_ID="12"', "/etc/debian_version": "12.11\n"},
            "debian",
            "12.11",
            id="debian has its point release elsewhere",
        ),
        pytest.param(
            {"/etc/os-release": 'ID=debian\nVERSION_ID="13"', "/etc/debian_version": "trixie/sid"},
            "debian",
            "13",
            id="a code name is no version",
        ),
    ],
)
def test_operating_system(machine: Machine, files: dict[str, str], name: str, version: str) -> None:
    facts = fingerprint_host(Probe(settings=settings(), root=machine(files)))

    assert (facts.attributes["os.name"], facts.attributes["os.version"]) == (name, version)


def test_host_id_falls_back_to_the_machine_id(machine: Machine) -> None:
    root = machine({"/etc/machine-id": "3d1219c7c4c5404aaa1f6d2a48adfda4\n"})
    facts = fingerprint_host(Probe(settings=settings(), root=root))

    assert facts.attributes["unique.host_id"] == "3d1219c7-c4c5-404a-aa1f-6d2a48adfda4"


def test_memory_is_counted_in_bytes(machine: Machine) -> None:
    root = machine({"/proc/meminfo": "MemFree:  1 kB\nMemTotal:       24684000 kB\n"})
    facts = fingerprint_memory(Probe(settings=settings(), root=root))

    assert facts.attributes == {"memory.totalbytes": str(24684000 * 1024)}
    assert facts.memory == NodeMemory(memory_mb=24105)


def test_an_unknown_interface_is_refused_with_those_there_are() -> None:
    with pytest.raises(InterfaceNotFound, match=r"nosuch0.*lo"):
        fingerprint_network(Probe(settings=settings(network_interface="nosuch0")))


def test_a_host_network_adds_its_alias_to_matching_addresses() -> None:
    networks = {
        "loop": HostNetwork(name="loop", cidr="127.0.0.0/8", reserved_ports="22"),
        "by-name": HostNetwork(name="by-name", interface="lo"),
    }
    facts = fingerprint_network(Probe(settings=settings(network_interface="lo", host_networks=networks)))
    offers = [(a.alias, a.address, a.reserved_ports) for a in facts.node_networks[0].addresses or ()]

    assert ("default", "127.0.0.1", "") in offers
    assert ("loop", "127.0.0.1", "22") in offers
    assert ("by-name", "127.0.0.1", "") in offers


def test_a_host_network_with_a_bad_subnet_is_refused() -> None:
    networks = {"x": HostNetwork(name="x", cidr="10.0.0.0/99")}
    with pytest.raises(BadHostNetwork, match=r"10\.0\.0\.0/99"):
        fingerprint_network(Probe(settings=settings(network_interface="lo", host_networks=networks)))


def executable(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_cni_plugins_tell_their_version(tmp_path: Path) -> None:
    executable(tmp_path / "bin/bridge", 'echo "CNI bridge plugin v1.5.1" >&2')
    executable(tmp_path / "bin/broken", "exit 1")
    (tmp_path / "bin/README.md").write_text("not a plugin")
    facts = fingerprint_cni_plugins(Probe(settings=settings(cni_path=f"/none:{tmp_path}/bin")))

    assert facts.attributes == {"plugins.cni.version.bridge": "v1.5.1"}


def test_plugin_directories_are_asked_with_the_fingerprint_verb(tmp_path: Path) -> None:
    answer = 'echo "{\\"version\\": \\"$1-$DHV_OPERATION$CPI_OPERATION\\"}"'
    executable(tmp_path / "volumes/zfs", answer)
    executable(tmp_path / "common/secrets/pass", answer)
    executable(tmp_path / "volumes/garbled", "echo not json")
    probe = Probe(
        settings=settings(
            host_volume_plugin_dir=f"{tmp_path}/volumes", common_plugin_dir=f"{tmp_path}/common"
        )
    )

    assert fingerprint_host_volume_plugins(probe).attributes == {
        "plugins.host_volume.mkdir.version": "0.0.1",
        "plugins.host_volume.zfs.version": "fingerprint-fingerprint",
    }
    assert (
        fingerprint_secrets_plugins(probe).attributes["plugins.secrets.pass.version"]
        == "fingerprint-fingerprint"
    )


def test_merging_keeps_earlier_values_that_later_facts_do_not_name() -> None:
    merged = merge(
        [
            Facts(attributes={"a": "1", "b": "1"}, memory=NodeMemory(memory_mb=1)),
            Facts(attributes={"b": "2"}, networks=(NetworkResource(mode="host"),)),
        ]
    )

    assert merged.attributes == {"a": "1", "b": "2"}
    assert merged.memory == NodeMemory(memory_mb=1)
    assert merged.networks == (NetworkResource(mode="host"),)


@pytest.mark.parametrize(
    ("text", "ids"),
    [("", []), ("3", [3]), ("0-2,7", [0, 1, 2, 7]), ("0-2,7,9-10", [0, 1, 2, 7, 9, 10])],
)
def test_id_sets_read_and_write(text: str, ids: list[int]) -> None:
    assert sorted(parse_ids(text)) == ids
    assert format_ids(reversed(ids)) == text


@pytest.mark.parametrize("text", ["a", "1-", "3-1", "-2"])
def test_bad_id_sets_are_refused(text: str) -> None:
    with pytest.raises(BadIdSet):
        parse_ids(text)
