"""What attacks and defences are tried with."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

PATIENCE_S = 30.0
LOOK_AGAIN_S = 0.02


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Waits for something that happens in another process; fails if it never does."""

    def wait(happened: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not happened():
            assert time.monotonic() < end, "it never happened"
            time.sleep(LOOK_AGAIN_S)

    return wait
