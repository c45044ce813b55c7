"""The files of a `tls` block: what is wrong with them is said before anything is served."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.support.certificates import Certificates, Pair
from yurt.config.cipher_suites import CIPHER_SUITES
from yurt.tls import BadTlsFiles, TlsFiles, calling_context, check_files, listening_context

# Files are made when they are first needed, which may be minutes after this.
NOW = datetime.now(UTC) + timedelta(hours=1)
SERVER_NAME = "server.global.nomad"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(certificates: Certificates) -> Pair:
    return certificates.make("server", "-days", "30")


@pytest.fixture(scope="module")
def client(certificates: Certificates) -> Pair:
    return certificates.make("client")


@pytest.fixture
def files(certificates: Certificates, server: Pair) -> TlsFiles:
    return TlsFiles(
        ca_file=str(certificates.authority), cert_file=str(server.certificate), key_file=str(server.key)
    )


def complaint(files: TlsFiles, *, now: datetime = NOW, names: tuple[str, ...] = ()) -> str:
    with pytest.raises(BadTlsFiles) as refused:
        check_files(files, now=now, names=names)
    return str(refused.value)


def test_files_that_fit_together_are_taken(files: TlsFiles) -> None:
    check_files(files, now=NOW, names=(SERVER_NAME,))
    assert listening_context(files, asks_for_certificate=True).verify_mode is ssl.CERT_REQUIRED
    assert listening_context(files, asks_for_certificate=False).verify_mode is ssl.CERT_NONE
    assert calling_context(files, checks_host_name=True).check_hostname


@pytest.mark.parametrize("member", ["ca_file", "cert_file", "key_file"])
def test_a_missing_file_is_named(files: TlsFiles, member: str) -> None:
    gone = msgspec.structs.replace(files, **{member: "/nowhere/file.pem"})
    assert complaint(gone) == f"tls.{member} /nowhere/file.pem cannot be read: No such file or directory"


@pytest.mark.parametrize("member", ["ca_file", "cert_file", "key_file"])
def test_a_file_of_another_kind_is_named(files: TlsFiles, member: str, tmp_path: Path) -> None:
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    assert f"tls.{member} {text} holds no " in complaint(
        msgspec.structs.replace(files, **{member: str(text)})
    )


def test_certificates_outside_of_their_time_are_refused(files: TlsFiles) -> None:
    late = complaint(files, now=NOW + timedelta(days=31))
    assert f"tls.cert_file {files.cert_file} expired on " in late
    assert "yurt tls cert create" in late
    assert "check this machine's clock" in complaint(files, now=NOW - timedelta(days=1))


def test_a_key_of_another_certificate_is_refused(files: TlsFiles, client: Pair) -> None:
    mixed = msgspec.structs.replace(files, key_file=str(client.key))
    assert complaint(mixed) == f"tls.key_file {client.key} is not the key of tls.cert_file {files.cert_file}"


def test_a_certificate_of_another_authority_is_refused(files: TlsFiles, tmp_path: Path) -> None:
    other = msgspec.structs.replace(files, ca_file=str(Certificates(tmp_path).authority))
    assert "was not issued by tls.ca_file" in complaint(other)


def test_a_certificate_without_the_name_of_its_role_is_refused(files: TlsFiles, client: Pair) -> None:
    of_client = msgspec.structs.replace(files, cert_file=str(client.certificate), key_file=str(client.key))
    assert (
        "is for client.global.nomad, localhost; with tls.verify_server_hostname this agent needs one for "
        "server.global.nomad" in complaint(of_client, names=(SERVER_NAME,))
    )


def test_old_versions_are_never_spoken(files: TlsFiles) -> None:
    assert listening_context(files, asks_for_certificate=False).minimum_version == ssl.TLSVersion.TLSv1_2
    newer = msgspec.structs.replace(files, needs_tls13=True)
    assert calling_context(newer, checks_host_name=True).minimum_version == ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize("suite", CIPHER_SUITES)
def test_every_cipher_suite_of_a_configuration_can_be_used(files: TlsFiles, suite: str) -> None:
    chosen = msgspec.structs.replace(files, ciphers=CIPHER_SUITES[suite])
    names = {cipher["name"] for cipher in listening_context(chosen, asks_for_certificate=True).get_ciphers()}
    assert CIPHER_SUITES[suite] in names
