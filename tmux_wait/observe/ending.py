"""The end of a pane's process, as the tap follows it: what to do when, without doing it."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence

from tmux_wait.drive import Driver
from tmux_wait.drive.blocking import poll_once
from tmux_wait.observe.ask import PaneState
from tmux_wait.observe.entry import Entry
from tmux_wait.process import watch_process
from tmux_wait.tmux import parse_version

# Seconds. A closing pane ends the tap within GRACE, without asking; then tmux is asked again
# and again, less and less often. A dead pane has been read once nothing came for QUIET and its
# `cat` is not at work, which is looked at every WORKING.
GRACE = 0.03
LONGEST_PAUSE = 1.0
QUIET = 0.02
WORKING = 0.002
# Rounds of asking after the end of the pipe while tmux has not noticed the process's end yet.
MOST_ROUNDS = 8


def loses_last_words(server_version: str) -> bool:
    """Say whether this tmux, before 3.3, is known to close panes that it has not read to the end.

    3.1c does it to 1 in 60 to 120 panes, whoever listens; later ones only on a busy machine.
    """
    return parse_version(server_version) < (3, 3, "")


class Step(enum.Enum):
    """What is to be done when the time has come."""

    ASK = "ask tmux what became of the pane"
    STOP = "end the pipe of the dead pane, once it has passed on all"


class Ending:
    """Watches one pane's process; a respawned one takes its place."""

    def __init__(self, driver: Driver, entry: Entry) -> None:
        self._driver = driver
        self._server = entry.server_pid
        self._pid = 0
        self._fd: int | None = None
        self._pause = GRACE
        self._rounds = 0
        self._at: float | None = None
        self.step = Step.ASK
        self.gone = False  # the pane is gone or dead: the pipe's end is its end
        self._watch(entry.pane_pid)

    @property
    def watched(self) -> Sequence[int]:
        """Return the descriptors to wait for, beside the tap's own."""
        # Once it is readable it stays so: then the clock decides.
        return [] if self._fd is None or self._at is not None else [self._fd]

    @property
    def doubted(self) -> bool:
        """Whether the pane's process has ended or cannot be watched: tmux has to be asked."""
        return self._at is not None

    def due(self, until: float | None) -> float | None:
        """Return when something is to be done, at ``until`` at the latest."""
        if self._at is None or (until is not None and until <= self._at):
            return until
        return self._at

    def heard(self) -> None:
        """The pane wrote: a dead one is not empty yet."""
        if self.step is Step.STOP and self._at is not None:
            self._at = self._driver.now() + QUIET

    def note(self, ready: Sequence[int]) -> None:
        """Take in which descriptors are readable."""
        if self._fd in ready and self._at is None:
            self._ask_again(GRACE)

    def rest(self) -> None:
        """Nothing more is to be done: the end of the pipe comes by itself."""
        self._at = None
        self.gone = True
        self.close()

    def again(self) -> None:
        """The pipe of the dead pane is still at work."""
        self._at = self._driver.now() + WORKING

    def judge(self, state: PaneState | None) -> None:
        """Take in what tmux said of the pane."""
        self._rounds += 1
        if state is None:
            self.rest()
        elif state.dead:
            self.gone = True
            self.step = Step.STOP
            self._at = self._driver.now() + QUIET
        elif state.pid == 0 and self._rounds >= MOST_ROUNDS:
            self.rest()
        elif state.pid not in (0, self._pid):
            self._watch(state.pid)
        else:
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            self._ask_again(self._pause)

    def is_theft(self, state: PaneState | None) -> bool:
        """Say, after the end of the pipe, whether the pane lives on without it.

        tmux may not have noticed yet that the process has ended; for some rounds that is believed.
        """
        if state is None or state.dead or state.pid == 0:
            return False
        noticed = state.pid != self._pid or self._rounds >= MOST_ROUNDS
        return noticed or self._fd is None or not poll_once([self._fd], 0)

    def close(self) -> None:
        """Stop watching."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _watch(self, pid: int) -> None:
        self.close()
        self._pid = pid
        self._fd = watch_process(pid, self._server)
        self._pause = GRACE
        self._rounds = 0
        self._at = None
        if self._fd is None:  # cannot be watched, or has ended already: ask
            self._ask_again(GRACE)

    def _ask_again(self, pause: float) -> None:
        self.step = Step.ASK
        self._at = self._driver.now() + pause
