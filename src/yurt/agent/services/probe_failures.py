"""Why a check could not be made, in Go's words."""

from __future__ import annotations

import errno
import os
import ssl

from yurt.import_later import aiohttp
from yurt.model.go_text import quoted

# OpenSSL's numbers for what is wrong with a certificate.
_EXPIRED, _NAME_MISMATCH, _IP_MISMATCH = 10, 62, 64


def dial_text(address: str, error: OSError) -> str:
    """What kept a connection to `address` (host and port) from being made."""
    number = error.errno if error.errno in errno.errorcode else None
    reason = os.strerror(number).lower() if number is not None else str(error)
    return f"dial tcp {address}: connect: {reason}"


def request_text(address: str, error: Exception, *, redirects_max: int) -> str:
    """What kept a request to `address` from being answered."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_certificate_text(address, error)}"
        case aiohttp.ClientConnectorSSLError():
            return _handshake_text(error.os_error)
        case aiohttp.ClientConnectorError():
            return dial_text(address, error.os_error)
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case aiohttp.TooManyRedirects():
            return f"stopped after {redirects_max} redirects"
        case aiohttp.ClientResponseError():
            return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
    return str(error) or type(error).__name__


def _handshake_text(error: Exception) -> str:
    reason = getattr(error, "reason", None) or ""
    # The first bytes of an answer without TLS are taken for the version of one with it.
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return "http: server gave HTTP response to HTTPS client"
    return f"tls: {reason.lower().replace('_', ' ')}" if reason else str(error)


def _certificate_text(address: str, error: aiohttp.ClientConnectorCertificateError) -> str:
    cause = error.certificate_error
    host = address.rpartition(":")[0].strip("[]")
    code = cause.verify_code if isinstance(cause, ssl.SSLCertVerificationError) else 0
    if code == _EXPIRED:
        return "certificate has expired or is not yet valid"
    if code == _IP_MISMATCH:
        return f"cannot validate certificate for {host} because it doesn't contain any IP SANs"
    if code == _NAME_MISMATCH:
        return f"certificate is not valid for {quoted(host)}"
    return "certificate signed by unknown authority"
