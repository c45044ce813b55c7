"""An agent that cannot start says in one line why, and what to do."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.real_agent import RealAgent, clean_up

YURT = Path(sys.executable).parent / "yurt"


def _start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(YURT), "agent", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def _only_error(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, f"one clear line, not {result.stderr!r}"
    return lines[0]


@pytest.fixture
def agent(tmp_path: Path) -> RealAgent:
    return RealAgent(tmp_path, client=False)


def test_port_in_use(agent: RealAgent, tmp_path: Path) -> None:
    agent.start()
    try:
        other = tmp_path / "other.hcl"
        text = agent.config.read_text().replace(f"{tmp_path}/data", f"{tmp_path}/other-data")
        other.write_text(text)
        error = _only_error(_start("-config", str(other)))
        assert f"127.0.0.1:{agent.http_port}" in error
        assert "ports.http" in error
    finally:
        agent.stop()


def test_two_agents_on_one_data_dir(agent: RealAgent, tmp_path: Path) -> None:
    agent.start()
    try:
        second = RealAgent(tmp_path, client=False)
        error = _only_error(_start("-config", str(second.config)))
        assert str(agent.pid) in error
        assert "data" in error
    finally:
        agent.stop()


def test_data_dir_cannot_be_written(agent: RealAgent, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a directory should be")
    error = _only_error(_start("-config", str(agent.config)))
    assert str(tmp_path / "data") in error


def test_data_dir_of_a_newer_format(agent: RealAgent, tmp_path: Path) -> None:
    agent.start()
    agent.stop()
    (database,) = (tmp_path / "data").rglob("entries.db")
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    error = _only_error(_start("-config", str(agent.config)))
    assert "99" in error


def test_unknown_key_is_named(tmp_path: Path) -> None:
    config = tmp_path / "agent.hcl"
    config.write_text('server {\n  enabled = true\n  bootstrap_expct = 1\n}\ndata_dir = "/nowhere"\n')
    result = _start("-config", str(config))
    assert result.returncode == 1
    assert "bootstrap_expct" in result.stderr
    assert "agent.hcl:3" in result.stderr


def test_signals_stop_it_cleanly(agent: RealAgent, tmp_path: Path) -> None:
    agent.start()
    assert agent.stop() == 0
    clean_up(tmp_path)
