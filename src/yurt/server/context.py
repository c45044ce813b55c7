"""What every command and duty of the server works with."""

from __future__ import annotations

import uuid
from random import Random

from yurt.clock import Clock
from yurt.model.job_versions import JOB_VERSIONS_KEPT
from yurt.scheduler.ids import new_id
from yurt.server.committer import Committer
from yurt.server.keyring import Keyring
from yurt.server.variable_locks import VariableLocks
from yurt.server.wrapping_key import WrappingKey
from yurt.state.state import State


class ServerContext:
    """State to read, the door through which it changes, the time, keys and ids."""

    def __init__(
        self,
        committer: Committer,
        clock: Clock,
        rng: Random,
        *,
        region: str,
        job_versions_kept: int = JOB_VERSIONS_KEPT,
        wrapping: WrappingKey | None = None,
    ) -> None:
        """Without a wrapping key, root keys can be read for as long as this process lasts."""
        self.committer = committer
        self.clock = clock
        self.region = region
        self.job_versions_kept = job_versions_kept
        self.rng = rng
        # When locks of variables end; known to whoever leads.
        self.variable_locks = VariableLocks()
        self.keyring = Keyring(lambda: committer.state, wrapping or WrappingKey.made_up())

    @property
    def state(self) -> State:
        """The newest State."""
        return self.committer.state

    def new_id(self) -> str:
        """Make an id that nobody else has."""
        return new_id(self.rng)

    def new_secret(self) -> str:
        """Make an id that nobody can guess: it comes from the machine, not from a sequence of numbers."""
        return str(uuid.uuid4())
