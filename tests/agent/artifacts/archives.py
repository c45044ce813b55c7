"""Archives, good and bad ones, for tests."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable


def a_tar(*entries: Callable[[tarfile.TarFile], None], mode: str = "w") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for add in entries:
            add(archive)
    return made.getvalue()


def file(name: str, content: bytes = b"hello", mode: int = 0o644) -> Callable[[tarfile.TarFile], None]:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(content), mode
        archive.addfile(info, io.BytesIO(content))

    return add


def special(name: str, kind: bytes, to: str = "") -> Callable[[tarfile.TarFile], None]:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.mode = kind, to, 0o755
        archive.addfile(info)

    return add


def a_zip(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def a_zip_entry(name: str, content: bytes, mode: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, content)
    return made.getvalue()
