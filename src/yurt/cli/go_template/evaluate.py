"""Running a parsed template over data."""

from collections.abc import Iterable, Sequence
from typing import Any

from yurt.cli.go_template.functions import FUNCTIONS, MISSING, show, truth
from yurt.cli.go_template.nodes import (
    Action,
    Branch,
    Call,
    Field,
    Jump,
    Literal,
    Node,
    Operand,
    Pipeline,
    TemplateError,
    Text,
    Variable,
)
from yurt.cli.go_template.parse import parse


def render(template: str, data: object) -> str:
    """Run a template over decoded JSON. Raises `TemplateError`."""
    run = _Run(data)
    try:
        run.block(parse(template), data)
    except _Jumped as jumped:
        raise TemplateError(f"{{{{{jumped.keyword}}}}} outside {{{{range}}}}") from jumped
    return "".join(run.written)


class _Jumped(Exception):
    """Leaves the innermost range, or one round of it."""

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


class _Run:
    """The variables in scope, and what has been written."""

    def __init__(self, data: object) -> None:
        self.written: list[str] = []
        self._variables: list[tuple[str, object]] = [("$", data)]

    def block(self, nodes: Sequence[Node], dot: object) -> None:
        """Run nodes in a scope of their own."""
        depth = len(self._variables)
        try:
            for node in nodes:
                self._node(node, dot)
        finally:
            del self._variables[depth:]

    def _node(self, node: Node, dot: object) -> None:
        match node:
            case Text(text):
                self.written.append(text)
            case Action(pipeline):
                value = self._pipeline(pipeline, dot)
                if not pipeline.assigns:
                    self.written.append(show(value))
            case Jump(keyword):
                raise _Jumped(keyword)
            case Branch("range"):
                self._range(node, dot)
            case Branch(keyword, pipeline, body, otherwise):
                depth = len(self._variables)
                value = self._pipeline(pipeline, dot)
                inner = value if keyword == "with" and truth(value) else dot
                self.block(body if truth(value) else otherwise, inner)
                del self._variables[depth:]

    def _range(self, branch: Branch, dot: object) -> None:
        names = branch.pipeline.assigns
        value = self._pipeline(branch.pipeline._replace(assigns=()), dot)
        pairs = list(_pairs(value))
        if not pairs:
            self.block(branch.otherwise, dot)
        for key, item in pairs:
            depth = len(self._variables)
            if names:
                self._variables.append((names[-1], item))
            if len(names) > 1:
                self._variables.append((names[0], key))
            try:
                self.block(branch.body, item)
            except _Jumped as jumped:
                if jumped.keyword == "break":
                    return
            finally:
                del self._variables[depth:]

    def _pipeline(self, pipeline: Pipeline, dot: object) -> object:
        value: object = MISSING
        for position, stage in enumerate(pipeline.stages):
            piped = () if position == 0 else (value,)
            if piped and not isinstance(stage, Call):
                raise TemplateError("only a function can follow a pipe")
            value = self._operand(stage, dot, piped)
        for name in pipeline.assigns:
            self._assign(name, value, declares=pipeline.declares)
        return value

    def _operand(self, operand: Operand, dot: object, piped: tuple[object, ...] = ()) -> object:
        match operand:
            case Literal(value):
                return value
            case Variable(name):
                return self._variable(name)
            case Field(start, names):
                value = dot if start is None else self._operand(start, dot)
                for name in names:
                    value = _member(value, name)
                return value
            case Pipeline():
                return self._pipeline(operand, dot)
            case Call(name, arguments):
                values = [self._operand(argument, dot) for argument in arguments]
                return _call(name, [*values, *piped])
        raise AssertionError(operand)

    def _variable(self, name: str) -> object:
        for known, value in reversed(self._variables):
            if known == name:
                return value
        raise TemplateError(f'undefined variable "{name}"')

    def _assign(self, name: str, value: object, *, declares: bool) -> None:
        if declares:
            self._variables.append((name, value))
            return
        for position in range(len(self._variables) - 1, -1, -1):
            if self._variables[position][0] == name:
                self._variables[position] = (name, value)
                return
        raise TemplateError(f'undefined variable "{name}"')


def _call(name: str, values: list[object]) -> object:
    try:
        return FUNCTIONS[name](*values)
    except TemplateError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, ZeroDivisionError) as error:
        raise TemplateError(f"error calling {name}: {error}") from error


def _member(value: Any, name: str) -> object:  # noqa: ANN401 # JSON of any shape
    if isinstance(value, dict):
        if name in value:
            member: object = value[name]
            return member
        raise TemplateError(
            f"can't evaluate field {name}: the data has {', '.join(sorted(value)) or 'no fields'}"
        )
    if value is None:
        raise TemplateError(f"nil data; no entry for key {name!r}")
    raise TemplateError(f"can't evaluate field {name} in a {type(value).__name__}")


def _pairs(value: Any) -> Iterable[tuple[object, object]]:  # noqa: ANN401 # JSON of any shape
    if value is None or value is MISSING:
        return ()
    if isinstance(value, dict):
        return ((key, value[key]) for key in sorted(value))
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return ((number, number) for number in range(value))
    raise TemplateError(f"range can't iterate over {show(value)}")
