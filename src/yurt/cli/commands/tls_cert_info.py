"""`yurt tls cert info`: whom a certificate is for."""

from collections.abc import Sequence

from cryptography import x509

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.tls_ca_info import certificate_facts, show_facts
from yurt.cli.machine_output import wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.tls_files import read_certificate


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a certificate."""
    is_machine_output = wants_machine_output(options)
    certificate = read_certificate(one_argument(arguments, "<certificate file>"))
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        dns = names.get_values_for_type(x509.DNSName)
        addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    except x509.ExtensionNotFound:
        dns, addresses = [], []
    facts = {**certificate_facts(certificate), "DNS Names": dns, "IP Addresses": addresses}
    show_facts(session, options, facts, for_program=is_machine_output)
    return 0


COMMAND = Command(
    path="tls cert info",
    options=FormatOptions,
    run=run,
    usage="<certificate file>",
    description="""
        Show information about a certificate.
    """,
    is_offline=True,
)
