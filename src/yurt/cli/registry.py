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
    Entry("action", "job_action", "Run a pre-defined command from a given context"),
    Entry("agent", "agent", "Runs a Yurt agent", is_plain=True),
    Entry("alloc checks", "alloc_checks", "Outputs the latest health check results of an allocation"),
    Entry("alloc exec", "alloc_exec", "Execute commands in a task"),
    Entry("alloc fs", "alloc_fs", "Inspect the contents of an allocation directory"),
    Entry("alloc logs", "alloc_logs", "Streams the logs of a task"),
    Entry("alloc pause", "alloc_pause", "Pause and resume scheduled tasks"),
    Entry("alloc restart", "alloc_restart", "Restart a running allocation"),
    Entry("alloc signal", "alloc_signal", "Signal a running allocation"),
    Entry("alloc status", "alloc_status", "Display allocation status information and metadata"),
    Entry("alloc stop", "alloc_stop", "Stop and reschedule a running allocation"),
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
    Entry("exec", "alloc_exec", "Execute commands in a task"),
    Entry("fs", "alloc_fs", "Inspect the contents of an allocation directory", is_hidden=True),
    Entry("inspect", "job_inspect", "Inspect a submitted job", is_hidden=True),
    Entry("job action", "job_action", "Run a pre-defined command from a given context"),
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
    Entry("namespace apply", "namespace_apply", "Create or update a namespace"),
    Entry("namespace delete", "namespace_delete", "Delete a namespace"),
    Entry("namespace inspect", "namespace_inspect", "Inspect a namespace"),
    Entry("namespace list", "namespace_list", "List namespaces"),
    Entry("namespace status", "namespace_status", "Display a namespace's status"),
    Entry("node config", "node_config", "View or modify client configuration details"),
    Entry("node drain", "node_drain", "Toggle drain mode on a given node"),
    Entry("node eligibility", "node_eligibility", "Toggle scheduling eligibility for a given node"),
    Entry("node identity get", "node_identity_get", "View the claims of a node's identity"),
    Entry("node identity renew", "node_identity_renew", "Have a node renew its identity"),
    Entry("node intro create", "node_intro_create", "Generate an introduction token for a new node"),
    Entry("node meta apply", "node_meta_apply", "Modify node metadata"),
    Entry("node meta read", "node_meta_read", "Read node metadata"),
    Entry("node pool apply", "node_pool_apply", "Create or update a node pool"),
    Entry("node pool delete", "node_pool_delete", "Delete a node pool"),
    Entry("node pool info", "node_pool_info", "Fetch information on an existing node pool"),
    Entry("node pool init", "node_pool_init", "Create an example node pool specification file"),
    Entry("node pool jobs", "node_pool_jobs", "Fetch a list of jobs in a node pool"),
    Entry("node pool list", "node_pool_list", "List node pools"),
    Entry("node pool nodes", "node_pool_nodes", "Fetch a list of nodes in a node pool"),
    Entry("node status", "node_status", "Display status information about nodes"),
    Entry("node-drain", "node_drain", "Toggle drain mode on a given node", is_hidden=True),
    Entry("node-status", "node_status", "Display status information about nodes", is_hidden=True),
    Entry(
        "operator autopilot get-config",
        "operator_autopilot_get_config",
        "Display the current Autopilot configuration",
    ),
    Entry("operator autopilot health", "operator_autopilot_health", "Display the current Autopilot health"),
    Entry(
        "operator autopilot set-config",
        "operator_autopilot_set_config",
        "Modify the current Autopilot configuration",
    ),
    Entry("operator raft list-peers", "operator_raft_list_peers", "Display the current consensus peers"),
    Entry(
        "operator raft remove-peer",
        "operator_raft_remove_peer",
        "Remove a server from the consensus configuration",
    ),
    Entry(
        "operator raft transfer-leadership",
        "operator_raft_transfer_leadership",
        "Transfer leadership to another server",
    ),
    Entry(
        "operator scheduler get-config",
        "operator_scheduler_get_config",
        "Display the current scheduler configuration",
    ),
    Entry(
        "operator scheduler set-config",
        "operator_scheduler_set_config",
        "Modify the current scheduler configuration",
    ),
    Entry(
        "operator snapshot inspect", "operator_snapshot_inspect", "Displays information about a snapshot file"
    ),
    Entry(
        "operator snapshot restore", "operator_snapshot_restore", "Restore the servers' state from a snapshot"
    ),
    Entry("operator snapshot save", "operator_snapshot_save", "Saves a snapshot of the servers' state"),
    Entry("plan", "job_plan", "Dry-run a job update to determine its effects", is_hidden=True),
    Entry("run", "job_run", "Run a new job or update an existing job"),
    Entry("scaling policy info", "scaling_policy_info", "Display an individual scaling policy"),
    Entry("scaling policy list", "scaling_policy_list", "List all scaling policies"),
    Entry("server force-leave", "server_force_leave", "Force a server into the left state"),
    Entry("server join", "server_join", "Join server nodes together"),
    Entry("server members", "server_members", "Display a list of known servers and their status"),
    Entry("server-force-leave", "server_force_leave", "Force a server into the left state", is_hidden=True),
    Entry("server-join", "server_join", "Join server nodes together", is_hidden=True),
    Entry(
        "server-members", "server_members", "Display a list of known servers and their status", is_hidden=True
    ),
    Entry("service delete", "service_delete", "Deregister a registered service"),
    Entry("service info", "service_info", "Display an individual service registration"),
    Entry("service list", "service_list", "Display all registered services"),
    Entry("status", "status", "Display the status output for a resource"),
    Entry("stop", "job_stop", "Stop a running job"),
    Entry("system gc", "system_gc", "Run the system garbage collection process"),
    Entry(
        "system reconcile summaries",
        "system_reconcile_summaries",
        "Reconciles the summaries of all registered jobs",
    ),
    Entry("validate", "job_validate", "Checks if a given job specification is valid", is_hidden=True),
    Entry("version", "version", "Prints the Yurt version", is_plain=True),
)

GROUPS = {
    "alloc": "Interact with allocations",
    "deployment": "Interact with deployments",
    "eval": "Interact with evaluations",
    "job periodic": "Interact with periodic jobs",
    "job tag": "Manage the names of job versions",
    "job": "Interact with jobs",
    "namespace": "Interact with namespaces",
    "node identity": "Interact with node identities",
    "node intro": "Tooling for introducing nodes",
    "node meta": "Interact with node metadata",
    "node pool": "Interact with node pools",
    "node": "Interact with nodes",
    "operator autopilot": "Provides tools for modifying Autopilot configuration",
    "operator raft": "Provides access to the servers' consensus",
    "operator scheduler": "Provides access to the scheduler configuration",
    "operator snapshot": "Saves and inspects snapshots of the servers' state",
    "operator": "Provides cluster-level tools for operators",
    "scaling policy": "Interact with scaling policies",
    "scaling": "Interact with scaling policies",
    "server": "Interact with servers",
    "service": "Interact with registered services",
    "system reconcile": "Perform system reconciliation tasks",
    "system": "Interact with the system API",
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
