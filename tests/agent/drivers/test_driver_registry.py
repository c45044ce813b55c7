"""Which drivers an agent has."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.drivers.manual_clock import ManualClock
from yurt.agent.drivers import BadPluginConfig, Driver, DriverContext, load_drivers
from yurt.agent.drivers.mock import MockDriver, MockOptions
from yurt.agent.launcher import LauncherClient

SWITCHED = {"raw_exec", "mock_driver"}
"""The drivers that are off until somebody wants them; the others depend on the machine."""
BUILT_INS = SWITCHED | {"docker", "exec", "java", "qemu"}


@pytest.fixture
def context(launcher: LauncherClient) -> DriverContext:
    return DriverContext(launcher=launcher, clock=ManualClock())


def outside_driver(context: DriverContext) -> Driver:
    """What a package of somebody else's would offer."""
    return MockDriver(context.clock, MockOptions())


def offer(monkeypatch: pytest.MonkeyPatch, **offered: str) -> None:
    entry_points = [
        importlib.metadata.EntryPoint(name, value, "yurt.drivers") for name, value in offered.items()
    ]

    def listed(*, group: str) -> list[importlib.metadata.EntryPoint]:
        return [entry_point for entry_point in entry_points if entry_point.group == group]

    monkeypatch.setattr(importlib.metadata, "entry_points", listed)


async def switched_on(drivers: dict[str, Driver]) -> set[str]:
    return {name for name in SWITCHED & set(drivers) if (await drivers[name].fingerprint()).detected}


async def test_built_in_drivers_wait_to_be_switched_on(context: DriverContext) -> None:
    drivers = load_drivers(context, {})

    assert set(drivers) == BUILT_INS
    assert {name: driver.name for name, driver in drivers.items()} == {name: name for name in drivers}
    assert await switched_on(drivers) == set()


@pytest.mark.parametrize(
    ("changes", "plugins", "expected"),
    [
        pytest.param({"dev": True}, {}, {"raw_exec", "mock_driver"}, id="dev mode"),
        pytest.param({}, {"raw_exec": {"enabled": True}}, {"raw_exec"}, id="plugin block"),
        pytest.param({"options": {"driver.raw_exec.enable": "1"}}, {}, {"raw_exec"}, id="old option"),
        pytest.param({}, {"mock_driver": {}}, {"mock_driver"}, id="an empty block for the mock"),
    ],
)
async def test_built_in_drivers_are_switched_on(
    context: DriverContext, changes: dict[str, Any], plugins: dict[str, Any], expected: set[str]
) -> None:
    drivers = load_drivers(msgspec.structs.replace(context, **changes), plugins)

    assert await switched_on(drivers) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"driver.allowlist": "raw_exec, nosuch"}, {"raw_exec"}),
        ({"driver.denylist": "raw_exec"}, BUILT_INS - {"raw_exec"}),
        ({"driver.whitelist": "mock_driver"}, {"mock_driver"}),
        ({"driver.allowlist": ""}, BUILT_INS),
    ],
)
def test_lists_limit_the_drivers(context: DriverContext, options: dict[str, str], expected: set[str]) -> None:
    assert set(load_drivers(msgspec.structs.replace(context, options=options), {})) == expected


def test_an_installed_package_adds_its_driver(
    context: DriverContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, firecracker=f"{__name__}:outside_driver")

    assert "firecracker" in load_drivers(context, {})


def test_a_broken_package_does_not_keep_the_others_from_running(
    context: DriverContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, broken="no.such.module:driver", raw_exec=f"{__name__}:outside_driver")

    drivers = load_drivers(context, {})

    assert set(drivers) == BUILT_INS
    assert drivers["raw_exec"].name == "raw_exec", "a built-in name cannot be taken"


@pytest.mark.parametrize(
    ("plugins", "said"),
    [
        ({"raw_exec": {"nosuch": 1}}, 'plugin "raw_exec": config: Invalid label'),
        ({"raw_exec": {"denied_host_uids": "1-x"}}, "'1-x' is neither an id nor a range"),
        ({"raw_exec": {"denied_host_gids": "5-3"}}, "ends before it begins"),
        ({"exec": {"default_pid_mode": "shared"}}, 'default_pid_mode must be "private" or "host"'),
        ({"exec": {"denied_host_uids": "x"}}, "'x' is neither an id nor a range"),
        ({"mock_driver": {"fs_isolation": "jail"}}, "fs_isolation must be one of none, chroot, image"),
        ({"mock_driver": {"shutdown_periodic_after": "x"}}, "number required"),
    ],
)
def test_settings_that_cannot_be_used_stop_the_agent(
    context: DriverContext, plugins: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadPluginConfig, match=said):
        load_drivers(context, plugins)


def test_the_launcher_is_not_started_for_nothing(context: DriverContext, tmp_path: Path) -> None:
    load_drivers(msgspec.structs.replace(context, dev=True), {})

    assert not (tmp_path / "launcher" / "launcher").exists()
