"""What each exit status means."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Exit statuses that every subcommand shares; a signal adds its number to ``SIGNAL``."""

    OK = 0  # matched, already present, or an accepted pending
    ERROR = 1
    USAGE = 2
    STOPPED = 3
    PANE_CLOSED = 4
    STREAM_LOST = 5
    PENDING = 6
    DEADLINE = 124  # as timeout(1)
    SIGNAL = 128
