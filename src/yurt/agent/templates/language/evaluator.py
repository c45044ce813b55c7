"""Run a template: walk its parts, evaluate its pipelines, write its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeAlias

from yurt.agent.templates.language import nodes
from yurt.agent.templates.language.builtins import BUILTINS, SHORT_CIRCUIT
from yurt.agent.templates.language.errors import ExecutionFailed
from yurt.agent.templates.language.function import BadArgument, Function, FunctionFailed, function
from yurt.agent.templates.language.parser import ParsedTemplate
from yurt.agent.templates.language.text import shown, sorted_keys
from yurt.agent.templates.language.tokens import line_of
from yurt.agent.templates.language.values import Record, RecordMap, Value, is_true, size_of, type_name
from yurt.model.go_text import quoted

# A job file's template must not hold up the agent or fill its memory.
STEPS_MAX = 500_000
OUTPUT_CHARS_MAX = 16 << 20
# All texts and lists that functions make, added up.
WORK_MAX = 256 << 20
DEPTH_MAX = 100

_Node: TypeAlias = nodes.Operand | nodes.Command | nodes.Statement


class _Absent:
    """Nothing came through the pipe, unlike a value that is None."""


_ABSENT = _Absent()


class _Break(Exception):
    """The innermost range is left."""


class _Continue(Exception):
    """The innermost range goes on with its next value."""


def execute(
    template: ParsedTemplate,
    *,
    functions: Mapping[str, Function],
    data: Value = None,
    missing_key_fails: bool = False,
) -> str:
    """Run a template that was parsed with the same `functions`. Raises ExecutionFailed."""
    run = _Run(template, functions, missing_key_fails=missing_key_fails)
    try:
        run.walk(template.body, data)
    except RecursionError:
        raise ExecutionFailed(f"template: {template.name}: a value is nested too deeply") from None
    return "".join(run.output)


class _Run:
    """One run; `_at` is the node that an error is about, as Go keeps it."""

    def __init__(
        self, template: ParsedTemplate, functions: Mapping[str, Function], *, missing_key_fails: bool
    ) -> None:
        self._template = template
        self._name = template.name
        self._functions = functions
        self._missing_key_fails = missing_key_fails
        self._variables: list[tuple[str, Value]] = []
        self._at: _Node | None = None
        self._steps = self._work = self._written = self._depth = 0
        self.output: list[str] = []

    # --- limits and errors --------------------------------------------------------------------------

    def _fail(self, problem: str) -> NoReturn:
        if self._at is None:
            raise ExecutionFailed(f"template: {self._template.name}: {problem}")
        source, at = self._template.source, self._at.at
        column = len(source[source.rfind("\n", 0, at) + 1 : at].encode())
        raise ExecutionFailed(
            f"template: {self._template.name}:{line_of(source, at)}:{column}: "
            f"executing {quoted(self._name)} at <{nodes.written(self._at)}>: {problem}"
        )

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEPS_MAX:
            self._fail(f"the template takes more than {STEPS_MAX} steps; make it loop over less")

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            self._fail(f"exceeded maximum template depth ({DEPTH_MAX})")

    def _write(self, text: str) -> None:
        self._written += len(text)
        if self._written > OUTPUT_CHARS_MAX:
            self._fail(f"the rendered text is longer than {OUTPUT_CHARS_MAX} characters")
        self.output.append(text)

    # --- statements -----------------------------------------------------------------------------------

    def walk(self, body: nodes.Body, dot: Value) -> None:
        """Run statements about a value. The first call makes it known as `$`."""
        if not self._variables:
            self._variables.append(("$", dot))
        self._deeper()
        for statement in body:
            self._step()
            self._run(statement, dot)
        self._depth -= 1

    def _run(self, statement: nodes.Statement, dot: Value) -> None:
        self._at = statement
        match statement:
            case nodes.Text(text=text):
                self._write(text)
            case nodes.Action(pipe=pipe):
                value = self._pipe(pipe, dot)
                if not pipe.targets:
                    self._write(shown(value))
            case nodes.If() | nodes.With():
                known = len(self._variables)
                value = self._pipe(statement.pipe, dot)
                inner = value if isinstance(statement, nodes.With) else dot
                if is_true(value):
                    self.walk(statement.body, inner)
                else:
                    self.walk(statement.otherwise, dot)
                del self._variables[known:]
            case nodes.Range():
                self._range(statement, dot)
            case nodes.Break():
                raise _Break
            case nodes.Continue():
                raise _Continue
            case nodes.Call():
                self._call_template(statement, dot)

    def _range(self, statement: nodes.Range, dot: Value) -> None:
        known = len(self._variables)
        pipe = statement.pipe
        value = self._pipe(pipe, dot, assigns=False)
        names = pipe.targets
        if pipe.declares:
            self._variables += [(name, None) for name in names]
        inside, depth = len(self._variables), self._depth
        has_any = False
        for key, item in self._items(value):
            has_any = True
            self._step()
            if names:
                self._set_in_range(names, key, item, declared=inside if pipe.declares else None)
            try:
                self.walk(statement.body, item)
            except _Continue:
                pass
            except _Break:
                break
            finally:
                self._depth = depth
                del self._variables[inside:]
        if not has_any:
            self.walk(statement.otherwise, dot)
        del self._variables[known:]

    def _set_in_range(self, names: tuple[str, ...], key: Value, item: Value, *, declared: int | None) -> None:
        values = (item,) if len(names) == 1 else (key, item)
        for number, (name, value) in enumerate(zip(names, values, strict=True)):
            if declared is None:
                self._assign(name, value)
            else:
                self._variables[declared - len(names) + number] = (name, value)

    def _items(self, value: Value) -> Iterable[tuple[Value, Value]]:
        match value:
            case None:
                return ()
            case bool():
                pass
            case int():
                return ((number, number) for number in range(value))
            case dict():
                return [(key, value[key]) for key in sorted_keys(value)]
            case list() | range() | bytes():
                return enumerate(value)
        self._fail(f"range can't iterate over {shown(value)}")

    def _call_template(self, statement: nodes.Call, dot: Value) -> None:
        body = self._template.defined.get(statement.name)
        if body is None:
            self._fail(f"template {quoted(statement.name)} not defined")
        value = self._pipe(statement.pipe, dot) if statement.pipe else None
        self._deeper()
        variables, self._variables = self._variables, [("$", value)]
        name, self._name = self._name, statement.name
        self.walk(body, value)
        self._variables, self._name = variables, name
        self._depth -= 1

    # --- pipelines --------------------------------------------------------------------------------------

    def _pipe(self, pipe: nodes.Pipe, dot: Value, *, assigns: bool = True) -> Value:
        self._at = pipe
        self._deeper()
        value: Value = _ABSENT
        for command in pipe.commands:
            value = self._command(command, dot, value)
        self._depth -= 1
        if assigns:
            for name in pipe.targets:
                if pipe.declares:
                    self._variables.append((name, value))
                else:
                    self._assign(name, value)
        return value

    def _assign(self, name: str, value: Value) -> None:
        for number in reversed(range(len(self._variables))):
            if self._variables[number][0] == name:
                self._variables[number] = (name, value)
                return
        self._fail(f"undefined variable: {name}")

    def _variable(self, name: str) -> Value:
        for known, value in reversed(self._variables):
            if known == name:
                return value
        self._fail(f"undefined variable: {name}")

    def _command(self, command: nodes.Command, dot: Value, piped: Value) -> Value:
        self._step()
        first, *args = command.args
        match first:
            case nodes.Identifier(name=name):
                self._at = first
                return self._call(name, self._functions.get(name) or BUILTINS.get(name), command, dot, piped)
            case nodes.Field(names=names):
                self._at = first
                return self._members(dot, names, command, dot, piped)
            case nodes.Chain(of=of, names=names):
                self._at = first
                return self._members(self._operand(of, dot), names, command, dot, piped)
            case nodes.Variable(name=name, fields=names):
                self._at = first
                return self._members(self._variable(name), names, command, dot, piped)
        if args or piped is not _ABSENT:
            self._at = first
            self._fail(f"can't give argument to non-function {nodes.written(first)}")
        if isinstance(first, nodes.Nil):
            self._at = first
            self._fail("nil is not a command")
        return self._operand(first, dot)

    def _operand(self, operand: nodes.Operand, dot: Value) -> Value:
        match operand:
            case nodes.Dot():
                self._at = operand
                return dot
            case nodes.Nil():
                return None
            case nodes.Constant(value=value):
                self._at = operand
                return value
            case nodes.Pipe():
                return self._pipe(operand, dot)
            case nodes.Field() | nodes.Variable() | nodes.Chain() | nodes.Identifier():
                return self._command(nodes.Command(operand.at, (operand,)), dot, _ABSENT)

    def _members(
        self, value: Value, names: tuple[str, ...], command: nodes.Command, dot: Value, piped: Value
    ) -> Value:
        """Follow members, the last of which may be a method that takes the command's arguments."""
        for number, name in enumerate(names):
            is_last = number == len(names) - 1
            value = self._member(value, name, command if is_last else None, dot, piped)
        if not names and (len(command.args) > 1 or piped is not _ABSENT):
            self._fail(f"can't give argument to non-function {nodes.written(command.args[0])}")
        return value

    def _member(
        self, value: Value, name: str, command: nodes.Command | None, dot: Value, piped: Value
    ) -> Value:
        has_args = command is not None and (len(command.args) > 1 or piped is not _ABSENT)
        if value is None:
            if self._missing_key_fails:
                self._fail(f"nil data; no entry for key {quoted(name)}")
            return None
        methods = value.methods() if isinstance(value, Record | RecordMap) else {}
        if name in methods:
            made = function(methods[name])
            if command is None:
                return self._invoke(name, made, [], self._at)
            return self._call(name, made, command, dot, piped)
        if isinstance(value, Record):
            members: Mapping[Value, Value] = value.members()
            if name not in members:
                self._fail(f"can't evaluate field {name} in type {type_name(value)}")
        elif isinstance(value, dict):
            members = value
            if name not in members and self._missing_key_fails:
                self._fail(f"map has no entry for key {quoted(name)}")
        else:
            self._fail(f"can't evaluate field {name} in type {type_name(value)}")
        if has_args:
            self._fail(f"{name} is not a method but has arguments")
        return members.get(name)

    # --- calls --------------------------------------------------------------------------------------------

    def _call(
        self, name: str, made: Function | None, command: nodes.Command, dot: Value, piped: Value
    ) -> Value:
        args = command.args[1:]
        if name in SHORT_CIRCUIT and made is None:
            return self._decide(name, args, dot, piped)
        if made is None:
            self._fail(f"{quoted(name)} is not a defined function")
        has_piped = piped is not _ABSENT
        try:
            made.check_count(name, len(args) + has_piped)
            values = [made.argument(number, self._operand(arg, dot)) for number, arg in enumerate(args)]
            if has_piped:
                values.append(made.argument(len(args), piped))
        except BadArgument as error:
            self._fail(str(error))
        return self._invoke(name, made, values, command)

    def _invoke(self, name: str, made: Function, values: list[Value], at: _Node | None) -> Value:
        try:
            result = made.call(*values)
        except FunctionFailed as error:
            self._at = at
            self._fail(f"error calling {name}: {error}")
        self._work += size_of(result)
        if self._work > WORK_MAX:
            self._at = at
            self._fail("the template works on too much data; make it loop over less")
        return result

    def _decide(self, name: str, args: tuple[nodes.Operand, ...], dot: Value, piped: Value) -> Value:
        if not args and piped is _ABSENT:
            self._fail(f"wrong number of args for {name}: want at least 1 got 0")
        value: Value = None
        for arg in args:
            value = self._operand(arg, dot)
            if is_true(value) == (name == "or"):
                return value
        return value if piped is _ABSENT else piped
