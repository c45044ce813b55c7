"""A column of texts, kept as small numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Codes:
    """One text per slot; equal texts have equal codes. Texts once seen keep their code."""

    def __init__(self, size: int) -> None:
        self.column: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self.texts: list[str] = [""]
        self._codes: dict[str, int] = {"": 0}

    def put(self, slot: int, text: str) -> None:
        """Set the text of a slot."""
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self.texts)
            self.texts.append(text)
        self.column[slot] = code

    def code(self, text: str) -> int:
        """The code of a text; -1 if no slot ever had it."""
        return self._codes.get(text, -1)

    def grow(self, more: int) -> None:
        """Make room for `more` slots."""
        self.column = np.concatenate([self.column, np.zeros(more, dtype=np.int32)])
