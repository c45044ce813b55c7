"""The exec driver: commands in namespaces, control groups and a root of their own."""

from yurt.agent.drivers.exec.driver import NAME, ExecDriver, make, missing
from yurt.agent.drivers.exec.isolation import IsolatedCommand, IsolatedTask, Isolation, make_isolation
from yurt.agent.drivers.exec.options import IsolationOptions

__all__ = [
    "NAME",
    "ExecDriver",
    "IsolatedCommand",
    "IsolatedTask",
    "Isolation",
    "IsolationOptions",
    "make",
    "make_isolation",
    "missing",
]
