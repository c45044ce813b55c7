from collections.abc import Callable

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, ConfigError, load
from yurt.config.addresses import join_host_port, split_host_port
from yurt.sockaddr.interfaces import read_interfaces

LoadConfig = Callable[..., AgentConfig]
ConfigProblems = Callable[..., list[str]]

KEPT = AgentFlags(server=True, client=True, data_dir="/var/lib/yurt")
GUARDED = """
acl { enabled = true }
tls {
  verify_server_hostname = true
  http = true
  rpc = true
  ca_file = "/ca"
  cert_file = "/cert"
  key_file = "/key"
}
"""


def events(config: AgentConfig) -> list[str]:
    return [notice.event for notice in config.notices]


def test_an_unguarded_agent_listens_on_loopback_only(load_config: LoadConfig) -> None:
    config = load_config(flags=KEPT)
    assert (config.bind_addr, config.advertise.rpc) == ("127.0.0.1", "127.0.0.1:4647")
    assert events(config) == ["config.loopback_only"]


def test_a_guarded_agent_listens_everywhere_and_advertises_its_private_address(
    load_config: LoadConfig,
) -> None:
    config = load_config(GUARDED, flags=KEPT)
    assert (config.bind_addr, config.addresses.rpc) == ("0.0.0.0", "0.0.0.0")
    assert (config.advertise.http, config.advertise.serf) == ("10.1.2.3:4646", "10.1.2.3:4648")
    assert events(config) == []


def test_an_open_agent_says_what_guards_it_lacks(load_config: LoadConfig) -> None:
    config = load_config('bind_addr = "0.0.0.0"\nacl { enabled = true }', flags=KEPT)
    (notice,) = config.notices
    assert (notice.event, notice.keys) == ("config.open_to_network", ("tls.http", "tls.rpc"))


def test_loopback_that_was_asked_for_needs_advertise(config_problems: ConfigProblems) -> None:
    problems = config_problems('bind_addr = "127.0.0.1"', flags=KEPT)
    assert [problem.split(": ")[:2] for problem in problems] == [
        ["advertise.http", "must be set"],
        ["advertise.rpc", "must be set"],
    ]


def test_loopback_with_advertise_is_fine(load_config: LoadConfig) -> None:
    text = 'bind_addr = "127.0.0.1"\nadvertise { http = "lb.example.org", rpc = "10.0.0.9:5000" }'
    config = load_config(text, flags=KEPT)
    assert (config.advertise.http, config.advertise.rpc) == ("lb.example.org:4646", "10.0.0.9:5000")


def test_a_public_bind_address_is_advertised_as_it_is(load_config: LoadConfig) -> None:
    assert load_config('bind_addr = "8.8.4.4"', flags=KEPT).advertise.http == "8.8.4.4:4646"


def test_a_machine_without_private_address_must_be_told_what_to_advertise() -> None:
    flags = AgentFlags(server=True, data_dir="/d", bind="0.0.0.0")
    with pytest.raises(ConfigError, match=r"advertise.http: must be set: .* no private IP"):
        load(flags, environment={}, interfaces=tuple)


def test_addresses_may_be_templates(load_config: LoadConfig) -> None:
    config = load_config(
        """
        bind_addr = "{{ GetInterfaceIP \\"eth1\\" }}"
        addresses { http = "127.0.0.1 {{ GetPrivateIP }}" }
        advertise { http = "{{ GetPublicIP }}:8080" }
        client {
          network_interface = "{{ GetPrivateInterfaces | attr \\"name\\" }}"
          host_network "a" { interface = "{{ GetDefaultInterfaces | attr \\"name\\" }}" }
        }
        """,
        flags=KEPT,
    )
    assert config.bind_addr == config.addresses.rpc == "192.168.7.7"
    assert config.addresses.http_hosts == ("127.0.0.1", "10.1.2.3")
    assert (config.advertise.http, config.advertise.rpc) == ("8.8.4.4:8080", "192.168.7.7:4647")
    assert config.client.network_interface == "eth0"
    assert config.client.host_networks["a"].interface == "eth0"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('bind_addr = "300.1.1.1"', "bind_addr"),
        ('bind_addr = "10.0.0.1 10.0.0.2"', "bind_addr"),
        ('bind_addr = "{{ GetInterfaceIP \\"eth9\\" }}"', "bind_addr"),
        ('addresses { http = "no host" \n rpc = "a b" }', "addresses.rpc"),
        ('advertise { http = "10.0.0.1:x" }', "advertise.http"),
        ('advertise { http = "0.0.0.0" }', "advertise.http"),
        ('client { network_interface = "{{ GetEverything }}" }', "client.network_interface"),
    ],
)
def test_bad_addresses_are_named(config_problems: ConfigProblems, text: str, key: str) -> None:
    (problem,) = config_problems(text)
    assert problem.startswith(f"0.conf:{2 if 'rpc' in key else 1}: {key}: ")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("10.0.0.1", "10.0.0.1", 7),
        ("10.0.0.1:80", "10.0.0.1", 80),
        ("a.example.org:80", "a.example.org", 80),
        ("::1", "::1", 7),
        ("[::1]:80", "::1", 80),
        ("[fd00::1]", "fd00::1", 7),
    ],
)
def test_hosts_and_ports_are_told_apart(text: str, host: str, port: int) -> None:
    assert split_host_port(text, 7) == (host, port)
    assert split_host_port(join_host_port(host, port), 0) == (host, port)


@pytest.mark.parametrize("text", ["", "a b", "10.0.0.1:", "10.0.0.1:99999", "1.2.3:80", "a:b:c"])
def test_other_text_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|port"):
        split_host_port(text, 7)


def test_this_machine_has_a_loopback_address() -> None:
    assert any(found.address.is_loopback for found in read_interfaces())
