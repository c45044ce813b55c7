"""What a job file that cannot be used is refused with."""

from collections.abc import Sequence

from yurt.jobspec.hcl.diagnostics import Diagnostic, HCLError

LISTED_MAX = 100
"""How many problems a message lists before it only counts them."""


class JobspecError(Exception):
    """The job file, or a value for its variables, is wrong.

    `diagnostics` are all problems found. `str()` gives them as Nomad does: one a line, but of problems that
    end the reading of a part only the first, with the number of the others.
    """

    def __init__(self, lines: Sequence[str], diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(lines))
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def of(cls, diagnostics: Sequence[Diagnostic], late: Sequence[Diagnostic] = ()) -> "JobspecError":
        """The error about `diagnostics`, then `late` ones that are counted rather than listed."""
        lines = [str(diagnostic) for diagnostic in diagnostics[:LISTED_MAX]]
        if len(diagnostics) > LISTED_MAX:
            lines[-1] += f", and {len(diagnostics) - LISTED_MAX} other diagnostic(s)"
        if late:
            lines.append(_first_of(late))
        return cls(lines, [*diagnostics, *late])

    @classmethod
    def of_text(cls, error: HCLError, *, prefix: str = "") -> "JobspecError":
        """The error about a text that cannot be read at all."""
        return cls([prefix + _first_of(error.diagnostics)], error.diagnostics)


def _first_of(diagnostics: Sequence[Diagnostic]) -> str:
    first = str(diagnostics[0])
    if len(diagnostics) == 1:
        return first
    return f"{first}, and {len(diagnostics) - 1} other diagnostic(s)"
