"""An agent's configuration: flags and files in, one checked `AgentConfig` out."""

from yurt.config.blocks.agent import AgentConfig
from yurt.config.load import check, load
from yurt.config.problems import ConfigError, Notice, Problem
from yurt.config.reload import reloadable_changes, reloaded

__all__ = [
    "AgentConfig",
    "ConfigError",
    "Notice",
    "Problem",
    "check",
    "load",
    "reloadable_changes",
    "reloaded",
]
