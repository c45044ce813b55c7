"""What holds for all tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

# The same examples on every run: a red test is red for everybody. HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="session", autouse=True)
def _no_mounts_left_behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Unmount what killed agents left mounted below the tests' directory, so that it can be removed."""
    yield
    base = f"{tmp_path_factory.getbasetemp()}/"
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mounted in reversed([path for path in mounts if path.startswith(base)]):
        subprocess.run(["umount", "-l", mounted], check=True)


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Forget where a test sent its events: the place may be gone when the next one has some."""
    yield
    structlog.reset_defaults()
