"""The differences between two versions of a job, in words and marks."""

from collections.abc import Sequence

from yurt.cli.console import BLUE, BOLD, CYAN, GREEN, LIGHT_YELLOW, RED, RESET, YELLOW, Console
from yurt.sdk.types.diffs import FieldDiff, GroupDiff, JobDiff, ObjectDiff, TaskDiff

MARKS = {"Added": "+", "Deleted": "-", "Edited": "+/-", "None": ""}
MARK_COLOURS = {"+": GREEN, "-": RED, "+/-": LIGHT_YELLOW}
UPDATE_COLOURS = {
    "create": GREEN,
    "destroy": RED,
    "migrate": BLUE,
    "in-place update": CYAN,
    "create/destroy update": YELLOW,
    "canary": LIGHT_YELLOW,
}
ANNOTATION_COLOURS = {
    "forces create": GREEN,
    "forces destroy": RED,
    "forces in-place update": CYAN,
    "forces create/destroy update": YELLOW,
}
STEP = 2


class DiffView:
    """Writes a diff. Marks are padded to the longest one among siblings, values aligned in each block.

    Added and deleted jobs, groups and tasks are shown by their title only unless `verbose`.
    """

    def __init__(self, console: Console, *, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose

    def job(self, diff: JobDiff) -> str:
        """Write the diff of a job."""
        mark = MARKS[diff.type]
        head = f"{self._mark(mark, len(mark))}{self._title('Job', diff.id, resets=False)}"
        fields, objects = self._shown(diff)
        width = _mark_width(fields, objects, diff.task_groups)
        lines = [head, *self._members(fields, objects, 0, width)]
        if diff.task_groups:
            lines.append("\n\n".join("\n".join(self._group(group, width)) for group in diff.task_groups))
        return "\n".join(lines)

    def _group(self, diff: GroupDiff, width: int) -> list[str]:
        mark = MARKS[diff.type]
        head = f"{self._mark(mark, width)}{self._title('Task Group', diff.name)}{self._updates(diff.updates)}"
        indent = STEP + width - len(mark)
        fields, objects = self._shown(diff)
        inner = _mark_width(fields, objects, diff.tasks)
        lines = [head, *self._members(fields, objects, indent, inner)]
        for task in diff.tasks:
            lines += self._task(task, indent, inner)
        return lines

    def _task(self, diff: TaskDiff, indent: int, width: int) -> list[str]:
        head = f"{' ' * indent}{self._mark(MARKS[diff.type], width)}{self._title('Task', diff.name)}"
        head += self._annotations(diff.annotations)
        fields, objects = self._shown(diff)
        return [head, *self._members(fields, objects, indent + STEP, _mark_width(fields, objects))]

    def _shown(
        self, diff: JobDiff | GroupDiff | TaskDiff
    ) -> tuple[Sequence[FieldDiff], Sequence[ObjectDiff]]:
        is_collapsed = diff.type in {"Added", "Deleted"} and not self._verbose
        return ((), ()) if is_collapsed or diff.type == "None" else (diff.fields, diff.objects)

    def _members(
        self, fields: Sequence[FieldDiff], objects: Sequence[ObjectDiff], indent: int, width: int
    ) -> list[str]:
        longest = max((len(field.name) for field in fields), default=0)
        lines = [self._field(field, indent, width, longest) for field in fields]
        for entry in objects:
            lines += self._object(entry, indent, width)
        return lines

    def _field(self, diff: FieldDiff, indent: int, width: int, longest: int) -> str:
        name = f"{diff.name}:".ljust(longest + 1)
        if diff.type == "Edited":
            value = f'"{diff.old}" => "{diff.new}"'
        else:
            value = f'"{diff.old}"' if diff.type == "Deleted" else f'"{diff.new}"'
        mark = self._mark(MARKS[diff.type], width)
        return f"{' ' * indent}{mark}{name} {value}{self._annotations(diff.annotations)}"

    def _object(self, diff: ObjectDiff, indent: int, width: int) -> list[str]:
        mark = MARKS[diff.type]
        inner = _mark_width(diff.fields, diff.objects)
        name_column = indent + (width + 1 if width else 0)
        return [
            f"{' ' * indent}{self._mark(mark, width)}{diff.name} {{",
            *self._members(diff.fields, diff.objects, indent + STEP + width - len(mark), inner),
            f"{' ' * name_column}}}",
        ]

    def _mark(self, mark: str, width: int) -> str:
        if not width:
            return ""
        painted = self._console.paint(mark, MARK_COLOURS[mark]) if mark else ""
        return painted + " " * (width - len(mark) + 1)

    def _title(self, kind: str, name: str, *, resets: bool = True) -> str:
        text = f'{kind}: "{name}"'
        if not self._console.colours:
            return text
        return f"{BOLD}{text}" + (RESET if resets else "")

    def _updates(self, updates: dict[str, int]) -> str:
        if not updates:
            return ""
        parts = [f"{updates[kind]} {kind}" for kind in sorted(updates)]
        if not self._console.colours:
            return f" ({', '.join(parts)})"
        painted = [
            f"{RESET}{UPDATE_COLOURS.get(kind, '')}{part}"
            for kind, part in zip(sorted(updates), parts, strict=True)
        ]
        return f" ({', '.join(painted)}{RESET})"

    def _annotations(self, annotations: Sequence[str]) -> str:
        if not annotations:
            return ""
        painted = [
            self._console.paint(text, ANNOTATION_COLOURS[text]) if text in ANNOTATION_COLOURS else text
            for text in annotations
        ]
        return f" ({', '.join(painted)})"


def _mark_width(*siblings: Sequence[FieldDiff | ObjectDiff | GroupDiff | TaskDiff]) -> int:
    return max((len(MARKS[entry.type]) for entries in siblings for entry in entries), default=0)
