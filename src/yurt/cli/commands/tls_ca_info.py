"""`yurt tls ca info`: what a certificate authority is for."""

from collections.abc import Sequence

from cryptography import x509

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.layout import table
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.tls_files import common_name_of, read_certificate


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show an authority."""
    is_machine_output = wants_machine_output(options)
    certificate = read_certificate(one_argument(arguments, "<CA file>"))
    try:
        limits = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
        domains = [str(name.value) for name in limits.permitted_subtrees or ()]
    except x509.ExtensionNotFound:
        domains = []
    facts = {**certificate_facts(certificate), "Permitted DNS Domains": domains}
    show_facts(session, options, facts, for_program=is_machine_output)
    return 0


Facts = dict[str, str | list[str]]


def show_facts(session: Session, options: FormatOptions, facts: Facts, *, for_program: bool) -> None:
    """Show a certificate: as two columns or, for a program, as a record without blanks in its names."""
    if for_program:
        record = {name.replace(" ", ""): value for name, value in facts.items()}
        show_value(session.console, options, record)
        return
    rows = [[name, value if isinstance(value, str) else ", ".join(value)] for name, value in facts.items()]
    session.console.output(table(rows))


def certificate_facts(certificate: x509.Certificate) -> Facts:
    """What every certificate has."""
    return {
        "Serial Number": str(certificate.serial_number),
        "Issuer CN": common_name_of(certificate.issuer),
        "Common Name": common_name_of(certificate.subject),
        "Expiry Date": f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M:%S} +0000 UTC",
    }


COMMAND = Command(
    path="tls ca info",
    options=FormatOptions,
    run=run,
    usage="<CA file>",
    description="""
        Show information about a certificate authority.
    """,
    is_offline=True,
)
