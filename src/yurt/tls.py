"""TLS for an agent's listeners and its calls, out of the files that its `tls` block names."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from yurt.errors import YurtError

# A certificate, the authorities between, and the root: nobody needs more.
CHAIN_LENGTH_MAX = 8


class BadTlsFiles(YurtError):
    """A file of the `tls` block cannot be used; the text names it and says what to do."""


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent proves itself with, and whom it believes."""

    ca_file: str
    cert_file: str
    key_file: str
    needs_tls13: bool = False
    ciphers: str = ""
    """What TLS 1.2 may use, in OpenSSL's form; empty leaves the choice to OpenSSL."""


def check_files(files: TlsFiles, *, now: datetime, names: Sequence[str] = ()) -> None:
    """Check that the files fit together. Raises BadTlsFiles.

    `names` are those of which the certificate must have one; none asks for no name.
    """
    authorities = _certificates(files.ca_file, "tls.ca_file")
    chain = _certificates(files.cert_file, "tls.cert_file")
    _check_dates(chain[0], files.cert_file, "tls.cert_file", now)
    if not any(authority.not_valid_after_utc > now for authority in authorities):
        _check_dates(authorities[0], files.ca_file, "tls.ca_file", now)
    _check_key(chain[0], files)
    if not _leads_to(chain, authorities):
        raise BadTlsFiles(
            f"tls.cert_file {files.cert_file} was not issued by tls.ca_file {files.ca_file}; "
            "use the authority that signed it, or make a new certificate with yurt tls cert create"
        )
    found = names_of(chain[0])
    if names and not set(names) & set(found):
        raise BadTlsFiles(
            f"tls.cert_file {files.cert_file} is for {', '.join(found) or 'nobody'}; with "
            f"tls.verify_server_hostname this agent needs one for {' or '.join(names)}"
        )


def listening_context(files: TlsFiles, *, asks_for_certificate: bool) -> ssl.SSLContext:
    """A context for a listener; with `asks_for_certificate` callers must have one of the same authority.

    Raises BadTlsFiles.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _prepare(context, files)
    context.set_alpn_protocols(["http/1.1"])
    if asks_for_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def calling_context(files: TlsFiles, *, checks_host_name: bool) -> ssl.SSLContext:
    """A context for calls to other agents, who must have a certificate of the same authority.

    With `checks_host_name` it must name the host, or what the caller gives as `server_hostname`. Raises
    BadTlsFiles.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = checks_host_name
    _prepare(context, files)
    return context


def names_of(certificate: x509.Certificate) -> tuple[str, ...]:
    """The DNS names of a certificate, and its common name."""
    names: list[str] = []
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        names += extension.value.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        pass
    names += [str(part.value) for part in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return tuple(dict.fromkeys(names))


def _prepare(context: ssl.SSLContext, files: TlsFiles) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_3 if files.needs_tls13 else ssl.TLSVersion.TLSv1_2
    try:
        if files.ciphers:
            context.set_ciphers(files.ciphers)
        context.load_verify_locations(files.ca_file)
        # An encrypted key must not make the agent ask for a password on a terminal it may not have.
        context.load_cert_chain(files.cert_file, files.key_file, password="")
    except (OSError, ValueError) as error:
        raise BadTlsFiles(
            f"the files of the tls block cannot be used together: {error}; "
            "check tls.ca_file, tls.cert_file and tls.key_file"
        ) from error


def _certificates(path: str, setting: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(_content(path, setting))
    except ValueError as error:
        raise BadTlsFiles(f"{setting} {path} holds no certificate in PEM form: {error}") from error


def _content(path: str, setting: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadTlsFiles(f"{setting} {path} cannot be read: {error.strerror}") from error


def _check_dates(certificate: x509.Certificate, path: str, setting: str, now: datetime) -> None:
    if certificate.not_valid_after_utc < now:
        raise BadTlsFiles(
            f"{setting} {path} expired on {certificate.not_valid_after_utc:%Y-%m-%d %H:%M:%S} UTC; "
            "make a new one with yurt tls cert create"
        )
    if certificate.not_valid_before_utc > now:
        raise BadTlsFiles(
            f"{setting} {path} is valid from {certificate.not_valid_before_utc:%Y-%m-%d %H:%M:%S} UTC on; "
            "check this machine's clock"
        )


def _check_key(certificate: x509.Certificate, files: TlsFiles) -> None:
    try:
        key = serialization.load_pem_private_key(_content(files.key_file, "tls.key_file"), password=None)
    except (ValueError, TypeError) as error:
        raise BadTlsFiles(f"tls.key_file {files.key_file} holds no usable key: {error}") from error
    if key.public_key() != certificate.public_key():
        raise BadTlsFiles(f"tls.key_file {files.key_file} is not the key of tls.cert_file {files.cert_file}")


def _leads_to(chain: Sequence[x509.Certificate], authorities: Sequence[x509.Certificate]) -> bool:
    """Whether the first of `chain` was issued by one of `authorities`, maybe over others of the chain."""
    current = chain[0]
    for _ in range(CHAIN_LENGTH_MAX):
        if any(_issued(authority, current) for authority in authorities):
            return True
        between = next((other for other in chain[1:] if _issued(other, current)), None)
        if between is None:
            return False
        current = between
    return False


def _issued(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
