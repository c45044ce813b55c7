"""`yurt completion`: a script that lets a shell complete commands, flags and names."""

import sys
from collections.abc import Sequence

HELP = """\
Usage: yurt completion <bash|zsh|fish>

  Prints a script that completes commands, flags, job names, ids, node names
  and contexts. Load it in the start file of your shell:

      bash    source <(yurt completion bash)
      zsh     source <(yurt completion zsh)
      fish    yurt completion fish | source
"""

# A word with nothing to offer is completed as a file name, which is what job files need.
BASH = """\
_yurt() {
  local current="${COMP_WORDS[COMP_CWORD]}" IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(yurt complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$current"))
}
complete -o default -F _yurt yurt
"""
ZSH = """\
_yurt() {
  local -a found
  found=("${(@f)$(yurt complete-words "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
compdef _yurt yurt
"""
FISH = """\
function __yurt_words
    set -l typed (commandline -opc)
    yurt complete-words $typed[2..-1] -- (commandline -ct) 2>/dev/null
end
complete -c yurt -f -a '(__yurt_words)'
complete -c yurt -n 'test -z "$(__yurt_words)"' -F
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def main(arguments: Sequence[str]) -> int:
    """Print the script for a shell."""
    if len(arguments) != 1 or arguments[0] not in SCRIPTS:
        is_help = any(argument in {"-h", "-help", "--help"} for argument in arguments)
        (sys.stdout if is_help else sys.stderr).write(HELP)
        return 0 if is_help else 1
    sys.stdout.write(SCRIPTS[arguments[0]])
    return 0
