import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, ConfigError, load
from yurt.sockaddr.interfaces import InterfaceAddress

INTERFACES = tuple(
    InterfaceAddress(
        interface=interface,
        address=ipaddress.ip_address(address),
        prefix_length=length,
        is_default=interface == "eth0",
    )
    for interface, address, length in (
        ("lo", "127.0.0.1", 8),
        ("lo", "::1", 128),
        ("docker0", "172.17.0.1", 16),
        ("eth0", "fe80::1", 64),
        ("eth0", "10.1.2.3", 24),
        ("eth1", "192.168.7.7", 16),
        ("eth2", "8.8.4.4", 24),
    )
)
"""A machine with a private default interface, two more private networks and a public address."""

WriteConfig = Callable[..., str]
LoadConfig = Callable[..., AgentConfig]
ConfigProblems = Callable[..., list[str]]


@pytest.fixture
def interfaces() -> tuple[InterfaceAddress, ...]:
    return INTERFACES


@pytest.fixture
def write_config(tmp_path: Path) -> WriteConfig:
    """Writes a configuration file and gives its path."""

    def write(text: str, name: str = "agent.hcl") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def load_config(write_config: WriteConfig) -> LoadConfig:
    """Loads texts as files, each later than the one before, on a machine with INTERFACES."""

    def load_texts(*texts: str, flags: AgentFlags | None = None) -> AgentConfig:
        paths = tuple(write_config(text, f"{number}.conf") for number, text in enumerate(texts))
        flags = flags or AgentFlags(dev=True)
        fields = {name: getattr(flags, name) for name in AgentFlags.__struct_fields__ if name != "config"}
        return load(AgentFlags(config=paths, **fields), environment={}, interfaces=lambda: INTERFACES)

    return load_texts


@pytest.fixture
def config_problems(load_config: LoadConfig, tmp_path: Path) -> ConfigProblems:
    """Loads texts that are wrong and gives the problems, with file names without their directory."""

    def problems(*texts: str, flags: AgentFlags | None = None) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            load_config(*texts, flags=flags)
        return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]

    return problems
