"""The entry point: find the command, run it, turn failures into texts and exit codes."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from yurt.cli.errors import CommandError, FlagError, UsageError
from yurt.cli.registry import COMMON, GROUPS, SECTIONS, find, members

if TYPE_CHECKING:
    from yurt.cli.command import Command, Session

EXIT_NO_SUCH_COMMAND = 127
# The codes a shell shows for a process ended by the signal.
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
EXIT_INTERNAL = 70
HTTP_FORBIDDEN = 403
# How the help of commands starts to tell the rights they need.
NEEDS = "this command requires"
VERSION_FLAGS = frozenset({"-v", "-version", "--version"})
HELP_FLAGS = frozenset({"-h", "-help", "--help"})
COMPLETION_FLAGS = frozenset({"autocomplete-install", "autocomplete-uninstall"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; nothing escapes but `SystemExit`."""
    try:
        code = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever reads us has left. Keep the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 # a bug must not reach people as a traceback
        return EXIT_INTERRUPTED if _is_interruption(error) else _report_bug(error)
    return code


def _is_interruption(error: BaseException | None) -> bool:
    """Whether an error came of Ctrl-C, which may find a library where it makes something else of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _dispatch(words: list[str]) -> int:
    if words and words[0].startswith("-") and words[0].lstrip("-") in COMPLETION_FLAGS:
        return _change_completion(words[0].lstrip("-"))
    if words and words[0] in VERSION_FLAGS:
        words = ["version", *words[1:]]
    leading = (
        [word for word in words if not word.startswith("-")]
        if words[:1] and words[0] in HELP_FLAGS
        else words
    )
    entry, group, count = find(leading)
    if entry is not None:
        module = import_module(f"yurt.cli.commands.{entry.module}")
        arguments = leading[count:] if leading is words else ["-help"]
        if entry.instead:
            sys.stderr.write(
                f'WARNING! The "yurt {entry.path}" command is deprecated. '
                f'Please use "yurt {entry.instead}" instead.\n'
            )
        return int(module.main(arguments)) if entry.is_plain else _run(module.COMMAND, arguments)
    asks_for_help = any(word in HELP_FLAGS for word in words)
    if group:
        sys.stdout.write(_group_help(group) + _suggestion(group, leading))
        return 0 if asks_for_help else 1
    sys.stdout.write(_overall_help() + _suggestion("", leading))
    return 0 if asks_for_help and not leading else EXIT_NO_SUCH_COMMAND


def _change_completion(flag: str) -> int:
    from pathlib import Path  # noqa: PLC0415 # rarely needed

    from yurt.cli.shell_start_files import install_completion, uninstall_completion  # noqa: PLC0415

    change = install_completion if flag == "autocomplete-install" else uninstall_completion
    try:
        change(Path.home())
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _suggestion(group: str, words: Sequence[str]) -> str:
    """A line for a name that is none: what was typed, and the name that is most like it."""
    wrong = next((word for word in words[len(group.split()) :] if not word.startswith("-")), "")
    if not wrong:
        return ""
    from difflib import get_close_matches  # noqa: PLC0415 # only after a mistake

    names = [name for name, _ in members(group)]
    near = get_close_matches(wrong, names, n=1)
    path = f"{group} " if group else ""
    return f"\nThere is no command 'yurt {path}{wrong}'" + (
        f"; did you mean '{near[0]}'?\n" if near else ".\n"
    )


def _run(command: "Command[Any]", arguments: list[str]) -> int:
    # Imported here because `version` must not pay for it.
    from yurt.cli.command import PROGRAM, Session  # noqa: PLC0415
    from yurt.cli.options import parse_flags  # noqa: PLC0415

    try:
        options, rest = parse_flags(command.options, arguments)
    except FlagError as error:
        sys.stderr.write(f"{error}\n")
        sys.stdout.write(_help_of(command))
        return command.usage_exit_code
    if options is None:
        sys.stdout.write(_help_of(command))
        return 0
    try:
        session = Session.of(options)
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    try:
        if getattr(options, "watch", False):
            from yurt.cli.watching import watch  # noqa: PLC0415 # rarely needed

            title = " ".join([PROGRAM, command.path, *rest])
            return watch(session, title, lambda shown: command.run(shown, options, rest))
        return command.run(session, options, rest)
    except UsageError as error:
        session.console.error(str(error))
        session.console.error(
            f"For additional help try '{PROGRAM} {command.help_path or command.path} -help'"
        )
        late = next((word for word in rest if word.startswith("-") and word != "-"), "")
        # Scripts know the two lines above, so this is for people only.
        if late and session.console.is_terminal:
            session.console.error(f"Flags come before arguments: write '{PROGRAM} {command.path} {late} ...'")
        return command.usage_exit_code
    except FlagError as error:
        session.console.error(str(error))
        sys.stdout.write(_help_of(command))
        return command.usage_exit_code
    except CommandError as error:
        session.console.error(str(error))
        if advice := _advice(command, session, error):
            session.console.error(advice)
        return error.exit_code
    finally:
        session.close()


def _advice(command: "Command[Any]", session: "Session", error: CommandError) -> str:
    """What to do about a call that was refused: the rights that the command's help names."""
    cause: BaseException | None = error
    while cause is not None and getattr(cause, "status", 0) != HTTP_FORBIDDEN:
        cause = cause.__cause__
    if cause is None:
        return ""
    needed = " ".join(command.description.partition(NEEDS)[2].split("\n\n")[0].split())
    which = f": this command requires {needed}" if needed else "."
    if not session.settings.token:
        return f"No token was given{which} Name a token with -token, YURT_TOKEN or a context."
    if not _is_token_known(session):
        whose, which = "The token in use is not known to the servers, or has expired", "."
    else:
        where = f' in namespace "{session.settings.namespace or "default"}"' if "namespace" in needed else ""
        whose = f"The token in use has too few rights{where}"
    return f"{whose}{which} Name another token with -token, YURT_TOKEN or a context."


def _is_token_known(session: "Session") -> bool:
    """Whether the servers know the token in use: each may read itself."""
    from yurt.sdk import ApiError, SdkError, acl  # noqa: PLC0415 # only after a refusal

    try:
        acl.own_token(session.client)
    except ApiError as error:
        return error.status != HTTP_FORBIDDEN
    except SdkError:
        return True
    return True


def _help_of(command: "Command[Any]") -> str:
    from yurt.cli.help_text import command_help  # noqa: PLC0415 # not for commands that just run

    return command_help(command) + "\n"


def _overall_help() -> str:
    synopses = dict(members(""))
    sections = [("Common commands", COMMON), *SECTIONS]
    listed = {name for _, names in sections for name in names}
    sections.append(("Other commands", tuple(name for name in synopses if name not in listed)))
    width = max(map(len, synopses))
    text = "Usage: yurt [-version] [-help] <command> [args]\n"
    for title, names in sections:
        rows = [(name, synopses[name]) for name in names if name in synopses]
        text += f"\n{title}:\n{_listing(rows, width)}\n" if rows else ""
    return (
        text + "\nStart with 'yurt agent -dev', 'yurt job init -short' and 'yurt run example.nomad.hcl'.\n"
        "'yurt <command> -help' says more, '-context <name>' picks a cluster.\n"
    )


def _group_help(group: str) -> str:
    synopsis = GROUPS[group]
    return (
        f"Usage: yurt {group} <subcommand> [options] [args]\n\n  {synopsis}.\n\n"
        "  Please see the individual subcommand help for detailed usage information.\n\n"
        f"Subcommands:\n{_listing(members(group))}\n"
    )


def _listing(rows: Sequence[tuple[str, str]], width: int = 0) -> str:
    width = max(width, *(len(name) for name, _ in rows))
    return "\n".join(f"    {name.ljust(width)}    {synopsis}" for name, synopsis in rows)


def _report_bug(error: Exception) -> int:
    if os.environ.get("YURT_DEBUG"):
        raise error
    sys.stderr.write(
        f"yurt stopped on an internal error: {type(error).__name__}: {error}\n"
        "This is a bug. Run the command again with YURT_DEBUG=1 to see where it happened, and report it.\n"
    )
    return EXIT_INTERNAL


if __name__ == "__main__":
    sys.exit(main())
