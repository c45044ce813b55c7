"""The record of a deployment."""

from yurt.cli.console import Console
from yurt.cli.layout import key_list, short_id, table, yes_no
from yurt.cli.times import absolute_text
from yurt.sdk.types.deployments import Deployment, GroupState

NOT_APPLICABLE = "N/A"


def deployment_record(console: Console, deployment: Deployment, *, verbose: bool) -> str:
    """Show a deployment in full."""
    keys = key_list(
        [
            ("ID", short_id(deployment.id, verbose=verbose)),
            ("Job ID", deployment.job_id),
            ("Job Version", deployment.job_version),
            ("Status", deployment.status),
            ("Description", deployment.status_description),
        ]
    )
    return keys + deployed_section(console, deployment)


def latest_deployment(console: Console, deployment: Deployment, *, verbose: bool) -> str:
    """Show a deployment below its job."""
    keys = key_list(
        [
            ("ID", short_id(deployment.id, verbose=verbose)),
            ("Status", deployment.status),
            ("Description", deployment.status_description),
        ]
    )
    return keys + deployed_section(console, deployment)


def deployed_section(console: Console, deployment: Deployment) -> str:
    """Show how far each group is, with an empty line and a heading before; nothing without groups."""
    if not deployment.task_groups:
        return ""
    return f"\n\n{console.bold('Deployed')}\n{_groups(deployment)}" + console.paint("", "\033[0m")


def _groups(deployment: Deployment) -> str:
    states = deployment.task_groups.values()
    has_auto_revert = any(state.auto_revert for state in states)
    has_canaries = any(state.desired_canaries > 0 for state in states)
    has_deadline = any(state.require_progress_by for state in states)

    def cells(name: object, state: GroupState | None) -> list[object]:
        row: list[object] = [name]
        if has_auto_revert:
            row.append(yes_no(state.auto_revert) if state else "Auto Revert")
        if has_canaries:
            row.append(_canary(state, yes_no(state.promoted)) if state else "Promoted")
        row.append(state.desired_total if state else "Desired")
        if has_canaries:
            row.append(_canary(state, str(state.desired_canaries)) if state else "Canaries")
        row.append(state.placed_allocs if state else "Placed")
        row.append(state.healthy_allocs if state else "Healthy")
        row.append(state.unhealthy_allocs if state else "Unhealthy")
        if has_deadline:
            row.append(
                (absolute_text(state.require_progress_by) or NOT_APPLICABLE) if state else "Progress Deadline"
            )
        return row

    rows = [cells("Task Group", None)]
    rows += [cells(name, deployment.task_groups[name]) for name in sorted(deployment.task_groups)]
    return table(rows)


def _canary(state: GroupState, text: str) -> str:
    return text if state.desired_canaries > 0 else NOT_APPLICABLE
