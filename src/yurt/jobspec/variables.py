"""Input variables: declarations, and the values given for them."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from yurt.jobspec.hcl.content import (
    AnyBody,
    Schema,
    SchemaBlock,
    any_attributes,
    content,
    missing_item,
    parse_json,
)
from yurt.jobspec.hcl.conversion import ConversionError, convert, to_bool, to_text
from yurt.jobspec.hcl.diagnostics import Diagnostic, HCLError, diagnostic_at
from yurt.jobspec.hcl.evaluator import Evaluator
from yurt.jobspec.hcl.function import Functions
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.parser import parse, parse_expression
from yurt.jobspec.hcl.source import Position, Range, Source
from yurt.jobspec.hcl.syntax import Attribute, Embedded, Expression, Label, Reference, Text
from yurt.jobspec.hcl.type_expressions import TypeExpressionError, type_expression, type_from_text
from yurt.jobspec.hcl.values import NUMBER, STRING, UNKNOWN, Type, Value, type_of
from yurt.jobspec.hcl.walk import free_names

ENVIRONMENT_PREFIX: Final = "NOMAD_VAR_"

_DOCUMENTATION: Final = "https://developer.hashicorp.com/nomad/docs/reference/hcl2/variables"
_NAME = re.compile(r"[^\W\d][\w-]*")
_NO_PLACE: Final = Range("", Position(0, 0), Position(0, 0))
_VARIABLE: Final = Schema(frozenset({"type", "default", "description"}), {"validation": ()})
_VALIDATION: Final = Schema(frozenset({"condition", "error_message"}), {})


class Validation(msgspec.Struct, frozen=True):
    """A rule that a variable's value must meet."""

    condition: Attribute
    error_message: Attribute
    place: Range


class Variable(msgspec.Struct, frozen=True):
    """A declared variable. `type` is None when neither a type nor a default tells it."""

    name: str
    type: Type | None
    default: "Assignment | None"
    validations: tuple[Validation, ...] = ()


class Assignment(msgspec.Struct, frozen=True):
    """A value for a variable; `origin` tells where it was given: default, env, varfile or cmd."""

    value: Value
    origin: str
    place: Range


class VariableFile(msgspec.Struct, frozen=True):
    """The text of a variable file, in HCL, or in JSON if its name ends in `.json`."""

    text: str
    filename: str


class Inputs(msgspec.Struct, frozen=True):
    """Values given from outside, in rising precedence: environment, files, flags (`name=value`)."""

    environment: Mapping[str, str] = {}
    files: Sequence[VariableFile] = ()
    flags: Sequence[str] = ()


class VariableFileError(Exception):
    """A variable file cannot be read; `error` says why."""

    def __init__(self, error: HCLError) -> None:
        super().__init__(str(error))
        self.error = error


class Variables:
    """Declares the variables of a job file and works out their values."""

    def __init__(self, functions: Functions, meter: Meter, diagnostics: list[Diagnostic]) -> None:
        self._functions = functions
        self._meter = meter
        self._diagnostics = diagnostics
        self.declared: dict[str, Variable] = {}

    # Declarations

    def declare(self, block: SchemaBlock) -> None:
        """Take a `variable` block."""
        label = block.labels[0]
        found = content(block.body, _VARIABLE, self._diagnostics)
        source = block.body.source
        if not _NAME.fullmatch(label.text):
            self._report(
                source,
                label,
                "Invalid variable name",
                "A name must start with a letter or underscore and may contain only letters, digits, "
                "underscores, and dashes.",
            )
        kind, is_typed = self._type(found.attributes.get("type"))
        default = found.attributes.get("default")
        assigned = None if default is None else self._default(default, kind)
        if not is_typed and assigned is not None:
            kind = type_of(assigned.value)
        validations = [self._validation(inner, label.text) for inner in found.blocks]
        rules = tuple(rule for rule in validations if rule is not None)
        self._add(Variable(label.text, kind, assigned, rules))

    def declare_all(self, block: SchemaBlock) -> None:
        """Take a `variables` block: each attribute declares a variable with that default."""
        for attribute in any_attributes(block.body, self._diagnostics).values():
            default = self._default(attribute, None)
            self._add(Variable(attribute.name, None if default is None else type_of(default.value), default))

    def _add(self, variable: Variable) -> None:
        if variable.name in self.declared:
            detail = f'Duplicate "{variable.name}" variable definition found.'
            self._diagnostics.append(Diagnostic(summary="Duplicate variable", detail=detail))
        self.declared[variable.name] = variable

    def _type(self, attribute: Attribute | None) -> tuple[Type | None, bool]:
        if attribute is None:
            return None, False
        expr = attribute.expr
        try:
            from_json = isinstance(expr, Text) and attribute.source.text[attribute.start] == '"'
            return (
                type_from_text(expr) if from_json and isinstance(expr, Text) else type_expression(expr)
            ), True
        except TypeExpressionError as error:
            self._report_at(
                attribute.source, error.start, error.end, "Invalid type specification", error.detail
            )
        except HCLError as error:
            self._report(
                attribute.source, expr, "Invalid type specification", str(error.diagnostics[0].detail)
            )
        return None, True

    def _default(self, attribute: Attribute, kind: Type | None) -> Assignment | None:
        value = self._constant(attribute.expr, attribute.source)
        if value is UNKNOWN:
            return None
        expr = attribute.expr
        try:
            converted = value if kind is None else convert(value, kind)
        except ConversionError as error:
            detail = f"This default value is not compatible with the variable's type constraint: {error}."
            self._report(attribute.source, expr, "Invalid default value for variable", detail)
            return None
        return Assignment(converted, "default", attribute.source.range(expr.start, expr.end))

    def _validation(self, block: SchemaBlock, name: str) -> Validation | None:
        before = len(self._diagnostics)
        found = content(block.body, _VALIDATION, self._diagnostics)
        for required in ("condition", "error_message"):
            if required not in found.attributes:
                detail = f'The argument "{required}" is required, but no definition was found.'
                self._diagnostics.append(missing_item(block.body, "Missing required argument", detail))
        if "condition" in found.attributes:
            self._check_condition(found.attributes["condition"], name)
        if "error_message" in found.attributes:
            self._check_message(found.attributes["error_message"])
        if len(self._diagnostics) > before:
            return None
        return Validation(found.attributes["condition"], found.attributes["error_message"], block.type_range)

    def _check_condition(self, condition: Attribute, name: str) -> None:
        """A condition speaks of its own variable, and of nothing else."""
        references = [item for item in free_names(condition.expr) if isinstance(item, Reference)]
        own = [reference for reference in references if _is_variable(reference, name)]
        for reference in references:
            if reference not in own:
                detail = (
                    f'The condition for variable "{name}" can only refer to the variable itself, '
                    f"using var.{name}."
                )
                self._report(condition.source, reference, "Invalid reference in variable validation", detail)
        if not own:
            detail = (
                f'The condition for variable "{name}" must refer to var.{name} '
                "in order to test incoming values."
            )
            self._report(condition.source, condition.expr, "Invalid variable validation condition", detail)

    def _check_message(self, message: Attribute) -> None:
        if isinstance(message.expr, Text) and not message.expr.value.strip():
            detail = "An empty string is not a valid nor useful error message."
            self._report(message.source, message.expr, "Invalid validation error message", detail)

    # Values

    def values(self, inputs: Inputs, *, strict: bool) -> dict[str, Value]:
        """The value of every variable. With `strict`, values for undeclared ones are problems.

        Raises VariableFileError when a file cannot be read.
        """
        assigned: dict[str, Assignment] = {
            name: variable.default for name, variable in self.declared.items() if variable.default is not None
        }
        before = len(self._diagnostics)
        given = {name for name in self.declared if self._from_environment(name, inputs.environment, assigned)}
        for file in inputs.files:
            given |= self._from_file(file, assigned, strict=strict)
        given |= self._from_flags(inputs.flags, assigned, strict=strict)
        for name in self.declared:
            if name not in assigned and name not in given:
                detail = (
                    f"A used variable must be set or have a default value; see {_DOCUMENTATION}  for details."
                )
                self._diagnostics.append(Diagnostic(summary=f'Unset variable "{name}"', detail=detail))
        if len(self._diagnostics) == before:
            for name, variable in self.declared.items():
                for validation in variable.validations:
                    self._validate(name, assigned[name], validation)
        return {name: assignment.value for name, assignment in assigned.items()}

    def _from_environment(
        self, name: str, environment: Mapping[str, str], assigned: dict[str, Assignment]
    ) -> bool:
        text = environment.get(ENVIRONMENT_PREFIX + name)
        if text is None:
            return False
        self._from_text(name, text, "env", assigned)
        return True

    def _from_flags(self, flags: Sequence[str], assigned: dict[str, Assignment], *, strict: bool) -> set[str]:
        texts = dict(flag.partition("=")[::2] for flag in flags if "=" in flag)
        given = set()
        for name, text in texts.items():
            if name in self.declared:
                self._from_text(name, text, "cmd", assigned)
                given.add(name)
            elif strict:
                detail = (
                    f'A "{name}" variable was passed in the command line but was not found in known '
                    f'variables. To declare variable "{name}", place this block in your job file'
                )
                self._diagnostics.append(Diagnostic(summary="Undefined -var variable", detail=detail))
        return given

    def _from_text(self, name: str, text: str, origin: str, assigned: dict[str, Assignment]) -> None:
        """Take a value from a flag or the environment: raw text, or an expression if the type needs one."""
        kind = self.declared[name].type
        value: Value = text
        place = _NO_PLACE
        if kind not in (STRING, NUMBER, None):
            source = Source(text, f"<value for var.{name} from {'arguments' if origin == 'cmd' else 'env'}>")
            try:
                expr = parse_expression(source)
            except HCLError as error:
                self._diagnostics.extend(error.diagnostics)
                return
            value = self._constant(expr, source)
            place = source.range(expr.start, expr.end)
        self._assign(name, value, Assignment(None, origin, place), assigned)

    def _from_file(self, file: VariableFile, assigned: dict[str, Assignment], *, strict: bool) -> set[str]:
        given = set()
        for attribute in any_attributes(_file_body(file), self._diagnostics).values():
            name = attribute.name
            if name in self.declared:
                value = self._constant(attribute.expr, attribute.source)
                place = attribute.source.range(attribute.expr.start, attribute.expr.end)
                self._assign(name, value, Assignment(None, "varfile", place), assigned)
                given.add(name)
            elif strict:
                detail = (
                    f'A "{name}" variable was set but was not found in known variables. To declare variable '
                    f'"{name}", place this block in your job files'
                )
                self._diagnostics.append(Diagnostic(summary="Undefined variable", detail=detail))
        return given

    def _assign(self, name: str, value: Value, given: Assignment, assigned: dict[str, Assignment]) -> None:
        if value is UNKNOWN:
            return
        kind = self.declared[name].type
        try:
            converted = value if kind is None else convert(value, kind)
        except ConversionError as error:
            if given.origin == "cmd":
                summary = "Invalid argument value for -var variable"
                subject = f"The received arg value for {name}"
            else:
                summary = "Invalid value for variable"
                subject = f"The value for {name}"
            detail = f"{subject} is not compatible with the variable's type constraint: {error}."
            self._diagnostics.append(Diagnostic(summary=summary, detail=detail, subject=given.place))
            return
        assigned[name] = msgspec.structs.replace(given, value=converted)

    def _validate(self, name: str, assigned: Assignment, validation: Validation) -> None:
        condition = validation.condition
        evaluator = self._evaluator(condition.source, {"var": {name: assigned.value}})
        value = evaluator.evaluate(condition.expr)
        message = evaluator.evaluate(validation.error_message.expr)
        if value is UNKNOWN or message is UNKNOWN:
            return
        summary = "Invalid variable validation result"
        try:
            holds, text = to_bool(value), to_text(message)
        except ConversionError as error:
            detail = f"Invalid validation condition result value: {error}."
            self._report(condition.source, condition.expr, summary, detail)
            return
        if holds is None:
            detail = "Validation condition expression must return either true or false, not null."
            self._report(condition.source, condition.expr, summary, detail)
        elif not holds:
            detail = f"{text}\n\nThis was checked by the validation rule at {validation.place}."
            summary = f"Invalid value for {assigned.origin} variable"
            self._diagnostics.append(Diagnostic(summary=summary, detail=detail, subject=assigned.place))

    # Constants

    def _constant(self, expr: Expression, source: Source) -> Value:
        """The value of an expression without references and calls; anything else is a problem."""
        for item in free_names(expr):
            place = expr if isinstance(expr, Embedded) else item
            if isinstance(item, Reference):
                return self._report(source, place, "Variables not allowed", "Variables may not be used here.")
            return self._report(
                source, place, "Function calls not allowed", "Functions may not be called here."
            )
        value = self._evaluator(source, {}).evaluate(expr)
        self._meter.admit(value)
        return value

    def _evaluator(self, source: Source, scope: Mapping[str, Value]) -> Evaluator:
        return Evaluator(source, scope, self._functions, diagnostics=self._diagnostics, meter=self._meter)

    def _report(self, source: Source, place: Expression | Label, summary: str, detail: str) -> Value:
        return self._report_at(source, place.start, place.end, summary, detail)

    def _report_at(self, source: Source, start: int, end: int, summary: str, detail: str) -> Value:
        self._diagnostics.append(diagnostic_at(source, start, end, summary=summary, detail=detail))
        return UNKNOWN


def _is_variable(reference: Reference, name: str) -> bool:
    if reference.name != "var" or not reference.steps:
        return False
    step = reference.steps[0]
    return name == (step.name if hasattr(step, "name") else step.key)


def _file_body(file: VariableFile) -> AnyBody:
    try:
        if file.filename.endswith(".json") or file.text.lstrip(" ").startswith("{"):
            return parse_json(file.text, filename=file.filename)
        return parse(file.text, filename=file.filename)
    except HCLError as error:
        raise VariableFileError(error) from error
