"""`yurt tls cert info`: whom a certificate is for."""

from collections.abc import Sequence

from cryptography import x509

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.commands.tls_ca_info import certificate_rows
from yurt.cli.layout import table
from yurt.cli.options import GeneralOptions
from yurt.cli.tls_files import read_certificate


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Show a certificate."""
    certificate = read_certificate(one_argument(arguments, "<certificate file>"))
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        dns = names.get_values_for_type(x509.DNSName)
        addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    except x509.ExtensionNotFound:
        dns, addresses = [], []
    rows: list[list[object]] = [
        *certificate_rows(certificate),
        ["DNS Names", ", ".join(dns)],
        ["IP Addresses", ", ".join(addresses)],
    ]
    session.console.output(table(rows))
    return 0


COMMAND = Command(
    path="tls cert info",
    options=GeneralOptions,
    run=run,
    usage="<certificate file>",
    description="""
        Show information about a certificate.
    """,
    is_offline=True,
)
