"""Which capabilities a task gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from yurt.agent.drivers import DriverError
from yurt.agent.drivers.linux_capabilities import DEFAULTS, host_capabilities, task_capabilities

SUPPORTED = DEFAULTS | {"net_admin", "sys_time"}


@pytest.mark.parametrize(
    ("allowed", "add", "drop", "expected"),
    [
        pytest.param(DEFAULTS, [], [], DEFAULTS, id="the defaults"),
        pytest.param(DEFAULTS, [], ["CAP_KILL", "Mknod"], DEFAULTS - {"kill", "mknod"}, id="less some"),
        pytest.param(DEFAULTS, ["chown"], ["all"], {"chown"}, id="one only"),
        pytest.param(["all"], ["NET_ADMIN"], [], DEFAULTS | {"net_admin"}, id="all are allowed"),
        pytest.param(["all"], ["all"], [], SUPPORTED, id="all are wanted"),
        pytest.param(["chown"], [], [], {"chown"}, id="the operator allows fewer"),
    ],
)
def test_lists_add_up(allowed: list[str], add: list[str], drop: list[str], expected: frozenset[str]) -> None:
    assert task_capabilities(allowed=allowed, add=add, drop=drop, supported=SUPPORTED) == expected


def test_what_is_not_allowed_is_refused_by_name() -> None:
    with pytest.raises(DriverError, match="does not allow the following capabilities: net_admin, nonsense"):
        task_capabilities(
            allowed=DEFAULTS, add=["net_admin", "nonsense", "kill"], drop=[], supported=SUPPORTED
        )


def test_the_hosts_are_read_from_the_kernels_mask(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tx\nCapBnd:\t0000000000000021\n")

    assert host_capabilities(tmp_path / "status") == {"chown", "kill"}
