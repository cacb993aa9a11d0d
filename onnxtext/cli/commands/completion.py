# SPDX-License-Identifier: Apache-2.0
"""`onnxtext completion`: print the script that completes commands in a shell.

To complete a word, a script runs `onnxtext` with the environment variables of click. It reads one
line per completion: kind, value and help, separated by tabs. For the kind `file`, the value is
a list of suffixes; the shell itself lists the files, so quotes and `~` work as usual.
"""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from onnxtext.cli.streams import print_to_stdout

# Bash splits words at `=`, so a completion replaces only the part after `=`. If nothing matches,
# `-o default` offers all files: `compgen` cannot match words with quotes.
_BASH = r"""%(complete_func)s() {
    local kind value help suffix current=${COMP_WORDS[COMP_CWORD]}
    [[ $current == = ]] && current=
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            plain) COMPREPLY+=("$value") ;;
            dir | file)
                compopt -o filenames -o default 2>/dev/null
                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(
                    compgen -d -- "$current"
                    for suffix in $value; do compgen -f -X "!*$suffix" -- "$current"; done
                ) ;;
        esac
    done < <(
        IFS=$'\n'
        env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
            %(complete_var)s=bash_complete "$1"
    )
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = r"""#compdef %(prog_name)s
%(complete_func)s() {
    local line kind value answer
    local -a fields described plain
    (( $+commands[%(prog_name)s] )) || return 1
    answer=$(
        export COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1))
        %(complete_var)s=zsh_complete %(prog_name)s
    )
    for line in "${(@f)answer}"; do
        fields=("${(@ps:\t:)line}")
        kind=$fields[1] value=$fields[2]
        case $kind in
            plain)
                if [[ -n $fields[3] ]]; then described+=("${value//:/\\:}:$fields[3]")
                else plain+=("$value"); fi ;;
            dir | file)
                [[ $PREFIX == -*=* ]] && compset -P 1 '*='
                if [[ $kind == dir ]]; then _files -/
                elif [[ -z $value ]]; then _files
                else _files -g "*(${value// /|})(-.)"; fi ;;
        esac
    done
    (( $#described )) && _describe -V values described -U
    (( $#plain )) && compadd -U -V values -a plain
}
if [[ $funcstack[1] == _%(prog_name)s ]]; then # the file _%(prog_name)s in a directory of $fpath
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = r"""function %(complete_func)s
    set -lx COMP_WORDS (commandline -cp)
    set -lx COMP_CWORD (commandline -ct)
    for line in (%(complete_var)s=fish_complete %(prog_name)s)
        set -l fields (string split \t -- $line)
        switch $fields[1]
            case plain
                string join \t -- $fields[2..-1]
            case dir
                __fish_complete_directories (commandline -ct)
            case file
                set -l ends (string replace -a . \\. -- $fields[2] | string replace -a ' ' '|')
                __fish_complete_path (commandline -ct) \
                    | string match -r -- ".*(?:/|$ends)(?:\t.*)?\$"
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Protocol(ShellComplete):
    """The protocol between the scripts of this module and click."""

    keeps_option = False
    """Whether a completion of `--option=value` must repeat `--option=`."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return (complete words before the cursor, incomplete word at the cursor)."""
        args, incomplete = super().get_completion_args()
        # Bash passes `=` as a separate word; click would then ignore the option before it.
        return [word for word in args if word != "="], incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return the completions of the word `incomplete`."""
        result = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if self.keeps_option and equals and option.startswith("--"):
            for item in result:
                if item.type == "plain":
                    item.value = f"{option}={item.value}"
        return result

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return the output line of a completion: kind, value and help, separated by tabs."""
        value = item.value if item.type == "plain" else item.suffixes or ""
        return "\t".join((item.type, value, " ".join((item.help or "").split()))).rstrip("\t")


class _Bash(_Protocol, BashComplete):
    source_template = _BASH


class _Zsh(_Protocol, ZshComplete):
    source_template = _ZSH
    keeps_option = True


class _Fish(_Protocol, FishComplete):
    source_template = _FISH
    keeps_option = True


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
"""Maps the name of each shell to its completion class."""

EXAMPLES = """\b
Examples:
  source <(onnxtext completion bash)          in this shell; also zsh
  onnxtext completion fish | source           in this shell
  onnxtext completion bash >~/.local/share/bash-completion/completions/onnxtext
  onnxtext completion fish >~/.config/fish/completions/onnxtext.fish"""


def register() -> None:
    """Register the completion classes of this module with click, before a shell uses them."""
    for shell in SHELLS.values():
        add_completion_class(shell)


@click.command("completion", epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print the script that completes commands in a SHELL.

    The tab key then completes commands, options and their values, files that a command takes, the
    codes of `onnxtext explain`, and the values of a model for `onnxtext explain-type`.
    """
    from onnxtext.cli.group import group

    print_to_stdout(
        ShellComplete.source(SHELLS[shell](group, {}, "onnxtext", "_ONNXTEXT_COMPLETE")), ""
    )
