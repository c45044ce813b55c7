"""Tables and key lists, aligned by spaces."""

from collections.abc import Iterable, Sequence

NONE = "<none>"
GAP = "  "


def table(rows: Sequence[Sequence[object]], *, empty: str = NONE) -> str:
    """Align rows, the header first; empty cells show `empty`. The last column is not padded."""
    cells = [[_cell(cell, empty) for cell in row] for row in rows]
    widths = [
        max(len(row[column]) for row in cells if column < len(row)) for column in range(_columns(cells))
    ]
    return "\n".join(
        GAP.join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)), *row[-1:]])
        for row in cells
    )


def key_list(pairs: Iterable[tuple[str, object]]) -> str:
    """Align `Key = value` lines; empty values show `<none>`."""
    lines = [(key, _cell(value, NONE)) for key, value in pairs]
    width = max((len(key) for key, _ in lines), default=0)
    return "\n".join(f"{key.ljust(width)} = {value}" for key, value in lines)


def short_id(full_id: str, *, verbose: bool) -> str:
    """Cut an id to eight characters unless `verbose`."""
    return full_id if verbose else full_id[:SHORT_ID_LENGTH]


SHORT_ID_LENGTH = 8


def yes_no(value: bool) -> str:
    """Write a boolean as the API does."""
    return "true" if value else "false"


def _cell(value: object, empty: str) -> str:
    if isinstance(value, bool):
        return yes_no(value)
    text = str(value).strip()
    return text or empty


def _columns(rows: Sequence[Sequence[str]]) -> int:
    return max((len(row) for row in rows), default=0)
