"""`yurt completion`: command names for the shell."""

import sys
from collections.abc import Sequence

from yurt.cli.registry import COMMANDS, GROUPS

HELP = """\
Usage: yurt completion <bash|zsh|fish>

  Prints a script that completes the names of commands. Load it in the start
  file of your shell, for bash with:

      source <(yurt completion bash)
"""


def main(arguments: Sequence[str]) -> int:
    """Print the script for a shell."""
    if list(arguments) not in (["bash"], ["zsh"], ["fish"]):
        is_help = any(argument in {"-h", "-help", "--help"} for argument in arguments)
        (sys.stdout if is_help else sys.stderr).write(HELP)
        return 0 if is_help else 1
    sys.stdout.write(_fish() if arguments[0] == "fish" else _bash(is_zsh=arguments[0] == "zsh"))
    return 0


def _tree() -> dict[str, list[str]]:
    """What may follow each group; the empty name is the top."""
    tree: dict[str, set[str]] = {}
    paths = [entry.path for entry in COMMANDS if not entry.is_hidden]
    for path in [*paths, *GROUPS]:
        *group, last = path.split()
        tree.setdefault(" ".join(group), set()).add(last)
    return {group: sorted(names) for group, names in sorted(tree.items())}


def _bash(*, is_zsh: bool) -> str:
    cases = "\n".join(f'    "{group}") words="{" ".join(names)}" ;;' for group, names in _tree().items())
    head = "autoload -U +X bashcompinit && bashcompinit\n" if is_zsh else ""
    return f"""{head}_yurt() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) path="${{path:+$path }}$word" ;; esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _yurt yurt
"""


def _fish() -> str:
    lines = ["complete -c yurt -f"]
    for group, names in _tree().items():
        words = group.split()
        if words:
            condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        else:
            condition = "__fish_use_subcommand"
        lines.append(f"complete -c yurt -n '{condition}' -a '{' '.join(names)}'")
    return "\n".join(lines) + "\n"
