"""The work that evaluating one file may take, counted down."""

from yurt.jobspec.hcl.diagnostics import Diagnostic, HCLError
from yurt.jobspec.hcl.limits import CHARACTERS_PER_STEP, STRING_CHARACTERS_MAX, VALUE_DEPTH_MAX, WORK_MAX
from yurt.jobspec.hcl.values import Value, elements, members


class Meter:
    """Counts steps and raises HCLError when there have been too many.

    Values may share parts, so a small expression can name a huge value: `[x, x]` of `[x, x]` of … Whatever
    walks through a value must `admit` it first, which counts the parts as often as they would be visited
    and refuses what is nested too deeply to walk by recursion.
    """

    __slots__ = ("left",)

    def __init__(self, work_max: int = WORK_MAX) -> None:
        self.left = work_max

    def charge(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise HCLError([Diagnostic(summary="Evaluation too expensive", detail=_TOO_MUCH)])

    def charge_text(self, characters: int) -> None:
        """Count text that is produced; a single overlong string is refused at once."""
        if characters > STRING_CHARACTERS_MAX:
            raise HCLError([Diagnostic(summary="String too long", detail=_TOO_LONG)])
        self.charge(characters // CHARACTERS_PER_STEP)

    def admit(self, value: Value) -> None:
        """Count a walk through all parts of `value`."""
        pending = [(value, 0)]
        while pending:
            item, depth = pending.pop()
            if isinstance(item, str):
                self.charge(1 + len(item) // CHARACTERS_PER_STEP)
                continue
            inner = elements(item)
            if inner is None:
                named = members(item)
                inner = tuple(named.values()) if named else ()
            self.charge(1 + len(inner))
            if depth >= VALUE_DEPTH_MAX:
                raise HCLError([Diagnostic(summary="Value nested too deeply", detail=_TOO_DEEP)])
            pending.extend((part, depth + 1) for part in inner)


_TOO_MUCH = (
    f"The expressions in this file take more than {WORK_MAX} steps to evaluate. Look for loops over large "
    "collections and for values that double in size."
)
_TOO_LONG = f"An expression may not build a string of more than {STRING_CHARACTERS_MAX} characters."
_TOO_DEEP = f"Lists and objects may be nested at most {VALUE_DEPTH_MAX} levels deep."
