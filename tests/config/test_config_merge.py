from collections.abc import Callable

from yurt.config import AgentConfig

LoadConfig = Callable[..., AgentConfig]


def test_later_values_win_and_other_keys_of_a_block_stay(load_config: LoadConfig) -> None:
    config = load_config("ports { http = 1, rpc = 2 }", "ports { http = 3 }")
    assert (config.ports.http, config.ports.rpc, config.ports.serf) == (3, 2, 4648)


def test_lists_add_up_without_repeats(load_config: LoadConfig) -> None:
    config = load_config(
        'client { servers = ["a", "b"], server_join { retry_join = ["x"] } }',
        'client { servers = ["b", "c"], retry_join = ["y"] }',
    )
    assert config.client.servers == ("a", "b", "c")
    assert config.client.server_join.retry_join == ("x", "y")


def test_a_list_replaces_its_default(load_config: LoadConfig) -> None:
    config = load_config('client { template { function_denylist = ["plugin"] } }')
    assert config.client.template.function_denylist == ("plugin",)


def test_maps_merge_by_key(load_config: LoadConfig) -> None:
    config = load_config('client { meta { a = "1", b = "1" } }', 'client { meta { b = "2", c = "2" } }')
    assert config.client.meta == {"a": "1", "b": "2", "c": "2"}


def test_named_blocks_merge_by_name(load_config: LoadConfig) -> None:
    config = load_config(
        'client { host_volume "a" { path = "/a" }\n host_volume "b" { path = "/b" } }',
        'client { host_volume "b" { read_only = true }\n host_volume "c" { path = "/c" } }',
    )
    volumes = {name: (v.path, v.read_only) for name, v in config.client.host_volumes.items()}
    assert volumes == {"a": ("/a", False), "b": ("/b", True), "c": ("/c", False)}


def test_plugin_configs_merge_by_name_and_key(load_config: LoadConfig) -> None:
    config = load_config(
        'plugin "docker" { config { allow_privileged = true\n gc { image = true, container = true } } }',
        'plugin "docker" { config { gc { image = false } } }\nplugin "raw_exec" {}',
    )
    assert config.plugins["docker"].config == {
        "allow_privileged": True,
        "gc": {"image": False, "container": True},
    }
    assert config.plugins["raw_exec"].config == {}


def test_repeated_blocks_of_one_file_are_one(load_config: LoadConfig) -> None:
    config = load_config(
        'client { node_class = "a", meta { a = "1" }, servers = ["x"] }\n'
        'client { node_pool = "b", meta { b = "2" }, servers = ["y"] }'
    )
    assert (config.client.node_class, config.client.node_pool) == ("a", "b")
    assert (config.client.meta, config.client.servers) == ({"a": "1", "b": "2"}, ("x", "y"))
