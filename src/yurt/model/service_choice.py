"""Which few instances of a service one of its users is given."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable

from yurt.model.service_registration import ServiceRegistration


def chosen(services: Iterable[ServiceRegistration], number: int, key: str) -> list[ServiceRegistration]:
    """The same few instances for the same key, as long as they are there."""
    return sorted(services, key=lambda service: _weight(service, key))[:number]


def _weight(service: ServiceRegistration, key: str) -> bytes:
    digest = hashlib.sha256(struct.pack(">Q", service.port))
    texts = (
        service.alloc_id,
        service.id,
        service.namespace,
        service.address,
        service.service_name,
        *(service.tags or ()),
        key,
    )
    for text in texts:
        digest.update(text.encode())
    return digest.digest()
