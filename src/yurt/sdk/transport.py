"""One kept-alive HTTP connection to one server."""

import base64
import http.client
import select
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from yurt.sdk.errors import BadSettings, ServerUnreachable, TlsTrouble
from yurt.sdk.settings import ClientSettings

CONNECT_TIMEOUT_S = 10.0
# A server may think for a while (a snapshot, a large plan); past this the connection is taken for dead.
ANSWER_TIMEOUT_S = 600.0

# OpenSSL's numbers for a chain that ends with nobody we know.
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
_TLS_HINTS = {
    "WRONG_VERSION_NUMBER": "; the server may not use TLS: try an http:// address",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "; show one with -client-cert and -client-key",
    "TLSV1_ALERT_UNKNOWN_CA": "; the server does not know who signed the certificate of -client-cert",
}

Param: TypeAlias = str | int | bool | tuple[str, ...]
"""A query parameter: empty texts and False are not sent, a tuple is sent once for each of its texts."""

Params: TypeAlias = Mapping[str, Param]


class Transport:
    """Sends requests over a connection that is opened when first needed and reused while it lives."""

    def __init__(self, settings: ClientSettings) -> None:
        """Raises `BadSettings` for an address that is not an http, https or unix one."""
        self.address = settings.address.rstrip("/")
        self._settings = settings
        self._parts = urlsplit(self.address)
        try:
            self._port = self._parts.port
        except ValueError as error:
            raise BadSettings(f"the address {settings.address!r} has a bad port: {error}") from error
        if self._parts.scheme not in {"http", "https", "unix"}:
            raise BadSettings(
                f"the address {settings.address!r} has no usable scheme; write it as http://HOST:PORT, "
                "https://HOST:PORT or unix:///PATH"
            )
        self._base_path = "" if self._parts.scheme == "unix" else self._parts.path
        self._connection: http.client.HTTPConnection | None = None

    def url(self, path: str, params: Params) -> str:
        """Give the full address of a call, with its query in alphabetical order."""
        return self.address + path + query_text(params)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Params,
        headers: Mapping[str, str],
        body: bytes | None = None,
        timeout_s: float | None = ANSWER_TIMEOUT_S,
    ) -> http.client.HTTPResponse:
        """Send one request and return the answer, its body still unread.

        The caller must read the body before the next request. `timeout_s` limits each wait for bytes;
        None waits forever. Raises `ServerUnreachable`.
        """
        url = self.url(path, params)
        target = self._base_path + path + query_text(params)
        all_headers = {"Accept": "application/json", **self.auth_headers(), **headers}
        for attempt in (1, 2):
            connection, reused = self._open(method, url)
            sock = connection.sock
            assert sock is not None
            sock.settimeout(timeout_s)
            try:
                connection.request(method, target, body=body, headers=all_headers)
                return connection.getresponse()
            except TimeoutError as error:
                self.close()
                raise ServerUnreachable(
                    method=method, url=url, cause=f"no answer within {timeout_s:.0f} s"
                ) from error
            except (http.client.HTTPException, OSError) as error:
                self.close()
                # A read that hit a connection closed by the server while idle may be sent again; a
                # write may not, it could have been carried out.
                if not (reused and attempt == 1 and method == "GET"):
                    hint = "" if reused else self._first_call_hint(error)
                    failure = TlsTrouble if hint or isinstance(error, ssl.SSLError) else ServerUnreachable
                    raise failure(method=method, url=url, cause=describe(error) + hint) from error
        raise AssertionError("the second attempt never reuses a connection")

    def detach_socket(self) -> socket.socket:
        """Open a fresh connection and hand its socket to the caller, who must close it."""
        self.close()
        connection, _ = self._open("GET", self.address)
        sock = connection.sock
        assert isinstance(sock, socket.socket)
        self._connection = None
        sock.settimeout(ANSWER_TIMEOUT_S)
        return sock

    @property
    def host_header(self) -> str:
        """The value of the Host header."""
        return self._parts.netloc or "localhost"

    @property
    def base_path(self) -> str:
        """What precedes `/v1` in the request target, for an API behind a path."""
        return self._base_path

    def close(self) -> None:
        """Drop the connection; the next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def abort(self) -> None:
        """End an answer that another thread is reading: its read fails or finds the end."""
        connection = self._connection
        if connection is not None and isinstance(connection.sock, socket.socket):
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def auth_headers(self) -> dict[str, str]:
        """The headers that carry the token and the basic credentials."""
        headers = {}
        if self._settings.token:
            headers["X-Nomad-Token"] = self._settings.token
        if self._settings.basic_auth:
            encoded = base64.b64encode(self._settings.basic_auth.encode()).decode()
            headers["Authorization"] = f"Basic {encoded}"
        return headers

    def _open(self, method: str, url: str) -> tuple[http.client.HTTPConnection, bool]:
        if self._connection is not None and self._connection.sock is not None:
            # Readable while idle means closed (or confused): no answer is outstanding here.
            if not select.select([self._connection.sock], [], [], 0)[0]:
                return self._connection, True
            self.close()
        connection = self._new_connection()
        try:
            connection.connect()
        except OSError as error:
            failure = TlsTrouble if isinstance(error, ssl.SSLError) else ServerUnreachable
            raise failure(method=method, url=url, cause=self._describe_dial(error)) from error
        self._connection = connection
        return connection, False

    def _new_connection(self) -> http.client.HTTPConnection:
        if self._parts.scheme == "unix":
            return _UnixConnection(self._parts.netloc + self._parts.path)
        host = self._parts.hostname or "127.0.0.1"
        if self._parts.scheme == "https":
            context = self._settings.tls.context()
            server_name = self._settings.tls.server_name
            return _TlsConnection(host, self._port or 443, context=context, server_name=server_name)
        return http.client.HTTPConnection(host, self._port or 80, timeout=CONNECT_TIMEOUT_S)

    def _first_call_hint(self, error: Exception) -> str:
        """Why a server may hang up on the first call of a connection."""
        if not isinstance(error, ConnectionError):
            return ""
        if self._parts.scheme == "http":
            return "; if it serves TLS, use an https:// address"
        if self._parts.scheme == "https" and not self._settings.tls.client_cert:
            return "; it may ask for a certificate: show one with -client-cert and -client-key"
        return ""

    def _describe_dial(self, error: OSError) -> str:
        if isinstance(error, ssl.SSLError):
            return describe(error)
        if isinstance(error, socket.gaierror):
            return f"dial tcp: lookup {self._parts.hostname}: no such host"
        if self._parts.scheme == "unix":
            return f"dial unix {self._parts.netloc + self._parts.path}: connect: {describe(error)}"
        port = self._port or (443 if self._parts.scheme == "https" else 80)
        prefix = f"dial tcp {self._parts.hostname}:{port}: "
        return (
            f"{prefix}i/o timeout"
            if isinstance(error, TimeoutError)
            else f"{prefix}connect: {describe(error)}"
        )


class _TlsConnection(http.client.HTTPSConnection):
    """An https connection that can expect a certificate for another name than the host's."""

    def __init__(self, host: str, port: int, *, context: ssl.SSLContext, server_name: str) -> None:
        super().__init__(host, port, timeout=CONNECT_TIMEOUT_S, context=context)
        self._tls = context
        self._server_name = server_name or host

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._server_name)


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket, such as the one every task finds in its secrets directory."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=CONNECT_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def query_text(params: Params) -> str:
    """Write query parameters in alphabetical order; True is written `true`."""
    pairs = []
    for key, value in sorted(params.items()):
        if isinstance(value, tuple):
            pairs += [(key, text) for text in value]
        elif value is not False and value != "":
            pairs.append((key, "true" if value is True else str(value)))
    return "?" + urlencode(pairs) if pairs else ""


def path_segment(text: str) -> str:
    """Escape an id so that it is one segment of a path, slashes included."""
    return quote(text, safe="")


def describe(error: BaseException) -> str:
    """Name the cause of a failed connection in the words people search for."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ssl.SSLError):
        return _describe_tls(error)
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the server closed the connection"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error) or type(error).__name__


def _describe_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message
        if error.verify_code in _UNKNOWN_AUTHORITY:
            reason = "certificate signed by unknown authority; name it with -ca-cert or YURT_CACERT"
        return f"tls: failed to verify certificate: x509: {reason}"
    reason = (error.reason or str(error)).lower().replace("_", " ")
    hint = _TLS_HINTS.get(error.reason or "", "")
    return f"tls: {reason}{hint}"
