"""`yurt tls cert create`: a certificate signed by the cluster's authority."""

import os
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.tls_files import make_certificate, read_authority, utc_now, write_pair

DEFAULT_DAYS = 365


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `tls cert create`."""

    server: Annotated[bool, Flag("server", "Make a certificate for a server.")] = False
    client: Annotated[bool, Flag("client", "Make a certificate for a client.")] = False
    cli: Annotated[bool, Flag("cli", "Make a certificate for the command line.")] = False
    ca: Annotated[str, Flag("ca", "The authority's certificate.", "<path>")] = ""
    key: Annotated[str, Flag("key", "The authority's key.", "<path>")] = ""
    days: Annotated[int, Flag("days", "How long the certificate is valid. Default = 365", "<n>")] = (
        DEFAULT_DAYS
    )
    domain: Annotated[str, Flag("domain", "The domain of the cluster. Default = nomad", "<domain>")] = "nomad"
    dns_names: Annotated[
        tuple[str, ...],
        Flag("additional-dnsname", "A further DNS name. May be given several times.", "<name>"),
    ] = ()
    ip_addresses: Annotated[
        tuple[str, ...],
        Flag("additional-ipaddress", "A further IP address. May be given several times.", "<address>"),
    ] = ()


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Make a certificate and write its two files."""
    no_arguments(arguments)
    kinds = [
        name
        for name, is_wanted in (("server", options.server), ("client", options.client), ("cli", options.cli))
        if is_wanted
    ]
    if len(kinds) != 1:
        raise CommandError("Please provide exactly one of -server, -client, or -cli")
    if options.days <= 0:
        raise CommandError("-days must be greater than zero")
    kind = kinds[0]
    region = options.region or "global"
    authority = read_authority(
        options.ca or f"{options.domain}-agent-ca.pem", options.key or f"{options.domain}-agent-ca-key.pem"
    )
    name = f"{kind}.{region}.{options.domain}"
    is_agent = kind != "cli"
    pair = make_certificate(
        authority,
        name,
        dns_names=[name, *(["localhost"] if is_agent else []), *options.dns_names],
        ip_addresses=[*(["127.0.0.1"] if is_agent else []), *options.ip_addresses],
        is_server=is_agent,
        days=options.days,
        now=utc_now(session.now()),
    )
    stem = f"{region}-{kind}-{options.domain}"
    certificate, key = f"{stem}.pem", f"{stem}-key.pem"
    write_pair(pair, certificate, key)
    session.console.output(
        f"==> {kind.capitalize()} certificate saved to {os.path.basename(certificate)}\n"
        f"==> {kind.capitalize()} certificate key saved to {os.path.basename(key)}"
    )
    return 0


COMMAND = Command(
    path="tls cert create",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Create a new certificate for a server, a client or the command line. It is signed by the authority
        that "yurt tls ca create" made.
    """,
    is_offline=True,
)
