"""What every entry of the log is."""

from __future__ import annotations

import msgspec

from yurt.model.wire import Nanoseconds


class EntryBase(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True, tag_field="_"
):
    """A change. Whoever proposes it chooses its times and ids; `apply` copies them.

    `at` is the proposer's time. Evaluations that a change gives rise to travel with it, so that
    neither can be lost without the other.
    """

    at: Nanoseconds
