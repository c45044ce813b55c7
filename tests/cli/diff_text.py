"""From a recorded diff back to the answer that leads to it."""

import re
from typing import Any

TYPES = {"+": "Added", "-": "Deleted", "+/-": "Edited", "": "None"}
_FIELD = re.compile(r'([^:]+?):\s+"(.*?)"(?: => "(.*?)")?(?: \((forces [^)]*)\))?$')


def job_diff(text: str) -> dict[str, Any]:
    """Read a printed diff. Nesting follows from where a name starts: deeper than its parent's."""
    stack: list[tuple[int, dict[str, Any]]] = []
    job: dict[str, Any] = {}
    for line in text.splitlines():
        match = re.match(r"(\s*)(\+/-|\+|-)?(\s*)(.*)$", line)
        assert match is not None
        rest = match[4]
        column = len(match[1]) + len(match[2] or "") + len(match[3])
        if not rest or rest == "}":
            if rest == "}":
                stack.pop()
            continue
        kind = TYPES[match[2] or ""]
        if title := re.match(r'(Job|Task Group|Task): "(.*?)"(?: \((.*)\))?$', rest):
            entry = _titled(kind, title)
            if title[1] == "Job":
                job = entry
                stack = [(column, entry)]
            elif title[1] == "Task Group":
                stack = [(0, job), (column, entry)]
                job["TaskGroups"].append(entry)
            else:
                stack = stack[:2]
                stack[1][1]["Tasks"].append(entry)
                stack.append((column, entry))
            continue
        parent = stack[-1][1]
        if rest.endswith(" {"):
            entry = {"Type": kind, "Name": rest.removesuffix(" {"), "Fields": [], "Objects": []}
            parent["Objects"].append(entry)
            stack.append((column, entry))
        else:
            parent["Fields"].append(_field(kind, rest))
    return job


def _titled(kind: str, title: re.Match[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"Type": kind, "Fields": [], "Objects": []}
    if title[1] == "Job":
        return {**entry, "ID": title[2], "TaskGroups": []}
    if title[1] == "Task":
        return {**entry, "Name": title[2], "Annotations": title[3].split(", ") if title[3] else None}
    counts = [part.split(" ", 1) for part in (title[3] or "").split(", ") if part]
    return {**entry, "Name": title[2], "Tasks": [], "Updates": {name: int(count) for count, name in counts}}


def _field(kind: str, text: str) -> dict[str, Any]:
    match = _FIELD.match(text)
    assert match is not None, text
    old, new = match[2], match[3] if match[3] is not None else match[2]
    if kind == "Added":
        old = ""
    if kind == "Deleted":
        new = ""
    return {
        "Type": kind,
        "Name": match[1],
        "Old": old,
        "New": new,
        "Annotations": [match[4]] if match[4] else None,
    }
