"""The signals that tasks can be sent."""

from __future__ import annotations

from yurt.agent.fingerprint.facts import Facts, Probe

SIGNALS = (
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGNULL",
    "SIGPIPE",
    "SIGPROF",
    "SIGQUIT",
    "SIGSEGV",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGUSR1",
    "SIGUSR2",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
)


def fingerprint_signals(_probe: Probe) -> Facts:
    """List the signals, in one order, so that equal machines have equal classes."""
    return Facts(attributes={"os.signals": ",".join(SIGNALS)})
