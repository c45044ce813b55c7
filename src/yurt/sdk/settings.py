"""Where a client's address, credentials and TLS files come from."""

import ssl
from collections.abc import Mapping

import msgspec

from yurt.sdk.errors import BadSettings

DEFAULT_ADDRESS = "http://127.0.0.1:4646"
ENVIRONMENT_PREFIXES = ("YURT_", "NOMAD_")


class TlsSettings(msgspec.Struct, frozen=True):
    """Files and names for https; empty means the system's default."""

    ca_cert: str = ""
    ca_path: str = ""
    client_cert: str = ""
    client_key: str = ""
    server_name: str = ""
    skip_verify: bool = False

    def context(self) -> ssl.SSLContext:
        """Build the TLS context. A file that cannot be loaded raises `BadSettings`."""
        files = self.ca_cert or self._directory() or "the system's certificates"
        try:
            context = ssl.create_default_context(cafile=self.ca_cert or None, capath=self._directory())
            if self.client_cert:
                files = " and ".join(filter(None, (self.client_cert, self.client_key)))
                context.load_cert_chain(self.client_cert, self.client_key or None)
        except OSError as error:
            raise BadSettings(
                f"TLS files cannot be loaded: {files}: {error.strerror or error}; "
                "check the CA, certificate and key settings"
            ) from error
        if self.skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _directory(self) -> str | None:
        # A single CA file wins over a directory, as with Nomad's tools.
        return None if self.ca_cert else self.ca_path or None


class ClientSettings(msgspec.Struct, frozen=True):
    """Everything a `Client` needs to know before its first call."""

    address: str = DEFAULT_ADDRESS
    region: str = ""
    namespace: str = ""
    token: str = ""
    basic_auth: str = ""
    tls: TlsSettings = TlsSettings()

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> "ClientSettings":
        """Read `YURT_ADDR`, `YURT_TOKEN`, ... and, where one is not set, its `NOMAD_` twin."""

        def value(name: str) -> str:
            return read_variable(environment, name)

        return ClientSettings(
            address=value("ADDR") or DEFAULT_ADDRESS,
            region=value("REGION"),
            namespace=value("NAMESPACE"),
            token=value("TOKEN"),
            basic_auth=value("HTTP_AUTH"),
            tls=TlsSettings(
                ca_cert=value("CACERT"),
                ca_path=value("CAPATH"),
                client_cert=value("CLIENT_CERT"),
                client_key=value("CLIENT_KEY"),
                server_name=value("TLS_SERVER_NAME"),
                skip_verify=value("SKIP_VERIFY").lower() in {"1", "t", "true"},
            ),
        )


def read_variable(environment: Mapping[str, str], name: str) -> str:
    """Give the first non-empty of `YURT_<name>` and `NOMAD_<name>`, else the empty string."""
    for prefix in ENVIRONMENT_PREFIXES:
        value = environment.get(prefix + name, "")
        if value:
            return value
    return ""
