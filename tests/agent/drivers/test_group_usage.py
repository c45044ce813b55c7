"""What is read from control groups, on trees laid out as the kernel lays out both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from yurt.agent.drivers.group_usage import Groups, group_memory, members, named_groups, with_throttling
from yurt.model.resource_usage import CpuStats

SCOPE = "nomad.slice/share.slice/a1.web.scope"


def laid_out(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def version_2(tmp_path: Path) -> Groups:
    laid_out(
        tmp_path / SCOPE,
        {
            "cgroup.procs": "12\n34\n",
            "memory.current": "5000\n",
            "memory.swap.current": "70\n",
            "memory.stat": "anon 1000\nfile 2000\nkernel 30\nfile_mapped 400\nslab 5\n",
            "cpu.stat": "usage_usec 9\nnr_periods 4\nnr_throttled 3\nthrottled_usec 250\n",
        },
    )
    found = named_groups(f"0::/{SCOPE}\n", str(tmp_path))
    assert found is not None
    return found


def test_version_2_is_one_folder_for_everything(version_2: Groups) -> None:
    memory = group_memory(version_2)
    cpu = with_throttling(CpuStats(user_mode=5.0), version_2)

    assert members(version_2) == [12, 34]
    assert (memory.rss, memory.cache, memory.swap, memory.mapped_file) == (1000, 2000, 70, 400)
    assert (memory.usage, memory.measured) == (5000, ("RSS", "Cache", "Swap", "Usage"))
    assert (cpu.throttled_periods, cpu.throttled_time, cpu.user_mode) == (3, 250_000, 5.0)
    assert cpu.measured is not None
    assert "Throttled Time" in cpu.measured


def test_version_1_has_a_tree_for_each_controller(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "memory/nomad/a1.web/memory.usage_in_bytes": "5000\n",
            "memory/nomad/a1.web/memory.max_usage_in_bytes": "6000\n",
            "memory/nomad/a1.web/memory.stat": "cache 2000\nrss 1000\nmapped_file 400\nswap 70\n",
            "cpu/nomad/a1.web/cpu.stat": "nr_periods 4\nnr_throttled 3\nthrottled_time 250000\n",
        },
    )
    text = "9:memory:/nomad/a1.web\n4:cpu,cpuacct:/nomad/a1.web\n0::/elsewhere\n"

    found = named_groups(text, str(tmp_path))

    assert found is not None
    memory = group_memory(found)
    assert (found.version, memory.rss, memory.cache, memory.usage, memory.max_usage) == (
        1,
        1000,
        2000,
        5000,
        6000,
    )
    assert with_throttling(CpuStats(), found).throttled_time == 250_000


def test_a_group_without_the_memory_controller_is_not_measured(tmp_path: Path) -> None:
    laid_out(tmp_path / SCOPE, {"cgroup.procs": ""})

    assert named_groups(f"0::/{SCOPE}\n", str(tmp_path)) is None
