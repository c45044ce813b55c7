"""Why a login fails."""

from __future__ import annotations

from yurt.errors import YurtError


class LoginRefused(YurtError):
    """Nobody vouches for the caller, or not in a way that counts. The text holds no token and no secret."""


class ProviderUnreachable(YurtError):
    """Those who vouch cannot be asked, or answer nonsense."""
