"""Who may make a call of the internal listener: agents whose certificate names their role."""

from __future__ import annotations

from collections.abc import Collection

from yurt.api.call import Call
from yurt.api.errors import HttpError


def check_caller(call: Call, allowed: Collection[str]) -> None:
    """Refuse a caller whose certificate has none of the `allowed` names, if there are any.

    The certificate's chain was verified when the connection was made. Raises HttpError.
    """
    if allowed and not any(name in allowed for name in call.peer_names):
        raise HttpError(
            403,
            f"the certificate of {', '.join(call.peer_names) or 'nobody'} may not do this; "
            f"it takes one for {' or '.join(allowed)}",
        )
