"""A place where a template keeps values while it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.limits import check_items
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import sorted_keys
from yurt.agent.templates.language.values import Record, Value


class Scratch(Record):
    """`scratch`: values by name, and maps of values by name."""

    type_name = "*Scratch"

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """All of it."""
        return {
            "Get": self._get,
            "Key": self._key,
            "MapSet": self._map_set,
            "MapSetX": self._map_set_if_new,
            "MapValues": self._map_values,
            "Set": self._set,
            "SetX": self._set_if_new,
        }

    def _key(self, name: str) -> bool:
        return name in self._values

    def _get(self, name: str) -> Value:
        return self._values.get(name)

    def _set(self, name: str, value: Value) -> str:
        check_items(len(self._values))
        self._values[name] = value
        return ""

    def _set_if_new(self, name: str, value: Value) -> str:
        return "" if name in self._values else self._set(name, value)

    def _map_set(self, name: str, key: str, value: Value) -> str:
        self._map(name)[key] = value
        return ""

    def _map_set_if_new(self, name: str, key: str, value: Value) -> str:
        self._map(name).setdefault(key, value)
        return ""

    def _map_values(self, name: str) -> list[Value]:
        values = self._map(name)
        return [values[key] for key in sorted_keys(values)]

    def _map(self, name: str) -> dict[Value, Value]:
        found = self._values.setdefault(name, {})
        if not isinstance(found, dict):
            raise FunctionFailed(f'"{name}" is not a map')
        check_items(len(found))
        return found
