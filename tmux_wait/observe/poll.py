"""Looking again and again: the ear that always works, and may miss what scrolls off."""

from __future__ import annotations

from tmux_wait.drive import Driver
from tmux_wait.observe.entry import Entry, Snapshot
from tmux_wait.observe.protocol import Ended, EndReason, Rows
from tmux_wait.tmux import Tmux


class Poll:
    """`Observer` that captures the pane every so often."""

    name = "poll"
    complete = False

    def __init__(self, driver: Driver, tmux: Tmux, snapshot: Snapshot) -> None:
        self.driver = driver
        self.tmux = tmux
        self.snapshot = snapshot

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        return self.snapshot.entry

    async def next(self, until: float | None) -> Rows | Ended | None:
        if self.entry.dead:
            return Ended(EndReason.CLOSED)
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""
