"""Following the drain of a node until its work has gone."""

from yurt.cli.command import Session
from yurt.cli.errors import failing_as
from yurt.cli.times import absolute
from yurt.sdk import nodes
from yurt.sdk.types.allocs import Alloc

WAIT_S = 1.0
TERMINAL = frozenset({"complete", "failed", "lost"})


def follow_drain(session: Session, node_id: str, *, ignore_system: bool) -> int:
    """Show what happens to a draining node and its allocations, until all of them have stopped."""
    monitor = _DrainMonitor(session, node_id, ignore_system=ignore_system)
    while not monitor.look():
        pass
    return 0


class _DrainMonitor:
    """Prints the changes between one look at a node and the next."""

    def __init__(self, session: Session, node_id: str, *, ignore_system: bool) -> None:
        self._session = session
        self._node_id = node_id
        self._ignore_system = ignore_system
        self._seen: dict[str, Alloc] = {}
        self._index = 0
        self._is_draining = True
        self._is_down = False
        self._is_first_look = True

    def look(self) -> bool:
        """Show what changed; True once the drain is over and everything has stopped."""
        client = self._session.client
        with failing_as("Error monitoring drain"):
            node = nodes.read(client, self._node_id).value
            answer = nodes.allocations_past(client, self._node_id, index=self._index, wait_s=WAIT_S)
        self._index = answer.index
        if node.status == "down" and not self._is_down:
            self._is_down = True
            self._say(f"Node {self._node_id} is down")
        if node.drain_strategy is None and self._is_draining:
            self._is_draining = False
            self._say(f"Drain complete for node {self._node_id}")
        for alloc in answer.value:
            self._show(alloc)
        self._is_first_look = False
        is_over = not self._is_draining and all(
            alloc.client_status in TERMINAL for alloc in answer.value if not self._is_ignored(alloc)
        )
        if is_over:
            self._say(f'All allocations on node "{self._node_id}" have stopped')
        return is_over

    def _is_ignored(self, alloc: Alloc) -> bool:
        return self._ignore_system and alloc.job.type in {"system", "sysbatch"}

    def _show(self, alloc: Alloc) -> None:
        before = self._seen.get(alloc.id)
        self._seen[alloc.id] = alloc
        if before is None and (not self._is_first_look or alloc.client_status in TERMINAL):
            return
        was_migrating = before is not None and before.desired_transition.migrate is True
        if alloc.desired_transition.migrate and not was_migrating:
            self._say(f'Alloc "{alloc.id}" marked for migration')
        was_running = before is None or before.desired_status == "run"
        if alloc.desired_status == "stop" and was_running and alloc.client_status not in TERMINAL:
            self._say(f'Alloc "{alloc.id}" draining')
        if before is not None and before.client_status != alloc.client_status:
            self._say(f'Alloc "{alloc.id}" status {before.client_status} -> {alloc.client_status}')

    def _say(self, text: str) -> None:
        self._session.console.output(f"{absolute(self._session.now())}: {text}")
