"""How far the pull of an image is, in a line."""

from __future__ import annotations

from yurt.agent.drivers.docker.answers import Progress

_DONE = ("Pull complete", "Already exists")
_MIB = 1 << 20


class PullProgress:
    """Adds up what Docker tells of each layer."""

    def __init__(self) -> None:
        self._layers: dict[str, tuple[int, int]] = {}
        self._done: set[str] = set()

    def note(self, told: Progress) -> None:
        """Take in one line of Docker's."""
        if not told.id or told.status.startswith("Pulling from"):
            return
        self._layers.setdefault(told.id, (0, 0))
        if told.status in _DONE:
            self._done.add(told.id)
        elif told.status == "Downloading" and told.progress_detail and told.progress_detail.total:
            self._layers[told.id] = (told.progress_detail.current, told.progress_detail.total)

    def __str__(self) -> str:
        """Such as `Pulled 2/5 layers (12 MiB of 40 MiB)`; layers not begun are not in the sum."""
        come = sum(total if layer in self._done else now for layer, (now, total) in self._layers.items())
        total = sum(total for _, total in self._layers.values())
        layers = f"Pulled {len(self._done)}/{len(self._layers)} layers"
        return f"{layers} ({come // _MIB} MiB of {total // _MIB} MiB)"
