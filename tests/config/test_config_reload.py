from collections.abc import Callable

from yurt.config import AgentConfig, reloadable_changes, reloaded

LoadConfig = Callable[..., AgentConfig]


def test_a_reload_takes_some_keys_and_names_the_others(load_config: LoadConfig) -> None:
    old = load_config('log_level = "INFO"')
    new = load_config(
        """
        log_level = "TRACE"
        region = "new"
        tls { verify_https_client = true }
        server { num_schedulers = 3, heartbeat_grace = "1m", snapshot_threshold = 5 }
        client { meta { a = "1" }, drain_on_shutdown {} }
        """
    )
    applied, ignored = reloadable_changes(old, new)
    assert applied == (
        "log_level",
        "server.num_schedulers",
        "server.raft_snapshot_threshold",
        "tls.verify_https_client",
    )
    assert ignored == ("region", "server.heartbeat_grace", "client.meta", "client.drain_on_shutdown")


def test_the_running_configuration_changes_by_what_was_applied(load_config: LoadConfig) -> None:
    old = load_config()
    new = load_config(
        """
        log_level = "TRACE"
        region = "new"
        tls { verify_https_client = true }
        server {
          num_schedulers = 3
          enabled_schedulers = ["batch"]
          raft_snapshot_threshold = 5
          raft_snapshot_interval = "5s"
          raft_trailing_logs = 5
        }
        """
    )
    applied, _ = reloadable_changes(old, new)
    running = reloaded(old, new)
    assert reloadable_changes(old, running) == (applied, ())
    assert reloadable_changes(running, new) == ((), ("region",))


def test_nothing_changed_means_nothing_to_do(load_config: LoadConfig) -> None:
    config = load_config()
    assert reloadable_changes(config, config) == ((), ())
