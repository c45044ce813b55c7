"""Certificates for a cluster of its own: an authority, and what it signs."""

import ipaddress
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from yurt.cli.errors import CommandError

CERTIFICATE_MODE = 0o644
KEY_MODE = 0o600
# Clocks of a cluster may differ a little.
CLOCK_SKEW = timedelta(minutes=1)


class Authority(msgspec.Struct, frozen=True):
    """A certificate that signs others, with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """Whom an authority's certificate names; empty members are left out."""

    common_name: str
    country: str = ""
    province: str = ""
    locality: str = ""
    street_address: str = ""
    postal_code: str = ""
    organization: str = ""
    organizational_unit: str = ""

    def name(self) -> x509.Name:
        """The subject in X.509's form."""
        parts = (
            (NameOID.COUNTRY_NAME, self.country),
            (NameOID.POSTAL_CODE, self.postal_code),
            (NameOID.STATE_OR_PROVINCE_NAME, self.province),
            (NameOID.LOCALITY_NAME, self.locality),
            (NameOID.STREET_ADDRESS, self.street_address),
            (NameOID.ORGANIZATION_NAME, self.organization),
            (NameOID.ORGANIZATIONAL_UNIT_NAME, self.organizational_unit),
            (NameOID.COMMON_NAME, self.common_name),
        )
        return x509.Name([x509.NameAttribute(kind, value) for kind, value in parts if value])


def make_authority(subject: Subject, *, days: int, constrained_to: Sequence[str], now: datetime) -> Authority:
    """Make a self-signed authority; `constrained_to` limits it to these DNS domains."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = subject.name()
    builder = (
        _builder(name, name, key.public_key(), days=days, now=now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if constrained_to:
        permitted = [x509.DNSName(domain) for domain in constrained_to]
        limits = x509.NameConstraints(permitted_subtrees=permitted, excluded_subtrees=None)
        builder = builder.add_extension(limits, critical=True)
    return Authority(builder.sign(key, hashes.SHA256()), key)


def make_certificate(
    authority: Authority,
    common_name: str,
    *,
    dns_names: Sequence[str],
    ip_addresses: Sequence[str],
    is_server: bool,
    days: int,
    now: datetime,
) -> Authority:
    """Make a certificate that an agent or a person proves itself with, signed by `authority`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in dns_names]
    try:
        names += [x509.IPAddress(ipaddress.ip_address(text)) for text in ip_addresses]
    except ValueError as error:
        raise CommandError(f"Invalid IP address: {error}") from error
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
    if is_server:
        usages.insert(0, ExtendedKeyUsageOID.SERVER_AUTH)
    issuer_key = authority.key.public_key()
    certificate = (
        _builder(subject, authority.certificate.subject, key.public_key(), days=days, now=now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return Authority(certificate, key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def write_pair(pair: Authority, certificate_path: str, key_path: str) -> None:
    """Write a certificate and its key; neither file may exist yet."""
    for path in (certificate_path, key_path):
        if os.path.exists(path):
            raise CommandError(f"{path} already exists; remove it first, or work in another directory")
    certificate = pair.certificate.public_bytes(serialization.Encoding.PEM)
    key = pair.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    _write(certificate_path, certificate, CERTIFICATE_MODE)
    _write(key_path, key, KEY_MODE)


def _write(path: str, data: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise CommandError(f"Failed to write {path}: {error.strerror}") from error


def read_authority(certificate_path: str, key_path: str) -> Authority:
    """Read an authority from its files."""
    certificate = read_certificate(certificate_path)
    try:
        key = serialization.load_pem_private_key(_read(key_path), password=None)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{key_path} holds no usable key: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise CommandError(f"{key_path} must hold an elliptic curve key")
    return Authority(certificate, key)


def read_certificate(path: str) -> x509.Certificate:
    """Read a certificate."""
    try:
        return x509.load_pem_x509_certificate(_read(path))
    except ValueError as error:
        raise CommandError(f"{path} holds no usable certificate: {error}") from error


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CommandError(f"Error reading {path}: {(error.strerror or str(error)).lower()}") from error


def utc_now(now_ns: int) -> datetime:
    """The time as certificates take it."""
    return datetime.fromtimestamp(now_ns // 1_000_000_000, UTC)


def common_name_of(name: x509.Name) -> str:
    """The common name of a subject or issuer."""
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""
