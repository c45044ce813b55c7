"""Lists that come in pages."""

import shlex
import sys
from typing import Annotated

from yurt.cli.command import Session
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk.transport import Param


class PagingOptions(FormatOptions, frozen=True, kw_only=True):
    """The flags of long lists."""

    filter: Annotated[
        str | None, Flag("filter", "Specifies an expression used to filter the results.", "<expression>")
    ] = None
    per_page: Annotated[
        int | None, Flag("per-page", "How many results to show per page. Default = 0, all", "<n>")
    ] = None
    page_token: Annotated[
        str | None,
        Flag("page-token", "Where to start pagination: the token a previous page named.", "<token>"),
    ] = None

    def query(self) -> dict[str, Param]:
        """The parameters of the list call."""
        return {
            "filter": self.filter or "",
            "per_page": self.per_page or "",
            "next_token": self.page_token or "",
        }


def show_next_page(session: Session, next_token: str) -> None:
    """Say how to get the next page, if there is one."""
    if next_token:
        command = next_page_command(sys.argv, next_token)
        session.console.output(f"\nResults have been paginated. To get the next page run:\n\n{command}")


def next_page_command(arguments: list[str], next_token: str) -> str:
    """The same command line with another page token, which stands before the first positional argument."""
    kept = []
    skip = False
    for argument in arguments[1:]:
        name = argument.lstrip("-") if argument.startswith("-") else ""
        if skip or name.startswith("page-token"):
            skip = name == "page-token"
            continue
        kept.append(argument)
    words = 0
    while words < len(kept) and not kept[words].startswith("-") and words < COMMAND_WORDS_MAX:
        words += 1
    line = ["yurt", *kept[:words], "-page-token", next_token, *kept[words:]]
    return " ".join(shlex.quote(word) for word in line)


# `node pool nodes` and the like; a positional argument right after it does not occur on paged lists
# without a flag that made the pages.
COMMAND_WORDS_MAX = 3
