"""What a function of the language is: its parameters, and the Python function behind it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from yurt.jobspec.hcl.values import Type


class CallError(ValueError):
    """The call as a whole fails; the message says why, without a full stop."""


class ArgumentError(ValueError):
    """The argument number `index`, counted from 0, is no good."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


class Parameter(msgspec.Struct, frozen=True):
    """An argument's name, as messages give it, and the type it is converted to."""

    name: str
    type: Type
    may_be_null: bool = False


class Function(msgspec.Struct, frozen=True):
    """`call` gets the converted arguments; none is unknown, and null only where a parameter allows it.

    `rest` describes the arguments beyond `parameters`, any number of them. `call` takes and gives Values;
    its own annotations name the types that the parameters are converted to, hence the Any. One that works
    longer than its arguments are long `takes_meter`, a Meter before the arguments, to charge for that.
    """

    name: str
    parameters: tuple[Parameter, ...]
    call: Callable[..., Any]
    rest: Parameter | None = None
    takes_meter: bool = False


Functions: TypeAlias = Mapping[str, Function]

_Implementation: TypeAlias = Callable[..., Any]


class Registry(dict[str, Function]):
    """Functions by name, filled with a decorator."""

    def add(
        self,
        name: str,
        *parameters: Parameter,
        rest: Parameter | None = None,
        takes_meter: bool = False,
    ) -> Callable[[_Implementation], _Implementation]:
        def register(implementation: _Implementation) -> _Implementation:
            assert name not in self, f"function {name} is defined twice"
            self[name] = Function(name, parameters, implementation, rest, takes_meter)
            return implementation

        return register
