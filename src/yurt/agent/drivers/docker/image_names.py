"""Names of images, taken apart."""

from __future__ import annotations

import msgspec

DOCKER_HUB = "https://index.docker.io/v1/"
LATEST = "latest"


class ImageName(msgspec.Struct, frozen=True):
    """A repository with a tag or, instead, a digest."""

    repository: str
    tag: str
    digest: str = ""

    @property
    def registry(self) -> str:
        """Where the image comes from, as credentials are filed."""
        host, slash, _ = self.repository.partition("/")
        is_host = bool(slash) and ("." in host or ":" in host or host == "localhost")
        return host if is_host else DOCKER_HUB

    @property
    def moves(self) -> bool:
        """Whether the name may mean another image tomorrow, so that one at hand will not do."""
        return not self.digest and self.tag == LATEST

    def __str__(self) -> str:
        return f"{self.repository}@{self.digest}" if self.digest else f"{self.repository}:{self.tag}"


def parse_image_name(text: str) -> ImageName:
    """Read a name as job files have it; without a tag or digest it is the latest."""
    name = text.removeprefix("https://")
    repository, at, digest = name.partition("@")
    before, colon, tag = repository.rpartition(":")
    if not colon or "/" in tag:  # the colon of a port, or none
        before, tag = repository, LATEST
    return ImageName(before, "" if at else tag, digest)
