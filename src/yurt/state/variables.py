"""The table of variables."""

from __future__ import annotations

from yurt.model.variable import Variable, VariableKey
from yurt.state.table import Table
from yurt.state.watches import Watches


class Variables(Table[VariableKey, Variable]):
    """Variables by namespace and path, and how many encrypted bytes each namespace keeps.

    Watches: besides those of every table, ("variables-of-namespace", namespace).
    """

    def __init__(self, watches: Watches) -> None:
        super().__init__("variables", watches)
        self._bytes: dict[str, int] = {}
        self._of_namespace = watches.family("variables-of-namespace")

    def put(self, key: VariableKey, row: Variable, index: int) -> None:
        """Set a variable."""
        old = self.get(key)
        self._count(key.namespace, len(row.data) - (len(old.data) if old is not None else 0))
        super().put(key, row, index)
        self._watches.touch(self._of_namespace, key.namespace)

    def delete(self, key: VariableKey, index: int) -> Variable | None:
        """Remove a variable."""
        row = super().delete(key, index)
        if row is not None:
            self._count(key.namespace, -len(row.data))
            self._watches.touch(self._of_namespace, key.namespace)
        return row

    def bytes_of(self, namespace: str) -> int:
        """How many encrypted bytes a namespace keeps."""
        return self._bytes.get(namespace, 0)

    def has_any(self, namespace: str) -> bool:
        """Whether a namespace keeps any variable."""
        return namespace in self._bytes

    def _count(self, namespace: str, difference: int) -> None:
        count = self._bytes.get(namespace, 0) + difference
        if count:
            self._bytes[namespace] = count
        else:
            self._bytes.pop(namespace, None)
