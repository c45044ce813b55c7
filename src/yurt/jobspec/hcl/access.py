"""Steps into a value: `.name`, `["key"]`, `[0]`."""

from fractions import Fraction

from yurt.jobspec.hcl.conversion import ConversionError, to_number, to_text
from yurt.jobspec.hcl.syntax import AttributeStep, IndexStep, KeyStep
from yurt.jobspec.hcl.values import ListValue, Value, elements, members, value_type_name

_NO_ELEMENT = "The given key does not identify an element in this collection value"


class AccessError(LookupError):
    """The value has nothing there."""

    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail


def step_into(value: Value, step: AttributeStep | KeyStep | IndexStep, key: Value) -> Value:
    """The part of `value` that `step` leads to. `key` is the evaluated key of an IndexStep."""
    if isinstance(step, AttributeStep):
        return _attribute(value, step.name)
    return _index(value, step.key if isinstance(step, KeyStep) else key)


def _attribute(value: Value, name: str) -> Value:
    if isinstance(value, dict):
        try:
            return value[name]
        except KeyError:
            detail = f'This object does not have an attribute named "{name}".'
            raise AccessError("Unsupported attribute", detail) from None
    named = members(value)
    if named is not None:
        if name not in named:
            raise AccessError(
                "Missing map element", f'This map does not have an element with the key "{name}".'
            )
        return named[name]
    if value is None:
        detail = "This value is null, so it does not have any attributes."
        raise AccessError("Attempt to get attribute from null value", detail)
    if elements(value) is None:
        detail = f"Can't access attributes on a primitive-typed value ({value_type_name(value)})."
        raise AccessError("Unsupported attribute", detail)
    raise AccessError("Unsupported attribute", "This value does not have any attributes.")


def _index(value: Value, key: Value) -> Value:
    if value is None:
        detail = "This value is null, so it does not have any indices."
        raise AccessError("Attempt to index null value", detail)
    if key is None:
        raise AccessError("Invalid index", "Can't use a null value as an indexing key.")
    named = members(value)
    try:
        if named is not None:
            text = to_text(key)
            assert isinstance(text, str)
            return named[text]
        if isinstance(value, tuple | ListValue):
            return _element(elements(value) or (), key)
    except ConversionError as error:
        raise AccessError("Invalid index", f"{_NO_ELEMENT}: {error}.") from None
    except LookupError:
        raise AccessError("Invalid index", f"{_NO_ELEMENT}.") from None
    raise AccessError("Invalid index", "This value does not have any indices.")


def _element(items: tuple[Value, ...], key: Value) -> Value:
    number = to_number(key)
    assert isinstance(number, int | Fraction | float)
    if number < 0:
        raise ConversionError("a negative number is not a valid index for a sequence")
    if not isinstance(number, int):
        raise ConversionError("an index must be a whole number")
    return items[number]
