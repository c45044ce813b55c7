from collections.abc import Callable

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, load
from yurt.config.flags import FLAG_KEYS

LoadConfig = Callable[..., AgentConfig]
ConfigProblems = Callable[..., list[str]]

KEPT = AgentFlags(server=True, client=True, data_dir="/var/lib/yurt")


def test_a_role_and_a_data_directory_are_needed(config_problems: ConfigProblems) -> None:
    problems = config_problems("", flags=AgentFlags())
    assert [problem.split(";")[0] for problem in problems] == [
        "neither server nor client is enabled",
        "data_dir: must be set outside of -dev",
    ]


def test_dev_mode_is_both_server_and_client_whatever_files_say(load_config: LoadConfig) -> None:
    config = load_config(
        'data_dir = "/kept"\nports { http = 5646 }\nserver { enabled = false }\nclient { enabled = false }'
    )
    assert (config.server.enabled, config.client.enabled, config.server.bootstrap_expect) == (True, True, 1)
    assert (config.data_dir, config.ports.http) == ("/kept", 5646)


def test_dev_mode_has_its_own_defaults(load_config: LoadConfig) -> None:
    config = load_config()
    assert config.dev
    assert (config.log_level, config.enable_debug, config.bind_addr) == ("DEBUG", True, "127.0.0.1")
    assert (config.client.gc_interval_s, config.client.gc_disk_usage_threshold) == (600.0, 99.0)
    assert config.telemetry.prometheus_metrics
    assert config.data_dir == ""
    assert config.notices == ()


def test_files_win_over_dev_defaults_and_flags_over_files(load_config: LoadConfig) -> None:
    text = 'log_level = "warn"\nregion = "file"\nclient { node_class = "file", meta { a = "file" } }'
    config = load_config(text, flags=AgentFlags(dev=True, region="flag", meta=("b=flag=x",)))
    assert (config.log_level, config.region, config.client.node_class) == ("WARN", "flag", "file")
    assert config.client.meta == {"a": "file", "b": "flag=x"}


def test_dev_connect_serves_all_addresses(load_config: LoadConfig) -> None:
    config = load_config(flags=AgentFlags(dev_connect=True))
    assert (config.bind_addr, config.advertise.http) == ("0.0.0.0", "10.1.2.3:4646")
    assert [notice.event for notice in config.notices] == ["config.open_to_network"]


def test_flags_alone_make_an_agent(load_config: LoadConfig) -> None:
    flags = AgentFlags(
        server=True,
        client=True,
        data_dir="/d",
        node="n1",
        dc="dc2",
        servers="10.0.0.1:4647, 10.0.0.2",
        retry_join=("10.0.0.3",),
        retry_interval="5s",
        acl_enabled=True,
        client_intro_token="intro",
    )
    config = load_config(flags=flags)
    assert (config.name, config.datacenter, config.data_dir) == ("n1", "dc2", "/d")
    assert config.client.servers == ("10.0.0.1:4647", "10.0.0.2")
    assert (config.client.server_join.retry_join, config.client.server_join.retry_interval_s) == (
        ("10.0.0.3",),
        5.0,
    )
    assert config.acl.enabled
    assert config.client.intro_token == "intro"


def test_every_flag_has_a_meaning() -> None:
    known = {*FLAG_KEYS, "config", "dev", "dev_connect", "dev_consul", "dev_vault"}
    left = {name for name in AgentFlags.__struct_fields__ if name not in known}
    assert all(name.startswith(("consul_", "vault_")) for name in left), left


def test_flags_without_effect_are_named_as_flags(load_config: LoadConfig) -> None:
    config = load_config(flags=AgentFlags(dev=True, consul_address="x", raft_protocol=3, plugin_dir="/p"))
    (notice,) = config.notices
    assert notice.keys == ("-plugin-dir", "-raft-protocol", "-consul-address")


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (
            AgentFlags(dev=True, retry_interval="5"),
            "-retry-interval: client.server_join.retry_interval: "
            'expected a duration such as "30s" or "1h30m", got "5"',
        ),
        (AgentFlags(dev=True, meta=("a",)), '-meta: expected key=value, got "a"'),
        (
            AgentFlags(dev=True, data_dir="here"),
            '-data-dir: data_dir: must be an absolute path, got "here"',
        ),
    ],
)
def test_a_bad_flag_is_named(config_problems: ConfigProblems, flags: AgentFlags, problem: str) -> None:
    assert config_problems(flags=flags) == [problem]


def test_the_introduction_token_may_come_from_the_environment() -> None:
    environment = {"YURT_CLIENT_INTRO_TOKEN": "yurt", "NOMAD_CLIENT_INTRO_TOKEN": "nomad"}
    assert load(AgentFlags(dev=True), environment=environment).client.intro_token == "yurt"
    del environment["YURT_CLIENT_INTRO_TOKEN"]
    assert load(AgentFlags(dev=True), environment=environment).client.intro_token == "nomad"


def test_the_name_defaults_to_the_machines(load_config: LoadConfig) -> None:
    assert load_config().name


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("server { bootstrap_expect = 3 }", "server.bootstrap_expect"),
        ('log_level = "LOUD"', "log_level"),
        ('region = "a b"', "region"),
        ('client { node_pool = "all" }', "client.node_pool"),
        ('client { node_pool = "a b" }', "client.node_pool"),
        ('client { alloc_dir = "x" }', "client.alloc_dir"),
        ('client { host_volume "a" { path = "x" } }', "client.host_volume.a.path"),
        ("ports { rpc = 4646 }", "ports.rpc"),
        ("client { min_dynamic_port = 2, max_dynamic_port = 1 }", "client.min_dynamic_port"),
        ('client { reserved { reserved_ports = "1-x" } }', "client.reserved.reserved_ports"),
        ('client { reserved { reserved_ports = "70000" } }', "client.reserved.reserved_ports"),
        ('client { reservable_cores = "3-1" }', "client.reservable_cores"),
        ('client { host_network "a" { cidr = "x" } }', "client.host_network.a.cidr"),
        ('tls { http = true, ca_file = "/a", cert_file = "/b" }', "tls.key_file"),
        ("server { job_default_priority = 101 }", "server.job_default_priority"),
        ('acl { token_min_expiration_ttl = "48h" }', "acl.token_min_expiration_ttl"),
        ('client { template { wait { min = "1h" } } }', "client.template.wait.min"),
        ("etcd { endpoints = [] }", "etcd.endpoints"),
        ('etcd { endpoints = ["10.0.0.1:2379"] }', "etcd.endpoints"),
    ],
)
def test_values_that_do_not_fit_together_are_named(
    config_problems: ConfigProblems, text: str, key: str
) -> None:
    (problem,) = config_problems(text, flags=KEPT)
    assert problem.startswith((f"0.conf:1: {key}: ", f"{key}: "))


def test_several_servers_share_a_store(load_config: LoadConfig) -> None:
    text = 'server { bootstrap_expect = 3 }\netcd { endpoints = ["http://10.0.0.1:2379"] }'
    config = load_config(text, flags=KEPT)
    assert config.etcd is not None
    assert config.etcd.endpoints == ("http://10.0.0.1:2379",)


def test_bootstrap_expect_is_for_servers(config_problems: ConfigProblems) -> None:
    flags = AgentFlags(client=True, data_dir="/d", bootstrap_expect=1)
    assert config_problems(flags=flags) == [
        "-bootstrap-expect: server.bootstrap_expect: needs server.enabled = true, or -server"
    ]


def test_directories_lie_below_the_data_directory_unless_set(load_config: LoadConfig) -> None:
    directories = load_config('client { alloc_dir = "/fast/alloc" }', flags=KEPT).directories()
    assert directories.server == "/var/lib/yurt/server"
    assert directories.state == "/var/lib/yurt/client"
    assert directories.alloc == "/fast/alloc"
