"""Addresses of this machine, as the template function `sockaddr` finds them."""

from __future__ import annotations

from yurt.agent.templates.language import FunctionFailed
from yurt.sockaddr.interfaces import read_interfaces
from yurt.sockaddr.templates import BadTemplate, evaluate


def address_of(expression: str) -> str:
    """Evaluate an expression such as `GetPrivateIP`; empty when it finds nothing. Raises FunctionFailed."""
    interfaces = read_interfaces()
    if expression.lstrip().startswith("GetInterfaceIP"):
        interfaces = tuple(found for found in interfaces if not found.address.is_loopback)
    try:
        return evaluate(expression, interfaces)
    except BadTemplate as error:
        raise FunctionFailed(f"sockaddr: {error}") from error
