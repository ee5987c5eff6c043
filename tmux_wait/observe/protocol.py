"""What every ear says, and how it is asked."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tmux_wait.observe.entry import Entry, Snapshot

if TYPE_CHECKING:
    from tmux_wait.stream import LineHit


class EndReason(enum.Enum):
    """Why nothing more will be heard."""

    CLOSED = "closed"  # pane killed, its process ended, or the server went
    # The pane lives, and this ear hears it no more:
    STOLEN = "stolen"  # somebody else closed or replaced our pipe
    DETACHED = "detached"  # our control client was made to leave, or fell too far behind
    MOVED = "moved"  # the pane left the session that our control client is attached to


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes that the pane wrote, in order, none left out."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Scanned:
    """Bytes that the pane wrote and that went through a scanner which was lent to the ear."""

    size: int  # bytes
    at: float  # when the last of them came (monotonic, seconds)
    text: bytes  # of the lines they completed, each with a line feed; the end of it, if it is long
    hits: Sequence[LineHit]  # in the last of them; the scanner tells the lines these complete


@dataclass(frozen=True, slots=True)
class Row:
    """One logical row (soft wraps joined) that is new or differs from the last look."""

    index: int  # history size + screen row of its first row, as tmux counted at the cut
    text: str
    new: bool  # below all that was written at the cut; False: it changed, or its line ended
    cursor: bool  # the cursor stands on it: unfinished


@dataclass(frozen=True, slots=True)
class Rows:
    """What one look found: rows from top to bottom."""

    rows: Sequence[Row]
    gap: bool  # rows may have been missed since the last look
    quiet: bool  # two looks in a row were equal


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event; everything heard was delivered before it."""

    reason: EndReason


class Observer(Protocol):
    """An ear on one pane; one reader at a time."""

    @property
    def name(self) -> str:
        """Return ``tap``, ``control`` or ``poll``."""
        ...

    @property
    def cut(self) -> Snapshot:
        """Return all that was seen at the cut."""
        ...

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        ...

    @property
    def complete(self) -> bool:
        """Return False once output may have been missed."""
        ...

    async def next(self, until: float | None) -> Data | Scanned | Rows | Ended | None:
        """Return what comes next; None: nothing came until ``until`` (monotonic, seconds).

        What was already there is returned even if ``until`` is past. If cancelled, nothing is
        lost: the next call returns it. After `Ended` comes `Ended` again.
        """
        ...

    def let_go(self) -> None:
        """Say that nobody listens any more and that `close` will come."""
        ...

    async def close(self) -> None:
        """Leave nothing behind. May be called at any time and again; raises nothing."""
        ...
