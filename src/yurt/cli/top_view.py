"""What `top` shows and what its keys do: pure functions from a picture and a view to lines."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from yurt.cli.cluster_picture import AllocRow, JobRow, NodeRow, Picture
from yurt.cli.console import BOLD, GREEN, GREY, RED, RESET, YELLOW
from yurt.cli.layout import GAP, short_id
from yurt.cli.terminal_screen import Size
from yurt.cli.times import absolute, relative

TABS = ("nodes", "jobs", "allocations")
HEAD_LINES = 4
FOOT_LINES = 1
REVERSE = "\033[7m"
HELP = (
    "",
    "  1 2 3, tab     nodes, jobs, allocations",
    "  up down        choose a line (also k and j, page up and down, home, end)",
    "  enter          the allocations of the node or job; what happened to the allocation",
    "  escape         back",
    "  s, r           sort by the next column; reverse",
    "  /              show only lines with a text; enter keeps it, escape drops it",
    "  p              pause",
    "  q, ctrl+c      end",
    "",
    "  any key leaves this page",
)

Row: TypeAlias = NodeRow | JobRow | AllocRow


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Where somebody is: the table, the chosen line, and what narrows and orders it.

    `typing` is the text of a filter that is being typed. `within` narrows allocations to a node or a job,
    `opened` is the allocation whose story is shown.
    """

    tab: str = "nodes"
    chosen: int = 0
    sort: int | None = None
    is_reversed: bool = False
    text: str = ""
    typing: str | None = None
    within: str = ""
    opened: str = ""
    is_paused: bool = False
    shows_help: bool = False
    is_over: bool = False


class Column(NamedTuple):
    """A cell's text, and what it is sorted by."""

    text: str
    key: float | str


TITLES = {
    "nodes": ("Node", "Name", "Pool", "Status", "Allocs", "CPU", "Memory"),
    "jobs": ("Job", "Namespace", "Type", "Status", "Queued", "Starting", "Running", "Failed"),
    "allocations": ("Alloc", "Name", "Node", "Status", "Restarts", "CPU", "Memory", "Age"),
}


def press(view: View, key: str, rows: Sequence[Row], page: int) -> View:
    """What a key does to a view; `rows` are those that it shows, `page` the lines of a screen."""
    if view.shows_help:
        return msgspec.structs.replace(view, shows_help=False)
    if view.typing is not None:
        return _type(view, key)
    last = max(0, len(rows) - 1)
    moves = {
        "up": -1, "k": -1, "down": 1, "j": 1, "page-up": -page, "page-down": page, "home": -last, "end": last,
    }  # fmt: skip
    if key in moves:
        return msgspec.structs.replace(view, chosen=max(0, min(last, view.chosen + moves[key])))
    if key in ("1", "2", "3"):
        return _at(view, TABS[int(key) - 1])
    if key in ("tab", "right", "back-tab", "left"):
        step = 1 if key in ("tab", "right") else -1
        return _at(view, TABS[(TABS.index(view.tab) + step) % len(TABS)])
    changes: dict[str, dict[str, object]] = {
        "q": {"is_over": True},
        "?": {"shows_help": True},
        "h": {"shows_help": True},
        "p": {"is_paused": not view.is_paused},
        "r": {"is_reversed": not view.is_reversed},
        "s": {"sort": ((-1 if view.sort is None else view.sort) + 1) % len(TITLES[view.tab])},
        "/": {"typing": view.text},
        "escape": {"opened": ""} if view.opened else {"within": "", "text": "", "chosen": 0},
        "backspace": {"opened": ""} if view.opened else {"within": "", "chosen": 0},
    }
    if key == "enter" and rows:
        return _enter(view, rows[min(view.chosen, last)])
    return msgspec.structs.replace(view, **changes.get(key, {}))


def _at(view: View, tab: str) -> View:
    return View(tab=tab, is_paused=view.is_paused)


def _type(view: View, key: str) -> View:
    assert view.typing is not None
    if key == "enter":
        return msgspec.structs.replace(view, text=view.typing, typing=None, chosen=0)
    if key == "escape":
        return msgspec.structs.replace(view, text="", typing=None, chosen=0)
    if key == "backspace":
        return msgspec.structs.replace(view, typing=view.typing[:-1])
    return msgspec.structs.replace(view, typing=view.typing + key) if len(key) == 1 else view


def _enter(view: View, row: Row) -> View:
    match row:
        case NodeRow():
            return View(tab="allocations", within=f"node {row.name}", is_paused=view.is_paused)
        case JobRow():
            return View(tab="allocations", within=f"job {row.id}", is_paused=view.is_paused)
        case AllocRow():
            return msgspec.structs.replace(view, opened=row.id)


def shown_rows(picture: Picture, view: View) -> list[Row]:
    """The rows of a view: narrowed and in order."""
    tables: dict[str, Sequence[Row]] = {
        "nodes": picture.nodes,
        "jobs": picture.jobs,
        "allocations": picture.allocations,
    }
    rows = tables[view.tab]
    kind, _, name = view.within.partition(" ")
    found = [
        row
        for row in rows
        if not kind
        or not isinstance(row, AllocRow)
        or name == (row.node_name if kind == "node" else row.job_id)
    ]
    text = view.text if view.typing is None else view.typing
    if text:
        found = [
            row
            for row in found
            if any(text.lower() in cell.text.lower() for cell in cells(row, now=picture.time))
        ]
    if view.sort is not None:
        column = view.sort
        found.sort(key=lambda row: _order(cells(row, now=picture.time)[column].key))
    return found[::-1] if view.is_reversed else found


def _order(key: float | str) -> tuple[int, float, str]:
    return (0, key, "") if isinstance(key, int | float) else (1, 0.0, key)


def cells(row: Row, *, now: int) -> tuple[Column, ...]:
    """A row as columns."""
    match row:
        case NodeRow():
            return (
                Column(short_id(row.id, verbose=False), row.id),
                Column(row.name, row.name),
                Column(row.pool, row.pool),
                Column(row.status, row.status),
                Column(str(row.allocs), -row.allocs),
                _share(row.cpu_reserved_mhz, row.cpu_total_mhz, "MHz"),
                _share(row.memory_reserved_mb, row.memory_total_mb, "MiB"),
            )
        case JobRow():
            counts = (row.queued, row.starting, row.running, row.failed)
            return (
                Column(row.id, row.id),
                Column(row.namespace, row.namespace),
                Column(row.type, row.type),
                Column(row.status, row.status),
                *(Column(str(count), -count) for count in counts),
            )
        case AllocRow():
            return (
                Column(short_id(row.id, verbose=False), row.id),
                Column(row.name, row.name),
                Column(row.node_name, row.node_name),
                Column(row.status, row.status),
                Column(str(row.restarts), -row.restarts),
                _used(row.cpu_used_mhz, row.cpu_reserved_mhz, "MHz"),
                _used(row.memory_used_mb, row.memory_reserved_mb, "MiB"),
                Column(relative(row.create_time, now).removesuffix(" ago"), -row.create_time),
            )


def _share(used: int, total: int, unit: str) -> Column:
    share = used / total if total > 0 else 0.0
    return Column(f"{share:.0%} of {total} {unit}", -share)


def _used(used: float | None, reserved: int, unit: str) -> Column:
    measured = "-" if used is None else f"{used:.0f}"
    return Column(f"{measured}/{reserved} {unit}", -(used or 0.0))


def render(
    picture: Picture, view: View, size: Size, *, story: Sequence[str] = (), problem: str = ""
) -> list[str]:
    """The lines of the screen; `story` is that of the opened allocation, `problem` why there is no news."""
    head = [_title(picture, view), _tabs(picture, view)]
    foot = _foot(view, problem)
    if view.shows_help:
        return [*head, *HELP][: size.lines]
    if view.opened:
        body = ["", *story]
        return [*_fitted([*head, *body], size.lines - FOOT_LINES), foot]
    rows = shown_rows(picture, view)
    room = max(1, size.lines - HEAD_LINES - FOOT_LINES)
    chosen = min(view.chosen, max(0, len(rows) - 1))
    # The chosen line stays in sight, with as much of what precedes it as fits.
    start = max(0, min(chosen - room // 2, len(rows) - room))
    texts = [[cell.text for cell in cells(row, now=picture.time)] for row in rows[start : start + room]]
    lines = _aligned([_headed(view), *texts])
    body = [f"{BOLD}{lines[0]}{RESET}"]
    for number, (row, line) in enumerate(zip(rows[start : start + room], lines[1:], strict=True), start):
        body.append(f"{REVERSE}{line.ljust(size.columns)}{RESET}" if number == chosen else _tinted(row, line))
    if not rows:
        body.append(f"{GREY}{'Nothing matches' if view.text or view.within else 'Nothing here'}{RESET}")
    return [*_fitted([*head, "", *body], size.lines - FOOT_LINES), foot]


def _fitted(lines: Sequence[str], height: int) -> list[str]:
    return [*lines[:height], *[""] * (height - len(lines))]


def _title(picture: Picture, view: View) -> str:
    ready = sum(row.status == "ready" for row in picture.nodes)
    running = sum(row.status == "running" for row in picture.allocations)
    pending = len(picture.allocations) - running
    queued = sum(row.queued for row in picture.jobs)
    more = " of the first allocations" if picture.is_truncated else ""
    paused = "  PAUSED" if view.is_paused else ""
    return (
        f"{BOLD}yurt top{RESET}  {absolute(picture.time)}  {ready}/{len(picture.nodes)} nodes ready, "
        f"{running} running, {pending} pending, {queued} queued{more}{paused}"
    )


def _tabs(picture: Picture, view: View) -> str:
    counts = (len(picture.nodes), len(picture.jobs), len(picture.allocations))
    parts = []
    for number, (tab, count) in enumerate(zip(TABS, counts, strict=True), 1):
        text = f"{number} {tab} {count}"
        parts.append(f"{REVERSE} {text} {RESET}" if tab == view.tab else f" {text} ")
    return " ".join(parts) + (f"  of {view.within}" if view.within else "")


def _foot(view: View, problem: str) -> str:
    if view.typing is not None:
        return f"show lines with: {view.typing}_"
    if problem:
        return f"{RED}{problem.splitlines()[0]}{RESET}"
    kept = f"only lines with {view.text!r}, escape shows all   " if view.text else ""
    return f"{GREY}{kept}enter opens   escape back   s sorts   / finds   ? help   q ends{RESET}"


def _headed(view: View) -> list[str]:
    titles = list(TITLES[view.tab])
    if view.sort is not None:
        titles[view.sort] += "^" if view.is_reversed else "v"
    return titles


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _tinted(row: Row, line: str) -> str:
    is_waiting = row.status in ("pending", "unknown", "initializing") or "," in row.status
    if row.status in ("down", "disconnected"):
        colour = RED
    elif row.status.startswith("dead"):
        colour = GREY
    elif is_waiting or (isinstance(row, JobRow) and row.queued):
        colour = YELLOW
    else:
        colour = GREEN if isinstance(row, AllocRow) else ""
    return f"{colour}{line}{RESET}" if colour else line
