"""What networks are made of: configurations, answers of plugins, files about names, firewall rules."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from yurt.agent.fingerprint.cni import fingerprint_cni
from yurt.agent.fingerprint.facts import Probe
from yurt.agent.fingerprint.plugins import fingerprint_cni_plugins
from yurt.agent.network.cni_config import BadCniConfig, bridge_config, decode_config
from yurt.agent.network.firewall import remove_rules_of
from yurt.agent.network.group_network import network_status, port_mappings
from yurt.agent.network.resolver_files import hosts, resolv_conf
from yurt.agent.settings import ClientSettings
from yurt.model.allocated import AllocatedPort
from yurt.model.resources import DNSConfig

SETTINGS = ClientSettings(state_dir="", alloc_dir="/nowhere")
HOST_RESOLV_CONF = (
    "# by hand\ndomain a.example\nsearch b.example c.example\nnameserver 10.0.0.1\nnameserver 10.0.0.2 ; x\n"
)


def test_the_built_in_bridge_is_nomads() -> None:
    config = bridge_config(SETTINGS)

    assert (config.name, config.version) == ("nomad", "0.4.0")
    assert [plugin["type"] for plugin in config.plugins] == ["loopback", "bridge", "firewall", "portmap"]
    assert config.plugins[1]["ipam"]["ranges"] == [[{"subnet": "172.26.64.0/20"}]]
    assert config.plugins[2]["iptablesAdminChainName"] == "NOMAD-ADMIN"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("[]", "no JSON object", id="a list"),
        pytest.param('{"type": "bridge"}', "name", id="without a name"),
        pytest.param('{"name": "x", "plugins": []}', "plugins", id="without plugins"),
        pytest.param('{"name": "x", "plugins": [{"type": "../sh"}]}', "type", id="a plugin elsewhere"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadCniConfig, match=problem):
        decode_config(text.encode())


def test_networks_are_known_by_the_name_inside_their_file(tmp_path: Path) -> None:
    (tmp_path / "10-a.conflist").write_text(json.dumps({"name": "a", "plugins": [{"type": "ptp"}]}))
    (tmp_path / "20-b.conf").write_text(json.dumps({"name": "b", "type": "macvlan"}))
    (tmp_path / "30-again.json").write_text(json.dumps({"name": "b", "type": "ptp"}))
    (tmp_path / "broken.conf").write_text("{")
    (tmp_path / "notes.txt").write_text('{"name": "c", "type": "ptp"}')
    settings = ClientSettings(state_dir="", alloc_dir="", cni_config_dir=str(tmp_path))

    facts = fingerprint_cni(Probe(settings=settings))
    assert [network.mode for network in facts.node_networks] == ["cni/a", "cni/b"]


def test_plugins_without_a_version_are_known_by_what_they_speak(tmp_path: Path) -> None:
    plugin = tmp_path / "bridge"
    plugin.write_text(
        "#!/bin/sh\necho CNI bridge plugin version unknown\n"
        "echo CNI protocol versions supported: 0.4.0, 1.0.0\n"
    )
    plugin.chmod(0o755)
    settings = ClientSettings(state_dir="", alloc_dir="", cni_path=str(tmp_path))

    facts = fingerprint_cni_plugins(Probe(settings=settings))
    assert facts.attributes == {"plugins.cni.version.bridge": "1.0.0"}


def test_the_status_names_the_interface_inside() -> None:
    result = {
        "cniVersion": "0.4.0",
        "interfaces": [{"name": "br"}, {"name": "veth1"}, {"name": "eth0", "sandbox": "/run/netns/x"}],
        "ips": [
            {"version": "4", "interface": 2, "address": "172.26.64.5/20", "gateway": "172.26.64.1"},
            {"version": "6", "interface": 2, "address": "fd00::5/64"},
        ],
        "dns": {"nameservers": ["10.0.0.1"]},
    }
    status = network_status(result)

    assert (status.interface_name, status.address, status.address_ipv6) == ("eth0", "172.26.64.5", "fd00::5")
    assert status.dns == DNSConfig(servers=("10.0.0.1",), searches=(), options=())


def test_each_port_is_mapped_for_both_protocols() -> None:
    ports = (
        AllocatedPort(label="a", value=20001, to=80, host_ip="10.0.0.9"),
        AllocatedPort(label="b", value=20002, host_ip="10.0.0.9"),
    )
    mapped = port_mappings(ports, every_address=False)

    assert [(m.host_ip, m.host_port, m.container_port, m.protocol) for m in mapped] == [
        ("10.0.0.9", 20001, 80, "tcp"),
        ("10.0.0.9", 20001, 80, "udp"),
        ("10.0.0.9", 20002, 20002, "tcp"),
        ("10.0.0.9", 20002, 20002, "udp"),
    ]
    assert {m.host_ip for m in port_mappings(ports, every_address=True)} == {""}


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        pytest.param(
            DNSConfig(servers=("8.8.8.8",)),
            "search b.example c.example\nnameserver 8.8.8.8\n",
            id="own servers, the host's searches",
        ),
        pytest.param(
            DNSConfig(searches=("d.example",), options=("ndots:2", "rotate")),
            "search d.example\nnameserver 10.0.0.1\nnameserver 10.0.0.2\noptions ndots:2 rotate\n",
            id="the host's servers",
        ),
    ],
)
def test_what_dns_settings_leave_out_is_the_hosts(wanted: DNSConfig, text: str) -> None:
    assert resolv_conf(wanted, HOST_RESOLV_CONF) == text


def test_a_task_finds_itself_and_its_extra_hosts() -> None:
    lines = hosts("172.26.64.5", "web", ["db:10.0.0.3", "six:[fd00::1]"]).splitlines()

    assert lines[0] == "127.0.0.1 localhost"
    assert lines[-3:] == ["172.26.64.5 web", "10.0.0.3 db", "fd00::1 six"]


def test_rules_that_plugins_left_behind_are_removed() -> None:
    alloc_id, chain = f"alloc-{os.getpid()}", f"CNI-T{os.getpid()}"
    comment = f'name: "x" id: "{alloc_id}"'
    rule = ["-s", "192.0.2.1/32", "-m", "comment", "--comment", comment, "-j", chain]
    iptables = ["iptables", "-w", "10", "-t", "nat"]
    subprocess.run([*iptables, "-N", chain], check=True)
    subprocess.run([*iptables, "-A", "POSTROUTING", *rule], check=True)
    subprocess.run(
        [*iptables, "-A", chain, "-m", "comment", "--comment", comment, "-j", "ACCEPT"], check=True
    )

    asyncio.run(remove_rules_of(alloc_id))

    left = subprocess.run([*iptables, "-S"], check=True, capture_output=True, text=True).stdout
    assert alloc_id not in left
    assert chain not in left
