"""`yurt alloc port-forward`: a local port that leads to a port of an allocation."""

import ipaddress
import re
import selectors
import socket
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated, NamedTuple

from yurt.cli.alloc_choice import choose_alloc
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import Client, SdkError
from yurt.sdk.tunnel import carry
from yurt.sdk.types.allocs import Alloc

CONNECTIONS_MAX = 100
CONNECTIONS_WAITING_MAX = 16
PORT_MAX = 65_535
_FORWARD = re.compile(r"(?:(?P<local>\d*):)?(?P<remote>[A-Za-z0-9_-]+)")


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `alloc port-forward`."""

    bind: Annotated[str, Flag("bind", "The local IP address to listen on. Default = 127.0.0.1", "<ip>")] = (
        "127.0.0.1"
    )
    by_job: Annotated[
        bool, Flag("job", "Use a random allocation from the specified job, preferring a running one.")
    ] = False
    group: Annotated[str, Flag("group", "With -job, the group to choose from.", "<group-name>")] = ""


class Forward(NamedTuple):
    """A pair of ports: 0 leaves the choice of the local one to the system."""

    local: int
    remote: str


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Listen, and forward until interrupted."""
    if len(arguments) < 2:
        raise UsageError("This command takes at least two arguments: <allocation> [<local>:]<port>")
    forwards = [read_forward(text) for text in arguments[1:]]
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(options.bind).version == 6 else socket.AF_INET
    except ValueError as error:
        raise CommandError(f"-bind takes an IP address: {error}") from error
    alloc = choose_alloc(session, arguments[0], by_job=options.by_job, group=options.group)
    if alloc.client_status != "running":
        raise CommandError(f'Allocation "{alloc.id[:8]}" is not running: it is {alloc.client_status}')
    for forward in forwards:
        _check_port(alloc, forward.remote)
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for forward in forwards:
            listener = stack.enter_context(_listen(family, options.bind, forward.local))
            selector.register(listener, selectors.EVENT_READ, forward)
            address, port = listener.getsockname()[:2]
            shown = f"[{address}]" if family == socket.AF_INET6 else address
            session.console.output(f'Forwarding {shown}:{port} to "{forward.remote}" of {alloc.name}')
        session.console.output("Press ctrl+c to stop")
        try:
            _serve(session, alloc, selector)
        except KeyboardInterrupt:
            return 0
    return 0


def read_forward(text: str) -> Forward:
    """Read `label`, `8080`, `9000:label` or `:8080`. A number alone is used on both sides."""
    match = _FORWARD.fullmatch(text)
    if match is None:
        raise CommandError(f'"{text}" is no pair of ports; write [<local port>:]<port or label>')
    local, remote = match["local"], match["remote"]
    if local is None:
        local = remote if remote.isdigit() else ""
    for number in (local, remote):
        if number.isdigit() and not 0 <= int(number) <= PORT_MAX:
            raise CommandError(f'"{text}": {number} is no port; ports go up to {PORT_MAX}')
    return Forward(int(local or 0), remote)


def _check_port(alloc: Alloc, name: str) -> None:
    """Refuse what the node would refuse, before anybody connects."""
    ports = alloc.allocated_resources.shared.ports
    has_own_network = alloc.network_status is not None and bool(alloc.network_status.address)
    names = {text for port in ports for text in (port.label, str(port.value), str(port.to or port.value))}
    if name not in names and not (has_own_network and name.isdigit()):
        listed = ", ".join(f"{port.label} ({port.to or port.value})" for port in ports)
        raise CommandError(
            f'"{name}" is no port of allocation "{alloc.id[:8]}": '
            + (f"it has {listed}" if listed else "it has none; give its group a network block with a port")
        )


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(CONNECTIONS_WAITING_MAX)
    except OSError as error:
        listener.close()
        raise CommandError(
            f"Cannot listen on {address}:{port}: {(error.strerror or str(error)).lower()}; "
            "choose another local port, as in 9000:<port>"
        ) from error
    return listener


def _serve(session: Session, alloc: Alloc, selector: selectors.BaseSelector) -> None:
    slots = threading.BoundedSemaphore(CONNECTIONS_MAX)
    lock = threading.Lock()

    def attend(local: socket.socket, remote: str) -> None:
        client = Client.of(session.settings)
        try:
            carry(client, alloc.id, remote, local)
        except SdkError as error:
            with lock:
                session.console.error(f"Error forwarding to {remote}: {error}")
        finally:
            client.close()
            slots.release()

    while True:
        for key, _ in selector.select():
            listener = key.fileobj
            assert isinstance(listener, socket.socket)
            local, _ = listener.accept()
            slots.acquire()
            thread = threading.Thread(target=attend, args=(local, key.data.remote), daemon=True)
            thread.start()


COMMAND = Command(
    path="alloc port-forward",
    options=Options,
    run=run,
    usage="[options] <allocation> [<local port>:]<port>...",
    description="""
        Listens on local ports and leads what connects there to ports of an allocation, through the agent's
        API: neither the node nor the port need to be reachable from here. A port is named by its label, or
        by its number on the host or inside the allocation. For an allocation with a network of its own
        (bridge mode) it may be any number.

          $ yurt alloc port-forward -job web http         a free local port to the port "http"
          $ yurt alloc port-forward 8f3a 9000:http        local port 9000
          $ yurt alloc port-forward 8f3a 8080             local port 8080 to port 8080

        When ACLs are enabled, this command requires a token with the 'alloc-exec' and 'read-job'
        capabilities for the allocation's namespace.
    """,
)
