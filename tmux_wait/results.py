"""How a wait ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

BACKENDS = ("auto", "tap", "control", "poll")
"""What may be asked for as the ear of a wait."""


class WaitOutcome(Enum):
    """Why a wait returned."""

    MATCHED = "matched"
    """The pane wrote a wanted pattern."""
    STOPPED = "stopped"
    """The pane wrote a stop pattern first."""
    DEADLINE = "deadline"
    """The time was up."""
    PANE_CLOSED = "pane_closed"
    """The pane went, after everything that it wrote had been judged."""
    STREAM_LOST = "stream_lost"
    """The pane lives, but nothing can be heard from it any more."""
    PRESENT_AT_ENTRY = "present_at_entry"
    """A wanted pattern stood on a finished row when the wait began."""
    PENDING = "pending"
    """A wanted pattern stands on the cursor's own line only: typed, not written."""
    CANCELLED = "cancelled"
    """The server object was closed during the wait."""


@dataclass(slots=True, frozen=True)
class WaitResult:
    """What a wait for text found."""

    outcome: WaitOutcome
    pane: str
    """The pane's id, ``%N``, whatever target was asked for."""
    matched_index: int | None
    """Place of the pattern in its own list: ``stop`` if stopped, ``patterns`` otherwise."""
    matched_pattern: str | None
    matched_line: str | None
    """The whole logical line that holds the match (its last line, if it spans several)."""
    matched_lines: tuple[str, ...]
    """All lines that the match touches, in order."""
    text: str
    """What the pane wrote (its last 256 KiB), or the screen where the screen decided."""
    bytes: int
    """Number of bytes heard from the pane during the wait."""
    elapsed: float
    """Seconds from the call to the decision."""
    backend: str
    """The (last) ear: ``tap``, ``control``, ``poll``, or ``none`` if one look was enough."""
    complete: bool
    """False: output may have been missed."""
    entry_match: str | None
    """A finished row that held a wanted pattern at entry."""
    entry_stop: str | None
    """A row that held a stop pattern at entry; it does not end a wait."""
    saw_output: bool
    """Whether the pane wrote anything visible besides the echo of our own typing."""
    alternate_screen: bool
    """Whether the pane was on the alternate screen at any time during the wait."""
