"""Where Yurt differs from the recordings, and why."""

from __future__ import annotations

_QUOTAS = "quotas are served, which Nomad keeps for its paid edition"
_GOVERNANCE = "pools have settings of their own and namespaces choose pools, as in Nomad's paid edition"
_ONE_SCHEDULER = "a server runs one scheduler, which takes batches, where Nomad runs one a core"

# Differences that are meant, as scenario and the beginning of the difference, with the reason. They are
# also listed in docs/compatibility.md.
EXPECTED_DIFFERENCES: dict[tuple[str, str], str] = {
    **{
        ("enterprise_routes", f"{step}: status"): _QUOTAS
        for step in ("quotas", "quota-usages", "quota", "quota/x", "quota put")
    },
    ("namespaces", "pool config: status"): _GOVERNANCE,
    ("node_pools", "scheduler config: status"): _GOVERNANCE,
    ("agent_info", "schedulers: body.schedulers: recorded 2 items"): _ONE_SCHEDULER,
    ("agent_info", "schedulers/config: body.num_schedulers"): _ONE_SCHEDULER,
    ("agent_info", "join bad: body.error"): "servers find each other through their log, not by gossip",
    ("alloc_signal_restart", "stats collected: body.Tasks"): (
        "tasks are measured when somebody asks, so nothing is told of those that have ended"
    ),
    ("client_fs", "ls?path=/alloc/logs: body: recorded 4 items"): "logs need no pipes in the file system",
    ("job_scale", "evals: body: recorded 8 items"): (
        "health that comes more than a second after the first makes another evaluation, on a slow machine too"
    ),
    ("services", "stored job: body.Stable"): "its deployment was still under way when this was recorded",
}
