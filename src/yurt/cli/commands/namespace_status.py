"""`yurt namespace status`: one namespace."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import find_namespace
from yurt.cli.options import FormatOptions
from yurt.cli.quota_view import limit_table
from yurt.sdk import namespaces, quotas
from yurt.sdk.namespaces import Capabilities, Choice, Namespace


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a namespace."""
    is_machine_output = wants_machine_output(options)
    namespace = find_namespace(session, one_argument(arguments, "<namespace>"))
    if is_machine_output:
        with failing_as("Error retrieving namespace"):
            show_record(session.console, options, namespaces.read(session.client, namespace.name).body)
        return 0
    session.console.output(_keys(namespace))
    if namespace.meta:
        session.console.heading("Metadata")
        session.console.output(key_list(sorted(namespace.meta.items())))
    if namespace.quota:
        with failing_as("Error retrieving quota"):
            quota = quotas.read(session.client, namespace.quota).value
            usage = quotas.usage(session.client, namespace.quota).value
        session.console.heading("Quota Limits")
        session.console.output(limit_table(quota, usage))
    for title, choice in (
        ("Node Pool Configuration", namespace.node_pool_configuration),
        ("Vault Configuration", namespace.vault_configuration),
        ("Consul Configuration", namespace.consul_configuration),
    ):
        if choice is not None:
            session.console.heading(title)
            session.console.output(_choice(choice))
    return 0


def _keys(namespace: Namespace) -> str:
    allowed = namespace.capabilities or Capabilities()
    return key_list(
        [
            ("Name", namespace.name),
            ("Description", namespace.description),
            ("Quota", namespace.quota),
            ("Enabled Drivers", ",".join(allowed.enabled_task_drivers) or "*"),
            ("Disabled Drivers", ",".join(allowed.disabled_task_drivers)),
            ("Enabled Network Modes", ",".join(allowed.enabled_network_modes) or "*"),
            ("Disabled Network Modes", ",".join(allowed.disabled_network_modes)),
        ]
    )


def _choice(choice: Choice) -> str:
    pairs: list[tuple[str, object]] = [("Default", choice.default)]
    if choice.allowed:
        pairs.append(("Allowed", ", ".join(choice.allowed)))
    if choice.denied:
        pairs.append(("Denied", ", ".join(choice.denied)))
    return key_list(pairs)


COMMAND = Command(
    path="namespace status",
    options=FormatOptions,
    run=run,
    usage="[options] <namespace>",
    description="""
        Status is used to view the status of a particular namespace.

        If ACLs are enabled, this command requires a management ACL token or a token that has a capability
        associated with the namespace.
    """,
)
