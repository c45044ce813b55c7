from collections.abc import Callable
from pathlib import Path

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, load
from yurt.main_agent import server_settings
from yurt.model.times import HOUR_NS
from yurt.server.settings import ServerSettings

LoadConfig = Callable[..., AgentConfig]


def test_a_server_gets_its_part() -> None:
    every_key = str(Path(__file__).parent / "every_key.hcl")
    config = load(AgentFlags(config=(every_key,)), environment={}, interfaces=tuple)
    settings = server_settings(config, keeps=True)
    assert settings.enabled_schedulers == ("service", "batch")
    assert settings.gc_interval_s == 300
    assert (settings.gc_thresholds.jobs, settings.gc_thresholds.batch_evals) == (4 * HOUR_NS, 24 * HOUR_NS)
    first = settings.first_scheduler_configuration
    assert (first.scheduler_algorithm, first.memory_oversubscription_enabled) == ("spread", True)
    assert first.preemption_config.service_scheduler_enabled


def test_what_files_do_not_say_is_as_a_server_would_have_it(load_config: LoadConfig) -> None:
    settings = server_settings(load_config(), keeps=False)
    usual = ServerSettings(name="x")
    assert settings.data_dir is None
    assert settings.enabled_schedulers == usual.enabled_schedulers
    assert (settings.gc_interval_s, settings.gc_thresholds) == (usual.gc_interval_s, usual.gc_thresholds)
    assert settings.first_scheduler_configuration == usual.first_scheduler_configuration
