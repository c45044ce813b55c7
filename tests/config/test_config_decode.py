from collections.abc import Callable

import pytest

from yurt.config import AgentConfig

LoadConfig = Callable[..., AgentConfig]
ConfigProblems = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "\n\nsever { enabled = true }",
            '0.conf:3: sever: unknown key; did you mean "server"?',
            id="misspelt block",
        ),
        pytest.param(
            "server {\n  heartbeat_gracee = 1\n}",
            '0.conf:2: server.heartbeat_gracee: unknown key; did you mean "heartbeat_grace"?',
            id="misspelt key of a block",
        ),
        pytest.param(
            "bootstrap_expect = 1",
            "0.conf:1: bootstrap_expect: unknown key; it belongs in server { }",
            id="key at the wrong level",
        ),
        pytest.param(
            '{"client": {\n"host_volume": {"a": {"path": "/a",\n"paht": "/b"}}}}',
            '0.conf:3: client.host_volume.a.paht: unknown key; did you mean "path"?',
            id="key of a named block in JSON",
        ),
        pytest.param(
            "audit {\n  enabeld = true\n}",
            '0.conf:2: audit.enabeld: unknown key; did you mean "enabled"?',
            id="key of a block without effect",
        ),
        pytest.param(
            "countable { a = 1 }",
            "0.conf:1: countable: unknown key; it belongs in client { }",
            id="named block at the wrong level",
        ),
    ],
)
def test_unknown_keys_are_named_with_a_hint(config_problems: ConfigProblems, text: str, problem: str) -> None:
    assert config_problems(text) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('ports { http = "x" }', '0.conf:1: ports.http: expected a whole number, got "x"'),
        ("ports { http = 70000 }", "0.conf:1: ports.http: must be at most 65535, got 70000"),
        ("ports { http = 1.5 }", "0.conf:1: ports.http: expected a whole number, got 1.5"),
        ("ports = 5", "0.conf:1: ports: expected one block, got 5"),
        ('log_json = "yes"', '0.conf:1: log_json: expected true or false, got "yes"'),
        ("region = true", "0.conf:1: region: expected a string, got true"),
        ("region = []", "0.conf:1: region: expected a string, got a list"),
        ("region {}", "0.conf:1: region: expected a string, got a block"),
        (
            "server { heartbeat_grace = 10 }",
            '0.conf:1: server.heartbeat_grace: expected a duration such as "30s" or "1h30m", got 10',
        ),
        (
            'client { artifact { http_max_size = "big" } }',
            '0.conf:1: client.artifact.http_max_size: expected a size such as "100MB", got "big"',
        ),
        (
            "server { max_heartbeats_per_second = 0 }",
            "0.conf:1: server.max_heartbeats_per_second: must be more than 0, got 0.0",
        ),
        (
            'client { preferred_address_family = "ipv5" }',
            "0.conf:1: client.preferred_address_family: expected one of '', 'ipv4', 'ipv6', "
            "got \"ipv5\"; did you mean 'ipv4'?",
        ),
        (
            'server { enabled_schedulers = ["batch", "cron"] }',
            "0.conf:1: server.enabled_schedulers: expected one of 'service', 'batch', 'system', "
            "'sysbatch', '_core', got \"cron\"",
        ),
        ("client { meta { a = [] } }", "0.conf:1: client.meta.a: expected a string, got a list"),
        (
            'client { host_volume = "x" }',
            '0.conf:1: client.host_volume: expected blocks with a name: key "name" { ... }, got "x"',
        ),
        (
            'client { host_volume "a" {} }',
            "0.conf:1: client.host_volume.a.path: is missing; set it to a string",
        ),
        ("etcd {}", "0.conf:1: etcd.endpoints: is missing; set it to a list of strings"),
    ],
)
def test_wrong_values_are_named_with_what_was_expected(
    config_problems: ConfigProblems, text: str, problem: str
) -> None:
    assert config_problems(text)[0] == problem


def test_all_problems_come_at_once(config_problems: ConfigProblems) -> None:
    problems = config_problems("regoin = 1\nports { http = -1 }", 'log_level = "LOUD"\nlog_jsn = 1')
    assert [problem.split(": ")[0] for problem in problems] == [
        "0.conf:1",
        "0.conf:2",
        "1.conf:2",
        "1.conf:1",
    ]


def test_numbers_and_bools_may_be_quoted_and_strings_may_be_numbers(load_config: LoadConfig) -> None:
    config = load_config(
        """
        "ports" = { "http" = "5646", rpc = 5647 }
        log_json = "true"
        leave_on_terminate = 1
        server { max_heartbeats_per_second = "2.5" }
        client {
          node_class = 7
          servers = "10.0.0.1"
          meta { count = 3, ratio = 0.5, fast = true }
        }
        """
    )
    assert (config.ports.http, config.ports.rpc) == (5646, 5647)
    assert (config.log_json, config.leave_on_terminate) == (True, True)
    assert config.server.max_heartbeats_per_second == 2.5
    assert (config.client.node_class, config.client.servers) == ("7", ("10.0.0.1",))
    assert config.client.meta == {"count": "3", "ratio": "0.5", "fast": "true"}


def test_hcl_and_json_say_the_same(load_config: LoadConfig) -> None:
    hcl = load_config(
        """
        server { heartbeat_grace = "20s" }
        client {
          host_volume "a" { path = "/a" }
          host_volume "b" { path = "/b" }
          countable "licence" { count = 3 }
          drain_on_shutdown {}
        }
        plugin "docker" { config { auth { config = "/x" } } }
        """
    )
    json = load_config(
        """
        {"server": {"heartbeat_grace": "20s"},
         "client": [{"host_volume": [{"a": {"path": "/a"}}, {"b": [{"path": "/b"}]}],
                     "countable": {"licence": {"count": 3}},
                     "drain_on_shutdown": {}}],
         "plugin": {"docker": {"config": {"auth": {"config": "/x"}}}}}
        """
    )
    assert (hcl.server, hcl.client, hcl.plugins) == (json.server, json.client, json.plugins)
    assert hcl.client.countables["licence"].count == 3
    assert hcl.client.drain_on_shutdown is not None
    assert hcl.plugins["docker"].config == {"auth": {"config": "/x"}}


def test_other_spellings_set_the_same_key(load_config: LoadConfig) -> None:
    config = load_config(
        """
        ports { simple = 0, simple_agent = 9501 }
        server { snapshot_interval = "30s", snapshot_threshold = 7 }
        client { retry_join = ["a"], template { function_blacklist = ["env"] } }
        """
    )
    assert (config.simple_api.port, config.simple_api.agent_port) == (0, 9501)
    assert (config.server.raft_snapshot_interval_s, config.server.raft_snapshot_threshold) == (30.0, 7)
    assert config.client.server_join.retry_join == ("a",)
    assert config.client.template.function_denylist == ("env",)


def test_keys_without_effect_are_named_in_one_notice(load_config: LoadConfig) -> None:
    config = load_config('vault { address = "x" }\nserver { retry_join = ["a"] }', "enable_syslog = true")
    (notice,) = config.notices
    assert notice.event == "config.unserved_keys"
    assert notice.keys == ("vault", "server.retry_join", "enable_syslog")
    assert "0.conf:2" in notice.text
