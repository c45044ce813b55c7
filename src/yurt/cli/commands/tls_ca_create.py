"""`yurt tls ca create`: a certificate authority for the cluster."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.tls_files import Subject, make_authority, utc_now, write_pair

DEFAULT_DAYS = 1825
DEFAULT_DOMAIN = "nomad"


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `tls ca create`."""

    domain: Annotated[str, Flag("domain", "The domain of the cluster. Default = nomad", "<domain>")] = (
        DEFAULT_DOMAIN
    )
    additional_domains: Annotated[
        tuple[str, ...],
        Flag("additional-domain", "A further domain to allow; needs -name-constraint.", "<domain>"),
    ] = ()
    name_constraint: Annotated[
        bool, Flag("name-constraint", "Let the authority sign for its domains only.")
    ] = False
    days: Annotated[int, Flag("days", "How long the authority is valid. Default = 1825", "<n>")] = (
        DEFAULT_DAYS
    )
    common_name: Annotated[str, Flag("common-name", "The name of the authority.", "<name>")] = ""
    country: Annotated[str, Flag("country", "The country of the subject.", "<code>")] = ""
    province: Annotated[str, Flag("province", "The province of the subject.", "<name>")] = ""
    locality: Annotated[str, Flag("locality", "The locality of the subject.", "<name>")] = ""
    street_address: Annotated[str, Flag("street-address", "The street of the subject.", "<address>")] = ""
    postal_code: Annotated[str, Flag("postal-code", "The postal code of the subject.", "<code>")] = ""
    organization: Annotated[str, Flag("organization", "The organization of the subject.", "<name>")] = ""
    organizational_unit: Annotated[
        str, Flag("organizational-unit", "The organizational unit of the subject.", "<name>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Make an authority and write its two files."""
    no_arguments(arguments)
    if options.additional_domains and not options.name_constraint:
        raise CommandError("-additional-domain can only be used together with -name-constraint")
    if options.days <= 0:
        raise CommandError("-days must be greater than zero")
    domains = [options.domain, "localhost", *options.additional_domains] if options.name_constraint else []
    authority = make_authority(
        Subject(
            common_name=options.common_name or f"{options.domain.capitalize()} Agent CA",
            country=options.country,
            province=options.province,
            locality=options.locality,
            street_address=options.street_address,
            postal_code=options.postal_code,
            organization=options.organization,
            organizational_unit=options.organizational_unit,
        ),
        days=options.days,
        constrained_to=domains,
        now=utc_now(session.now()),
    )
    certificate, key = f"{options.domain}-agent-ca.pem", f"{options.domain}-agent-ca-key.pem"
    write_pair(authority, certificate, key)
    session.console.output(
        f"==> CA certificate saved to: {certificate}\n==> CA certificate key saved to: {key}"
    )
    return 0


COMMAND = Command(
    path="tls ca create",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Create a new certificate authority. Its certificate goes to every agent; its key signs the agents'
        certificates and should be kept safe.
    """,
    is_offline=True,
)
