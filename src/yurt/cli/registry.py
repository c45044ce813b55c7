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
    Entry("deployment fail", "deployment_fail", "Manually fail a deployment"),
    Entry("deployment list", "deployment_list", "List all deployments"),
    Entry("deployment pause", "deployment_pause", "Pause a deployment"),
    Entry("deployment promote", "deployment_promote", "Promote a deployment's canaries"),
    Entry("deployment resume", "deployment_resume", "Resume a paused deployment"),
    Entry("deployment status", "deployment_status", "Display the status of a deployment"),
    Entry("deployment unblock", "deployment_unblock", "Unblock a blocked deployment"),
    Entry("eval delete", "eval_delete", "Delete evaluations"),
    Entry("eval list", "eval_list", "List the set of evaluations tracked by the servers"),
    Entry("eval status", "eval_status", "Display evaluation status and placement failure reasons"),
    Entry(
        "eval-status",
        "eval_status",
        "Display evaluation status and placement failure reasons",
        is_hidden=True,
    ),
    Entry("inspect", "job_inspect", "Inspect a submitted job", is_hidden=True),
    Entry("job allocs", "job_allocs", "List allocations for a job"),
    Entry("job deployments", "job_deployments", "List deployments for a job"),
    Entry("job dispatch", "job_dispatch", "Dispatch an instance of a parameterized job"),
    Entry("job eval", "job_eval", "Force an evaluation for the job"),
    Entry("job history", "job_history", "Display all tracked versions of a job"),
    Entry("job inspect", "job_inspect", "Inspect a submitted job"),
    Entry("job periodic force", "job_periodic_force", "Force the launch of a periodic job"),
    Entry("job plan", "job_plan", "Dry-run a job update to determine its effects"),
    Entry("job promote", "job_promote", "Promote a job's canaries"),
    Entry("job revert", "job_revert", "Revert to a prior version of the job"),
    Entry("job run", "job_run", "Run a new job or update an existing job"),
    Entry("job scale", "job_scale", "Change the count of a task group"),
    Entry("job scaling-events", "job_scaling_events", "Display the most recent scaling events for a job"),
    Entry("job status", "job_status", "Display status information about a job"),
    Entry("job stop", "job_stop", "Stop a running job"),
    Entry("job tag apply", "job_tag_apply", "Save a job version under a name"),
    Entry("job tag unset", "job_tag_unset", "Remove a tag from a job version"),
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
    Entry("plan", "job_plan", "Dry-run a job update to determine its effects", is_hidden=True),
    Entry("run", "job_run", "Run a new job or update an existing job"),
    Entry("status", "status", "Display the status output for a resource"),
    Entry("stop", "job_stop", "Stop a running job"),
    Entry("validate", "job_validate", "Checks if a given job specification is valid", is_hidden=True),
    Entry("version", "version", "Prints the Yurt version", is_plain=True),
)

GROUPS = {
    "alloc": "Interact with allocations",
    "deployment": "Interact with deployments",
    "eval": "Interact with evaluations",
    "job": "Interact with jobs",
    "job periodic": "Interact with periodic jobs",
    "job tag": "Manage the names of job versions",
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
