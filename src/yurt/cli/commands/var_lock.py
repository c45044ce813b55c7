"""`yurt var lock`: run a command while holding a variable's lock."""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.commands.var_put import build_variable
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.variable_view import refuse_wildcard
from yurt.model.durations import duration_text
from yurt.model.times import SECOND_NS
from yurt.sdk import Client, SdkError, variables
from yurt.sdk.variables import Conflict

DEFAULT_TTL_NS = 15 * SECOND_NS
# Half of the time to live leaves room for one lost renewal.
RENEWALS_PER_TTL = 2
KILL_GRACE_S = 5.0
FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `var lock`."""

    ttl: Annotated[
        int,
        Flag("ttl", "How long the lock lasts without renewal. Default = 15s", "<duration>", form="duration"),
    ] = DEFAULT_TTL_NS
    delay: Annotated[
        int,
        Flag("delay", "How long a lost lock stays blocked. Default = 15s", "<duration>", form="duration"),
    ] = DEFAULT_TTL_NS
    max_retry: Annotated[
        int, Flag("max-retry", "How many failed renewals to put up with. Default = 5", "<n>")
    ] = 5
    early_return: Annotated[bool, Flag("early-return", "Do not wait for a lock that is held.")] = False
    backoff: Annotated[
        int | None,
        Flag("backoff", "How long to wait between tries for the lock.", "<duration>", form="duration"),
    ] = None
    shell: Annotated[bool, Flag("shell", "Run the command through the shell. Default = true")] = True
    verbose: Annotated[bool, Flag("verbose", "Say what happens to the lock.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Take the lock, run the command, give the lock back."""
    if len(arguments) < 2:
        raise UsageError("Not enough arguments (expected >2, got " + f"{len(arguments)})")
    refuse_wildcard(session)
    path, command = arguments[0], list(arguments[1:])
    variable: dict[str, Any] = {"Path": path}
    if path.startswith("@") or command[0].startswith("@"):
        spec = [path] if path.startswith("@") else [path, command.pop(0)]
        variable = build_variable(session, "json", spec)
    variable["Lock"] = {"TTL": duration_text(options.ttl), "LockDelay": duration_text(options.delay)}
    lock_id = _acquire(session, variable, options)
    lease = _Lease(session, variable["Path"], lock_id, options)
    try:
        code = lease.run_child(command)
    finally:
        lease.release()
    if lease.is_lost:
        raise CommandError("Lock lost: the command was stopped")
    if code:
        raise CommandError(f"Error running the command while holding the lock: exit status {code}")
    return 0


def _acquire(session: Session, variable: dict[str, Any], options: Options) -> str:
    pause_s = (options.ttl if options.backoff is None else options.backoff) / SECOND_NS
    while True:
        try:
            with failing_as("Error acquiring the lock"):
                held = variables.acquire_lock(session.client, variable["Path"], variable).value.lock
        except CommandError as error:
            if not isinstance(error.__cause__, Conflict):
                raise
            if options.early_return:
                raise CommandError("The lock is held by somebody else") from error
            session.sleep(pause_s)
            continue
        if held is None:
            raise CommandError("Error acquiring the lock: the server gave none")
        if options.verbose:
            session.console.output(f'Lock "{held.id}" acquired')
        return held.id


class _Lease:
    """Keeps a lock while a command runs."""

    def __init__(self, session: Session, path: str, lock_id: str, options: Options) -> None:
        self._client = session.client
        self._renewer = Client.of(session.settings)
        self._path = path
        self._lock_id = lock_id
        self._options = options
        self._ended = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self.is_lost = False

    def run_child(self, command: list[str]) -> int:
        """Run the command with our streams, forwarding signals, and give its exit status."""
        words = (
            [os.environ.get("SHELL", "/bin/sh"), "-c", " ".join(command)] if self._options.shell else command
        )
        try:
            self._child = subprocess.Popen(words)  # noqa: S603 # running it is what was asked for
        except OSError as error:
            raise CommandError(f"Error starting {words[0]!r}: {error.strerror}") from error
        before = {number: signal.signal(number, self._forward) for number in FORWARDED_SIGNALS}
        keeper = threading.Thread(target=self._keep, name="lock-renewal", daemon=True)
        keeper.start()
        try:
            return self._child.wait()
        finally:
            self._ended.set()
            keeper.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def release(self) -> None:
        """Give the lock back, unless it is lost already."""
        self._renewer.close()
        if not self.is_lost:
            with failing_as("Error releasing the lock"):
                variables.release_lock(self._client, self._path, self._lock_id)

    def _forward(self, number: int, _frame: object) -> None:
        if self._child is not None:
            self._child.send_signal(number)

    def _keep(self) -> None:
        failures = 0
        pause_s = self._options.ttl / SECOND_NS / RENEWALS_PER_TTL
        while not self._ended.wait(pause_s):
            try:
                variables.renew_lock(self._renewer, self._path, self._lock_id)
                failures = 0
            except SdkError:
                failures += 1
            if failures > self._options.max_retry:
                self.is_lost = True
                self._stop_child()
                return

    def _stop_child(self) -> None:
        assert self._child is not None
        self._child.terminate()
        if not self._ended.wait(KILL_GRACE_S):
            self._child.kill()


COMMAND = Command(
    path="var lock",
    options=Options,
    run=run,
    usage="[options] <path|@spec> [@spec] <command> [args...]",
    description="""
        Acquires a lock on the variable, runs the command, and releases the lock when the command ends.
        The variable is made if there is none. The command is stopped when the lock is lost.

        If ACLs are enabled, this command requires a token with the 'variables:write' capability for the
        variable's namespace and path.
    """,
)
