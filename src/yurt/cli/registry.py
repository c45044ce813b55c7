"""The table of commands: each line is a name, the module under `commands`, and a synopsis.

A module is imported only when its command runs.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A name on the command line. Several names may share a module.

    A module has a `COMMAND`; a plain one, which makes no calls, has `main(arguments)` instead.
    """

    path: str
    module: str
    synopsis: str
    is_hidden: bool = False
    is_plain: bool = False


COMMON = ("run", "stop", "status", "alloc", "job", "node", "agent")

COMMANDS = (
    Entry("agent", "agent", "Runs a Yurt agent", is_plain=True),
    Entry("alloc logs", "alloc_logs", "Streams the logs of a task"),
    Entry("alloc status", "alloc_status", "Display allocation status information and metadata"),
    Entry(
        "alloc-status", "alloc_status", "Display allocation status information and metadata", is_hidden=True
    ),
    Entry("eval status", "eval_status", "Display evaluation status and placement failure reasons"),
    Entry(
        "eval-status",
        "eval_status",
        "Display evaluation status and placement failure reasons",
        is_hidden=True,
    ),
    Entry("inspect", "job_inspect", "Inspect a submitted job", is_hidden=True),
    Entry("job inspect", "job_inspect", "Inspect a submitted job"),
    Entry("job run", "job_run", "Run a new job or update an existing job"),
    Entry("job status", "job_status", "Display status information about a job"),
    Entry("job stop", "job_stop", "Stop a running job"),
    Entry("job validate", "job_validate", "Checks if a given job specification is valid"),
    Entry("logs", "alloc_logs", "Streams the logs of a task", is_hidden=True),
    Entry("node status", "node_status", "Display status information about nodes"),
    Entry("node-status", "node_status", "Display status information about nodes", is_hidden=True),
    Entry(
        "operator snapshot inspect", "operator_snapshot_inspect", "Displays information about a snapshot file"
    ),
    Entry(
        "operator snapshot restore", "operator_snapshot_restore", "Restore the servers' state from a snapshot"
    ),
    Entry("operator snapshot save", "operator_snapshot_save", "Saves a snapshot of the servers' state"),
    Entry("run", "job_run", "Run a new job or update an existing job"),
    Entry("status", "status", "Display the status output for a resource"),
    Entry("stop", "job_stop", "Stop a running job"),
    Entry("validate", "job_validate", "Checks if a given job specification is valid", is_hidden=True),
    Entry("version", "version", "Prints the Yurt version", is_plain=True),
)

GROUPS = {
    "alloc": "Interact with allocations",
    "eval": "Interact with evaluations",
    "job": "Interact with jobs",
    "node": "Interact with nodes",
    "operator": "Provides cluster-level tools for operators",
    "operator snapshot": "Saves and inspects snapshots of the servers' state",
}


def find(words: list[str]) -> tuple[Entry | None, str, int]:
    """Find the longest name at the start of `words`: the command (or None), the group it lies in, its length.

    The group is the longest known group that the words start with.
    """
    by_path = {entry.path: entry for entry in COMMANDS}
    group = ""
    for count in range(min(len(words), PATH_WORDS_MAX), 0, -1):
        path = " ".join(words[:count])
        if path in by_path:
            return by_path[path], group, count
        if not group and path in GROUPS:
            group = path
    return None, group, 0


PATH_WORDS_MAX = max(entry.path.count(" ") + 1 for entry in COMMANDS)


def members(group: str) -> list[tuple[str, str]]:
    """List what lies directly in a group, by name: commands and inner groups with their synopses."""
    prefix = f"{group} " if group else ""
    names = {entry.path: entry.synopsis for entry in COMMANDS if not entry.is_hidden} | GROUPS
    return sorted(
        (path.removeprefix(prefix), synopsis)
        for path, synopsis in names.items()
        if path.startswith(prefix) and path != group and " " not in path.removeprefix(prefix)
    )
