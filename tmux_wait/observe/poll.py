"""Looking again and again: the ear that always works, and may miss what scrolls off.

One tmux client a look, and one look more when the caller's time has come. It sees rows, not bytes,
and what has scrolled off only as far as the history still holds it: ``complete`` is False from the
start.
"""

from __future__ import annotations

import os

from tmux_wait.drive import Driver
from tmux_wait.errors import NoServerError, PaneNotFoundError
from tmux_wait.observe.ask import lives_on
from tmux_wait.observe.entry import LOOKBACK, Entry, Look, Snapshot
from tmux_wait.observe.looks import Looks
from tmux_wait.observe.protocol import Ended, EndReason, Rows
from tmux_wait.process import watch_process
from tmux_wait.tmux import Tmux

# Seconds between looks: while something comes, and after LONG_QUIET seconds in which nothing did.
INTERVAL = 0.12
SLOW_INTERVAL = 0.3
LONG_QUIET = 5.0
# History rows of one look: as many as came last time, and room for more; at most so many.
ROOM = 50
MOST_LOOKBACK = 1000


class Poll:
    """`Observer` that captures the pane every so often."""

    name = "poll"
    complete = False

    def __init__(self, driver: Driver, tmux: Tmux, cut: Snapshot) -> None:
        self.driver = driver
        self.tmux = tmux
        self.cut = cut
        self._looks = Looks(cut)
        self._lookback = ROOM
        self._end: Ended | None = Ended(EndReason.CLOSED) if cut.entry.dead else None
        self._quiet_since: float | None = None
        self._next_look = driver.now() + INTERVAL
        self._history = cut.entry.history_size
        self._process: int | None = None
        self._pid = 0
        self._watch(cut.entry.pane_pid)

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        return self.cut.entry

    async def next(self, until: float | None) -> Rows | Ended | None:
        """Return the rows that the next look finds new or changed; see `Observer.next`."""
        while self._end is None:
            due = self._next_look if until is None else min(until, self._next_look)
            watched = [] if self._process is None else [self._process]
            ended = await self.driver.wait(watched, due)
            if ended:
                self._unwatch()  # look at once
            look = await self._look(until)
            if look is None:
                self._end = Ended(EndReason.CLOSED)
                self._unwatch()
                break
            found = self._take_in(look)
            if found is not None:
                return found
            if until is not None and self.driver.now() >= until:
                return None
        return self._end

    def let_go(self) -> None:
        """Nobody else needs to know."""

    async def close(self) -> None:
        """Nothing is open but the descriptor that hears the process end."""
        self._end = self._end or Ended(EndReason.CLOSED)
        self._unwatch()

    async def _look(self, until: float | None) -> Snapshot | None:
        """Look once, far enough back to leave out nothing; None: the pane is gone."""
        look = await self._look_back(self._lookback, until)
        if look is not None and (missing := self._looks.unseen(look)):
            more = min(MOST_LOOKBACK, self._lookback + missing + ROOM)
            look = await self._look_back(more, until) if more > self._lookback else look
        return look

    async def _look_back(self, lookback: int, until: float | None) -> Snapshot | None:
        question = Look(self.entry.pane, lookback=lookback)
        limit = self.driver.now() + self.tmux.patience if until is None else until
        try:
            reply = await self.tmux.run(self.driver, question.commands(), until=limit)
            look = question.read(reply)
        except PaneNotFoundError:
            return None
        except NoServerError:
            if await lives_on(self.driver, self.entry.server_pid):
                raise
            return None
        return look if look.entry.server_pid == self.entry.server_pid else None

    def _take_in(self, look: Snapshot) -> Rows | None:
        """Compare with the look before; None: nothing to tell."""
        now = self.driver.now()
        found = self._looks.compare(look)
        grown = max(0, look.entry.history_size - self._history)
        self._history = look.entry.history_size
        self._lookback = min(MOST_LOOKBACK, max(LOOKBACK, 2 * grown) + ROOM)
        if look.entry.dead:
            self._end = Ended(EndReason.CLOSED)
        elif look.entry.pane_pid not in (0, self._pid):
            self._watch(look.entry.pane_pid)
        first_quiet = found.quiet and self._quiet_since is None
        self._quiet_since = (self._quiet_since or now) if found.quiet else None
        slow = self._quiet_since is not None and now - self._quiet_since > LONG_QUIET
        self._next_look = now + (SLOW_INTERVAL if slow else INTERVAL)
        return found if found.rows or found.gap or first_quiet else None

    def _watch(self, pid: int) -> None:
        self._unwatch()
        self._pid = pid
        self._process = watch_process(pid, self.entry.server_pid) if self._end is None else None

    def _unwatch(self) -> None:
        if self._process is not None:
            os.close(self._process)
            self._process = None
