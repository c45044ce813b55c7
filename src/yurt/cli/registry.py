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
    # The name that people should use in place of an old one.
    instead: str = ""


COMMON = ("run", "stop", "status", "alloc", "job", "node", "agent")
# The rest of the overview, by what people are after; what is in none of these is listed last.
SECTIONS = (
    ("Follow and explain", ("logs", "top", "why", "event", "monitor", "ui")),
    ("Act on jobs and tasks", ("start", "exec", "action")),
    ("Look after the cluster", ("server", "deployment", "eval", "system", "operator", "agent-info")),
    (
        "Share the cluster",
        ("namespace", "quota", "acl", "login", "var", "service", "scaling", "volume", "plugin"),
    ),
    ("Set things up", ("context", "config", "tls", "fmt", "completion", "version")),
)

COMMANDS: tuple[Entry, ...] = (
    Entry("acl auth-method create", "acl_auth_method_create", "Create a new ACL auth method"),
    Entry("acl auth-method delete", "acl_auth_method_delete", "Delete an existing ACL auth method"),
    Entry("acl auth-method info", "acl_auth_method_info", "Fetch information on an existing ACL auth method"),
    Entry("acl auth-method list", "acl_auth_method_list", "List ACL auth methods"),
    Entry("acl auth-method update", "acl_auth_method_update", "Update an existing ACL auth method"),
    Entry("acl binding-rule create", "acl_binding_rule_create", "Create a new ACL binding rule"),
    Entry("acl binding-rule delete", "acl_binding_rule_delete", "Delete an existing ACL binding rule"),
    Entry(
        "acl binding-rule info", "acl_binding_rule_info", "Fetch information on an existing ACL binding rule"
    ),
    Entry("acl binding-rule list", "acl_binding_rule_list", "List ACL binding rules"),
    Entry("acl binding-rule update", "acl_binding_rule_update", "Update an existing ACL binding rule"),
    Entry("acl bootstrap", "acl_bootstrap", "Bootstrap the ACL system for initial token"),
    Entry("acl policy apply", "acl_policy_apply", "Create or update an ACL policy"),
    Entry("acl policy delete", "acl_policy_delete", "Delete an existing ACL policy"),
    Entry("acl policy info", "acl_policy_info", "Fetch info on an existing ACL policy"),
    Entry("acl policy list", "acl_policy_list", "List ACL policies"),
    Entry("acl policy self", "acl_policy_self", "Look up the policies of the token in use"),
    Entry("acl role create", "acl_role_create", "Create a new ACL role"),
    Entry("acl role delete", "acl_role_delete", "Delete an existing ACL role"),
    Entry("acl role info", "acl_role_info", "Fetch information on an existing ACL role"),
    Entry("acl role list", "acl_role_list", "List ACL roles"),
    Entry("acl role update", "acl_role_update", "Update an existing ACL role"),
    Entry("acl token create", "acl_token_create", "Create a new ACL token"),
    Entry("acl token delete", "acl_token_delete", "Delete an existing ACL token"),
    Entry("acl token info", "acl_token_info", "Fetch information on an existing ACL token"),
    Entry("acl token list", "acl_token_list", "List ACL tokens"),
    Entry("acl token self", "acl_token_self", "Look up the token in use"),
    Entry("acl token update", "acl_token_update", "Update an existing ACL token"),
    Entry("action", "job_action", "Run a pre-defined command from a given context"),
    Entry("agent", "agent", "Runs a Yurt agent", is_plain=True),
    Entry("agent-info", "agent_info", "Display status information about the local agent"),
    Entry("alloc checks", "alloc_checks", "Outputs the latest health check results of an allocation"),
    Entry("alloc cp", "alloc_cp", "Copy files out of an allocation or into its tasks"),
    Entry("alloc exec", "alloc_exec", "Execute commands in a task"),
    Entry("alloc fs", "alloc_fs", "Inspect the contents of an allocation directory"),
    Entry("alloc logs", "alloc_logs", "Streams the logs of a task"),
    Entry("alloc pause", "alloc_pause", "Pause and resume scheduled tasks"),
    Entry("alloc port-forward", "alloc_port_forward", "Forward local ports to an allocation"),
    Entry("alloc restart", "alloc_restart", "Restart a running allocation"),
    Entry("alloc signal", "alloc_signal", "Signal a running allocation"),
    Entry("alloc status", "alloc_status", "Display allocation status information and metadata"),
    Entry("alloc stop", "alloc_stop", "Stop and reschedule a running allocation"),
    Entry(
        "alloc-status", "alloc_status", "Display allocation status information and metadata", is_hidden=True
    ),
    Entry("check", "check", "Check the health of the agent", is_hidden=True),
    Entry(
        "client-config",
        "node_config",
        "View or modify client configuration details",
        is_hidden=True,
        instead="node config",
    ),
    Entry(
        "complete-words",
        "complete_words",
        "Print what may come next on a command line",
        is_hidden=True,
        is_plain=True,
    ),
    Entry("completion", "completion", "Print a completion script for the shell", is_plain=True),
    Entry("config validate", "config_validate", "Validate config files/directories"),
    Entry("context delete", "context_delete", "Forget a cluster"),
    Entry("context list", "context_list", "List the saved clusters"),
    Entry("context set", "context_set", "Save or change a cluster's address, token and the like"),
    Entry("context show", "context_show", "Show the cluster in use, or another one"),
    Entry("context use", "context_use", "Switch to another cluster"),
    Entry("debug", "operator_debug", "Build a debug archive", is_hidden=True),
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
    Entry("event stream", "event_stream", "Show what changes in the cluster, as it changes"),
    Entry("exec", "alloc_exec", "Execute commands in a task"),
    Entry("fmt", "fmt", "Rewrites job and configuration files to a canonical format"),
    Entry("fs", "alloc_fs", "Inspect the contents of an allocation directory", is_hidden=True),
    Entry("init", "job_init", "Create an example job file", is_hidden=True),
    Entry("inspect", "job_inspect", "Inspect a submitted job", is_hidden=True),
    Entry("job action", "job_action", "Run a pre-defined command from a given context"),
    Entry("job allocs", "job_allocs", "List allocations for a job"),
    Entry("job deployments", "job_deployments", "List deployments for a job"),
    Entry("job dispatch", "job_dispatch", "Dispatch an instance of a parameterized job"),
    Entry("job eval", "job_eval", "Force an evaluation for the job"),
    Entry("job history", "job_history", "Display all tracked versions of a job"),
    Entry("job init", "job_init", "Create an example job file"),
    Entry("job inspect", "job_inspect", "Inspect a submitted job"),
    Entry("job periodic force", "job_periodic_force", "Force the launch of a periodic job"),
    Entry("job plan", "job_plan", "Dry-run a job update to determine its effects"),
    Entry("job promote", "job_promote", "Promote a job's canaries"),
    Entry("job restart", "job_restart", "Restart or reschedule allocations for a job"),
    Entry("job revert", "job_revert", "Revert to a prior version of the job"),
    Entry("job run", "job_run", "Run a new job or update an existing job"),
    Entry("job scale", "job_scale", "Change the count of a task group"),
    Entry("job scaling-events", "job_scaling_events", "Display the most recent scaling events for a job"),
    Entry("job start", "job_start", "Start a stopped job"),
    Entry("job status", "job_status", "Display status information about a job"),
    Entry("job stop", "job_stop", "Stop a running job"),
    Entry("job tag apply", "job_tag_apply", "Save a job version under a name"),
    Entry("job tag unset", "job_tag_unset", "Remove a tag from a job version"),
    Entry("job wait", "job_wait", "Wait for a job, and exit with its task's exit code"),
    Entry("job validate", "job_validate", "Checks if a given job specification is valid"),
    Entry("login", "login", "Log in using an auth method"),
    Entry("logs", "logs", "Stream the logs of a job's allocations, merged"),
    Entry("monitor", "monitor", "Stream logs from an agent"),
    Entry("monitor export", "monitor_export", "Print what an agent has logged"),
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
    Entry("node simulate", "node_simulate", "Join simulated nodes to a server"),
    Entry("node status", "node_status", "Display status information about nodes"),
    Entry("node-drain", "node_drain", "Toggle drain mode on a given node", is_hidden=True),
    Entry("node-status", "node_status", "Display status information about nodes", is_hidden=True),
    Entry("operator api", "operator_api", "Query the HTTP API"),
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
    Entry("operator client-state", "operator_client_state", "Show what a stopped node agent remembers"),
    Entry("operator debug", "operator_debug", "Build a debug archive"),
    Entry("operator gossip keyring generate", "operator_gossip_keyring_generate", "Generate a new key"),
    Entry("operator gossip keyring install", "operator_gossip_keyring_install", "Install a new key"),
    Entry("operator gossip keyring list", "operator_gossip_keyring_list", "List the installed keys"),
    Entry("operator gossip keyring remove", "operator_gossip_keyring_remove", "Remove a key"),
    Entry("operator gossip keyring use", "operator_gossip_keyring_use", "Change the key in use"),
    Entry("operator metrics", "operator_metrics", "Retrieve the agent's metrics"),
    Entry("operator raft info", "operator_raft_info", "Describe the log in a stopped server's directory"),
    Entry("operator raft list-peers", "operator_raft_list_peers", "Display the current consensus peers"),
    Entry("operator raft logs", "operator_raft_logs", "Print the log in a stopped server's directory"),
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
    Entry("operator root keyring list", "operator_root_keyring_list", "List the installed keys"),
    Entry("operator root keyring remove", "operator_root_keyring_remove", "Remove a key"),
    Entry("operator root keyring rotate", "operator_root_keyring_rotate", "Rotate the keys"),
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
    Entry("plugin status", "plugin_status", "Display status information about a plugin"),
    Entry("run", "job_run", "Run a new job or update an existing job"),
    Entry("quota apply", "quota_apply", "Create or update a quota"),
    Entry("quota delete", "quota_delete", "Delete a quota"),
    Entry("quota init", "quota_init", "Create an example quota specification file"),
    Entry("quota inspect", "quota_inspect", "Inspect a quota"),
    Entry("quota list", "quota_list", "List quotas"),
    Entry("quota status", "quota_status", "Display a quota's status and what is used of it"),
    Entry("scaling policy info", "scaling_policy_info", "Display an individual scaling policy"),
    Entry("scaling policy list", "scaling_policy_list", "List all scaling policies"),
    Entry("server force-leave", "server_force_leave", "Force a server into the left state"),
    Entry("server join", "server_join", "Join server nodes together"),
    Entry("server members", "server_members", "Display a list of known servers and their status"),
    Entry(
        "server-force-leave",
        "server_force_leave",
        "Force a server into the left state",
        is_hidden=True,
        instead="server force-leave",
    ),
    Entry(
        "server-join",
        "server_join",
        "Join server nodes together",
        is_hidden=True,
        instead="server join",
    ),
    Entry(
        "server-members",
        "server_members",
        "Display a list of known servers and their status",
        is_hidden=True,
        instead="server members",
    ),
    Entry("service delete", "service_delete", "Deregister a registered service"),
    Entry("service info", "service_info", "Display an individual service registration"),
    Entry("service list", "service_list", "Display all registered services"),
    Entry("start", "job_start", "Start a stopped job"),
    Entry("status", "status", "Display the status output for a resource"),
    Entry("stop", "job_stop", "Stop a running job"),
    Entry("system gc", "system_gc", "Run the system garbage collection process"),
    Entry(
        "system reconcile summaries",
        "system_reconcile_summaries",
        "Reconciles the summaries of all registered jobs",
    ),
    Entry("tls ca create", "tls_ca_create", "Create a certificate authority"),
    Entry("tls ca info", "tls_ca_info", "Show information about a certificate authority"),
    Entry("tls cert create", "tls_cert_create", "Create a certificate"),
    Entry("tls cert info", "tls_cert_info", "Show information about a certificate"),
    Entry("top", "top", "Watch nodes, jobs and allocations live"),
    Entry("ui", "ui", "Open the web UI"),
    Entry("validate", "job_validate", "Checks if a given job specification is valid", is_hidden=True),
    Entry("var get", "var_get", "Read a variable"),
    Entry("var init", "var_init", "Create an example variable specification file"),
    Entry("var list", "var_list", "List variables"),
    Entry("var lock", "var_lock", "Run a command while holding a variable's lock"),
    Entry("var purge", "var_purge", "Purge a variable"),
    Entry("var put", "var_put", "Create or update a variable"),
    Entry("version", "version", "Prints the Yurt version", is_plain=True),
    Entry("why", "why", "Explain placements: every node's verdict on a job"),
    Entry("volume claim delete", "volume_claim_delete", "Delete a claim on a sticky volume"),
    Entry("volume claim list", "volume_claim_list", "List claims on sticky volumes"),
    Entry("volume create", "volume_create", "Create a volume"),
    Entry("volume delete", "volume_delete", "Delete a volume"),
    Entry("volume deregister", "volume_deregister", "Remove a volume from the cluster"),
    Entry("volume detach", "volume_detach", "Detach a volume from a node"),
    Entry("volume init", "volume_init", "Create an example volume specification file"),
    Entry("volume register", "volume_register", "Register an existing volume"),
    Entry("volume status", "volume_status", "Display status information about a volume"),
)

NOT_OFFERED = (
    "license get",
    "operator raft migrate-backend",
    "operator raft state",
    "operator snapshot redact",
    "operator snapshot state",
    "operator utilization",
    "recommendation apply",
    "recommendation dismiss",
    "recommendation info",
    "recommendation list",
    "sentinel apply",
    "sentinel delete",
    "sentinel list",
    "sentinel read",
    "setup consul",
    "setup vault",
    "volume snapshot create",
    "volume snapshot delete",
    "volume snapshot list",
)
COMMANDS += tuple(
    Entry(path, "not_offered", "Not offered by Yurt", is_hidden=True, is_plain=True) for path in NOT_OFFERED
)

GROUPS = {
    "acl auth-method": "Interact with ACL auth methods",
    "acl binding-rule": "Interact with ACL binding rules",
    "acl policy": "Interact with ACL policies",
    "acl role": "Interact with ACL roles",
    "acl token": "Interact with ACL tokens",
    "acl": "Tokens, policies, roles, and ways to log in",
    "alloc": "Allocations: status, logs, files, exec, cp, port-forward",
    "config": "Check the agent's configuration files",
    "context": "Name clusters and switch between them",
    "deployment": "Follow, promote, pause and fail deployments",
    "eval": "What the scheduler was asked, and what came of it",
    "event": "What changes in the cluster, as it changes",
    "job periodic": "Interact with periodic jobs",
    "job tag": "Manage the names of job versions",
    "job": "Jobs: plan, run, wait, status, scale, restart, history",
    "namespace": "Tenants and what they may use",
    "quota": "How much namespaces may use",
    "node identity": "Interact with node identities",
    "node intro": "Tooling for introducing nodes",
    "node meta": "Interact with node metadata",
    "node pool": "Interact with node pools",
    "node": "Nodes: status, drain, eligibility, metadata, pools",
    "operator autopilot": "Provides tools for modifying Autopilot configuration",
    "operator gossip keyring": "Manages gossip encryption keys",
    "operator gossip": "Manages gossip encryption keys",
    "operator raft": "Provides access to the servers' consensus",
    "operator root keyring": "Manages the keys of the cluster",
    "operator root": "Manages the keys of the cluster",
    "operator scheduler": "Provides access to the scheduler configuration",
    "operator snapshot": "Saves and inspects snapshots of the servers' state",
    "operator": "Snapshots, keys, consensus, settings, metrics, the raw API",
    "plugin": "Inspect plugins",
    "scaling policy": "Interact with scaling policies",
    "scaling": "Interact with scaling policies",
    "server": "The servers: who they are, who leads",
    "service": "What tasks have announced, and where it is",
    "system reconcile": "Perform system reconciliation tasks",
    "system": "Collect garbage, count again",
    "tls ca": "Helpers for certificate authorities",
    "tls cert": "Helpers for certificates",
    "tls": "Generate certificates for the cluster",
    "var": "Encrypted variables for tasks, with locks",
    "volume claim": "Interact with claims on sticky volumes",
    "volume": "Volumes for tasks",
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
