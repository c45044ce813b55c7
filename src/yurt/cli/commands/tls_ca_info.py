"""`yurt tls ca info`: what a certificate authority is for."""

from collections.abc import Sequence

from cryptography import x509

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.layout import table
from yurt.cli.options import GeneralOptions
from yurt.cli.tls_files import common_name_of, read_certificate


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Show an authority."""
    certificate = read_certificate(one_argument(arguments, "<CA file>"))
    try:
        limits = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
        domains = [str(name.value) for name in limits.permitted_subtrees or ()]
    except x509.ExtensionNotFound:
        domains = []
    session.console.output(
        table([*certificate_rows(certificate), ["Permitted DNS Domains", ", ".join(domains)]])
    )
    return 0


def certificate_rows(certificate: x509.Certificate) -> list[list[object]]:
    """What every certificate has."""
    return [
        ["Serial Number", str(certificate.serial_number)],
        ["Issuer CN", common_name_of(certificate.issuer)],
        ["Common Name", common_name_of(certificate.subject)],
        ["Expiry Date", f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M:%S} +0000 UTC"],
    ]


COMMAND = Command(
    path="tls ca info",
    options=GeneralOptions,
    run=run,
    usage="<CA file>",
    description="""
        Show information about a certificate authority.
    """,
    is_offline=True,
)
