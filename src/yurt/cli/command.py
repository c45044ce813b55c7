"""What a command is, and what it gets when it runs."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Generic

import msgspec

from yurt.cli.console import Console, wants_colour
from yurt.cli.contexts import chosen_context
from yurt.cli.options import GeneralOptions, OptionsT
from yurt.sdk import Client, ClientSettings, TlsSettings
from yurt.sdk.settings import read_variable

PROGRAM = "yurt"


class Session:
    """One run of a command: its console, its environment and the clock."""

    def __init__(
        self,
        console: Console,
        *,
        environment: Mapping[str, str],
        settings: ClientSettings,
        now: Callable[[], int],
        sleep: Callable[[float], None],
    ) -> None:
        self.console = console
        self.environment = environment
        self.settings = settings
        self.now = now
        self.sleep = sleep
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The client that the flags and the environment describe."""
        if self._client is None:
            self._client = Client.of(self.settings)
        return self._client

    def quietly(self, console: Console) -> "Session":
        """The same session with another console, and without hints."""
        other = Session(
            console,
            environment={**self.environment, "YURT_CLI_SHOW_HINTS": "false"},
            settings=self.settings,
            now=self.now,
            sleep=self.sleep,
        )
        other._client = self.client
        return other

    def close(self) -> None:
        """Close the client's connection, if there is one."""
        if self._client is not None:
            self._client.close()

    @classmethod
    def of(cls, options: GeneralOptions) -> "Session":
        """Make the session of this process."""
        environment = os.environ
        is_terminal = sys.stdout.isatty()
        colours = wants_colour(
            environment,
            is_terminal=is_terminal,
            no_color=options.no_color,
            force_color=options.force_color,
        )
        console = Console(sys.stdout, sys.stderr, sys.stdin, colours=colours, is_terminal=is_terminal)
        return cls(
            console,
            environment=environment,
            settings=settings_of(options, environment),
            now=time.time_ns,
            sleep=time.sleep,
        )


def settings_of(options: GeneralOptions, environment: Mapping[str, str]) -> ClientSettings:
    """Combine flags, environment and context.

    A flag that is given wins. A context named by a flag comes next, before the environment; one that
    `YURT_CONTEXT` or the file chooses fills in what the environment leaves open.
    """
    base = ClientSettings.from_environment(environment)
    _, context = chosen_context(environment, options.context)
    is_named = options.context is not None

    def pick(flag: str | None, variable: str, saved: str) -> str:
        if flag is not None:
            return flag
        return (saved or variable) if is_named else (variable or saved)

    # The default address fills in last; a variable that is not set must not hide the context's.
    address = read_variable(environment, "ADDR")
    skip_verify = options.tls_skip_verify
    if skip_verify is None:
        skip_verify = base.tls.skip_verify or context.tls_skip_verify
    return ClientSettings(
        address=pick(options.address, address, context.address) or base.address,
        region=pick(options.region, base.region, context.region),
        namespace=pick(options.namespace, base.namespace, context.namespace),
        token=pick(options.token, base.token, context.token),
        basic_auth=base.basic_auth,
        tls=TlsSettings(
            ca_cert=pick(options.ca_cert, base.tls.ca_cert, context.ca_cert),
            ca_path=pick(options.ca_path, base.tls.ca_path, context.ca_path),
            client_cert=pick(options.client_cert, base.tls.client_cert, context.client_cert),
            client_key=pick(options.client_key, base.tls.client_key, context.client_key),
            server_name=pick(options.tls_server_name, base.tls.server_name, context.tls_server_name),
            skip_verify=skip_verify,
        ),
    )


class Command(msgspec.Struct, Generic[OptionsT], frozen=True, kw_only=True):
    """A command: its place, its help, its flags and its action.

    `path` is the command's canonical name and `usage` what follows it. `usage_exit_code` is for wrong flags
    and arguments. `help_path` is the name in the pointer to the help, where that differs from `path`.
    """

    path: str
    options: type[OptionsT]
    run: Callable[[Session, OptionsT, Sequence[str]], int]
    usage: str
    description: str
    aliases: tuple[str, ...] = ()
    usage_exit_code: int = 1
    help_path: str = ""
    is_offline: bool = False
