"""Flags: declared as annotated fields of a Struct, read the way Go's flag package reads them.

`-flag` and `--flag` are the same; values follow after `=` or as the next argument; booleans take a value
only after `=`; the first argument that is not a flag ends the flags.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from yurt.cli.errors import FlagError
from yurt.model.durations import parse_duration

TRUE_WORDS = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE_WORDS = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class Flag(NamedTuple):
    """How a field is given on the command line, and what its help says.

    `value` names the value in the help; a flag without one is a boolean. `form` refines how the text is
    read: `duration` gives nanoseconds, `index` is an unsigned number with its own error text.
    """

    name: str
    help: str
    value: str = ""
    also: tuple[str, ...] = ()
    form: str = ""
    is_hidden: bool = False


WatchFlag: TypeAlias = Annotated[
    bool,
    Flag(
        "watch",
        "Show it again whenever it changes, until ctrl+c: in place on a terminal, one below the other when "
        "piped.",
    ),
]
"""A command whose options have the field `watch` is run again and again; it need not know."""


class GeneralOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The flags that every command takes."""

    address: Annotated[
        str | None,
        Flag(
            "address",
            "The address of the server. Overrides the YURT_ADDR environment variable if set. "
            "Default = http://127.0.0.1:4646",
            "<addr>",
        ),
    ] = None
    context: Annotated[
        str | None,
        Flag(
            "context",
            "The context, a saved cluster, to use: see 'yurt context -help'. Its settings win over "
            "environment variables, other flags win over it. YURT_CONTEXT may be set instead.",
            "<name>",
        ),
    ] = None
    region: Annotated[
        str | None,
        Flag(
            "region",
            "The region of the servers to forward commands to. Overrides the YURT_REGION environment "
            "variable if set. Defaults to the agent's region.",
            "<region>",
        ),
    ] = None
    namespace: Annotated[
        str | None,
        Flag(
            "namespace",
            "The target namespace for queries and actions bound to a namespace; '*' means all where it is "
            "supported. Overrides the YURT_NAMESPACE environment variable if set. Defaults to the "
            "'default' namespace.",
            "<namespace>",
        ),
    ] = None
    no_color: Annotated[
        bool, Flag("no-color", "Disables colored output. YURT_CLI_NO_COLOR may be set instead.")
    ] = False
    force_color: Annotated[
        bool,
        Flag(
            "force-color",
            "Forces colored output, also where the output is no terminal. YURT_CLI_FORCE_COLOR may be set "
            "instead. It has no effect together with -no-color.",
        ),
    ] = False
    ca_cert: Annotated[
        str | None,
        Flag(
            "ca-cert",
            "Path to a PEM encoded CA certificate file to verify the server's certificate. Overrides the "
            "YURT_CACERT environment variable if set.",
            "<path>",
        ),
    ] = None
    ca_path: Annotated[
        str | None,
        Flag(
            "ca-path",
            "Path to a directory of PEM encoded CA certificates. If both this and -ca-cert are given, "
            "-ca-cert is used. Overrides the YURT_CAPATH environment variable if set.",
            "<path>",
        ),
    ] = None
    client_cert: Annotated[
        str | None,
        Flag(
            "client-cert",
            "Path to a PEM encoded client certificate for TLS authentication to the server; -client-key "
            "must be given as well. Overrides the YURT_CLIENT_CERT environment variable if set.",
            "<path>",
        ),
    ] = None
    client_key: Annotated[
        str | None,
        Flag(
            "client-key",
            "Path to the unencrypted PEM encoded private key of -client-cert. Overrides the "
            "YURT_CLIENT_KEY environment variable if set.",
            "<path>",
        ),
    ] = None
    tls_server_name: Annotated[
        str | None,
        Flag(
            "tls-server-name",
            "The server name to expect in the certificate. Overrides the YURT_TLS_SERVER_NAME environment "
            "variable if set.",
            "<value>",
        ),
    ] = None
    tls_skip_verify: Annotated[
        bool | None,
        Flag(
            "tls-skip-verify",
            "Do not verify the server's certificate. This is not recommended. "
            "YURT_SKIP_VERIFY may be set instead.",
            also=("insecure",),
        ),
    ] = None
    token: Annotated[
        str | None,
        Flag(
            "token",
            "The secret ID of the token to use. Overrides the YURT_TOKEN environment variable if set.",
            "<token>",
        ),
    ] = None


class FormatOptions(GeneralOptions, frozen=True, kw_only=True):
    """General flags of commands that can also print JSON or run a template over it."""

    json: Annotated[bool, Flag("json", "Output in JSON format.")] = False
    template: Annotated[
        str | None, Flag("t", "Format and display the result using a Go template.", "<template>")
    ] = None


OptionsT = TypeVar("OptionsT", bound=GeneralOptions)
FlagsT = TypeVar("FlagsT", bound=msgspec.Struct)


class Declared(NamedTuple):
    """A flag together with the field it sets."""

    field: str
    flag: Flag
    kind: str  # "bool", "text", "integer" or "list"


def declared_flags(options: type[msgspec.Struct]) -> list[Declared]:
    """List the flags of an options class in the order they are declared, general ones first."""
    hints = get_type_hints(options, include_extras=True)
    flags = []
    for field in options.__struct_fields__:
        base, flag = get_args(hints[field])
        assert isinstance(flag, Flag), f"{options.__name__}.{field} has no Flag"
        flags.append(Declared(field, flag, _kind(base)))
    return flags


def _kind(base: Any) -> str:  # noqa: ANN401 # a type expression: a class, a union or a generic alias
    if get_origin(base) is tuple:
        return "list"
    candidates = [part for part in get_args(base) if part is not type(None)] or [base]
    return {bool: "bool", str: "text", int: "integer"}[candidates[0]]


def parse_flags(options: type[FlagsT], arguments: Sequence[str]) -> tuple[FlagsT | None, list[str]]:
    """Split arguments into flags and the rest. Gives None for the options when help is asked for.

    Raises `FlagError` for an unknown flag or a bad value.
    """
    by_name: dict[str, Declared] = {}
    for declared in declared_flags(options):
        for name in (declared.flag.name, *declared.flag.also):
            by_name[name] = declared
    values: dict[str, Any] = {}
    rest = list(arguments)
    while rest and len(rest[0]) > 1 and rest[0].startswith("-"):
        argument = rest.pop(0)
        if argument == "--":
            break
        name, equals, text = argument.removeprefix("-").removeprefix("-").partition("=")
        if not name or name.startswith("-"):
            raise FlagError(f"bad flag syntax: {argument}")
        found = by_name.get(name)
        if found is None:
            if name in {"h", "help"}:
                return None, rest
            raise FlagError(f"flag provided but not defined: -{name}")
        if found.kind == "bool":
            values[found.field] = _boolean(name, text) if equals else True
            continue
        if not equals:
            if not rest:
                raise FlagError(f"flag needs an argument: -{name}")
            text = rest.pop(0)
        if found.kind == "list":
            values[found.field] = (*values.get(found.field, ()), text)
        else:
            values[found.field] = _value(found, name, text)
    return options(**values), rest


def _boolean(name: str, text: str) -> bool:
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    raise FlagError(f'invalid boolean value "{text}" for -{name}: parse error')


def _value(declared: Declared, name: str, text: str) -> str | int:
    if declared.kind == "text":
        return text
    if declared.flag.form == "duration":
        try:
            return parse_duration(text)
        except ValueError as error:
            raise FlagError(f'invalid value "{text}" for flag -{name}: parse error') from error
    if declared.flag.form == "index":
        return _index(name, text)
    try:
        return int(text, 0)
    except ValueError as error:
        raise FlagError(f'invalid value "{text}" for flag -{name}: parse error') from error


def _index(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise FlagError(
            f'Error parsing {name} value "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)


def is_true(environment: Mapping[str, str], name: str) -> bool | None:
    """Read a boolean from `YURT_<name>` or `NOMAD_<name>`; None when neither holds one."""
    text = environment.get(f"YURT_{name}") or environment.get(f"NOMAD_{name}") or ""
    if text in TRUE_WORDS:
        return True
    return False if text in FALSE_WORDS else None
