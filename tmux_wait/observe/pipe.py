"""A pane's pipe: tmux writes what the pane writes into a FIFO of ours (``pipe-pane -I -O``).

A pane has one pipe, so all waits of this process on it share ours. It is never taken from others.

``-I`` makes tmux read the pipe as well. Nothing is ever written to it, since the output of the
pipe's ``cat`` is our FIFO; but tmux notices at once, and not at the pane's next output, that
``cat`` has ended. So the pipe is closed by ending its ``cat``: without a tmux client, without a
chance to close somebody else's pipe, and for a dead pane too, whose pipe 3.3a to 3.7c do not
close on command.
"""

from __future__ import annotations

import enum
from contextlib import suppress
from typing import TYPE_CHECKING

from tmux_wait.drive import Driver
from tmux_wait.drive.blocking import BlockingDriver, poll_once
from tmux_wait.errors import PaneBusyError, PaneNotFoundError, TmuxWaitError
from tmux_wait.observe.ask import close_pipe
from tmux_wait.observe.entry import Look, Snapshot
from tmux_wait.observe.fifo import Fifo
from tmux_wait.observe.typing import CANNOT_TYPE, Typing, command_text
from tmux_wait.process import is_asleep, started_at
from tmux_wait.tmux import Tmux

if TYPE_CHECKING:
    from tmux_wait.observe.drain import Stream
    from tmux_wait.observe.tap import Tap

PROOF_TIME = 1.0  # seconds until a pipe that has not proved itself open counts as deaf
LEAST_PROOF_TIME = 0.1  # seconds, even past the caller's deadline
# Seconds that a close waits at most for a shell that may be about to open the FIFO, and for the end
# of one that did.
LATE_TIME = 0.2
END_TIME = 1.0
MOST_BYTES = 64 * 1024  # of one read here
# Seconds without output after which all has come, where the system does not say more.
QUIET = 0.02
# A pipe is not opened over another, on a dead pane, or where typing would be refused.
NO_PIPE = "#{||:#{pane_pipe},#{pane_dead}}"
NO_TYPING = f"#{{||:#{{pane_pipe}},{CANNOT_TYPE}}}"


class Stage(enum.Enum):
    """How far a pipe is, for those who would share it."""

    OPENING = "opening"
    OPEN = "open"
    DEAF = "deaf"  # its shell cannot reach our FIFO
    FAILED = "failed"  # not opened: the pane is dead or has a pipe, or the opener gave up


class Pipe:
    """The pipe of one pane; `open` it, and `close` it when it has no users any more."""

    def __init__(self, tmux: Tmux, pane: str) -> None:
        """Raises OSError where no FIFO can be made."""
        self.tmux = tmux
        self.pane = pane
        self.stage = Stage.OPENING
        self.opener: Tap | None = None
        self.users: set[Tap] = set()
        self.snapshot: Snapshot | None = None  # as it was opened: where the stream begins
        self.stream: Stream | None = None
        self.fifo = Fifo(pane.removeprefix("%"))
        self.closing = False
        self.closed = False
        # Whether our pipe is there: None while the answer to the dispatch is not known.
        self._piped: bool | None = None
        self._first = b""  # came together with the proof
        self._eof = False
        self._driver: Driver | None = None  # of a close that no user asked for

    # -- opening ---------------------------------------------------------------------------------

    async def open(self, driver: Driver, typing: Typing | None, until: float) -> Snapshot:
        """Open it and look, in one step; the snapshot says whether it could be opened.

        Raises what `Look.read` and `Tmux.run` raise.
        """
        command = ["pipe-pane", "-I", "-O", "-t", self.pane, self.fifo.shell_command()]
        guard = NO_TYPING if typing else NO_PIPE
        look = Look(self.pane, pipe=command_text(command), guard=guard, typing=typing)
        reply = await self.tmux.run(driver, look.commands(), until=until)
        try:
            self.snapshot = look.read(reply)
        except (PaneBusyError, PaneNotFoundError):
            self._piped = False
            raise
        entry = self.snapshot.entry
        self._piped = not entry.piped and not entry.dead
        if not self._piped:
            self.stage = Stage.FAILED
        return self.snapshot

    async def proved(self, driver: Driver, until: float) -> bool:
        """Wait until the pipe's shell has opened the FIFO, then read it; False: it does not."""
        now = driver.now()
        limit = max(min(until, now + PROOF_TIME), now + LEAST_PROOF_TIME)
        if not await self._hear_proof(driver, limit):
            self.stage = Stage.DEAF
            return False
        from tmux_wait.observe.drain import Stream

        self.fifo.unlink()
        try:
            self.stream = Stream(self.fifo.fd, self._first)
        except OSError:  # no memory, or no thread: nobody would read it
            self.stage = Stage.DEAF
            return False
        self.stage = Stage.OPEN
        return True

    async def _hear_proof(self, driver: Driver, limit: float) -> bool:
        while True:
            ready = await driver.wait([self.fifo.fd], limit)
            data = self.fifo.read(MOST_BYTES) if ready else None
            if data:
                self._first += data
                try:
                    rest = self.fifo.prove(self._first)
                except ValueError:
                    return False
                if rest is not None:
                    self._first = rest
                    return True
            if driver.now() >= limit:
                return False
            # Some systems call a FIFO without a writer readable before there was one.
            await driver.wait((), min(limit, driver.now() + 0.002))

    # -- while it is open ------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the stream is at its end: the pane is gone, or the pipe is not ours any more."""
        return self.stream is None or self.stream.state().ended

    def may_be(self, snapshot: Snapshot) -> bool:
        """Say whether the pipe of a pane as it was seen later may be this one.

        Where tmux does not tell one pipe from another, the stream's end will.
        """
        if self.snapshot is None or snapshot.entry.server_pid != self.snapshot.entry.server_pid:
            return False
        return snapshot.pipe_pid in (None, self.fifo.writer)

    def has_passed_on_all(self, heard: int, quiet: float) -> bool:
        """Say whether ``heard`` bytes are all that tmux had written into the pipe just before.

        A ``cat`` that is asleep while the FIFO is empty has read all there was. ``quiet`` is for
        how many seconds nothing has come; that has to do where the system does not tell who sleeps.
        """
        writer = self.fifo.writer
        if self.stream is None or writer is None or not is_asleep(writer):
            return False
        if poll_once([self.fifo.fd], 0):
            return False
        state = self.stream.state()
        if state.reading or state.head != heard:
            return False
        return started_at(writer) is not None or quiet >= QUIET

    async def stop(self, driver: Driver) -> bool:
        """End the pipe's ``cat``; False: it is out of sight, and tmux does not let go of it."""
        if self.stream is not None and self.ended:
            return True
        return self.fifo.stop_writer() or await self._close_through_tmux(driver)

    # -- closing ---------------------------------------------------------------------------------

    def give_to(self, driver: Driver) -> None:
        """Let ``driver`` close it, whoever began to, and whoever still uses it."""
        self.users.clear()
        self.closing = False
        self._driver = driver

    async def close(self, driver: Driver | None = None) -> None:
        """End our pipe, if it is still there, and leave nothing; not while somebody uses it.

        If cancelled, calling it again does what is still to do.
        """
        driver = self._driver or driver or BlockingDriver()
        if self.users or self.closed or self.closing:
            return
        self.closing = True
        try:
            if self.stream is not None:
                self.stream.close()
                self.stream = None
            with suppress(TmuxWaitError):
                await self._close_pipe(driver)
            self.fifo.close()
            self.closed = True
        finally:
            self.closing = False

    def abandon(self) -> None:
        """This is a forked child: the pipe is its parent's, who must not lack a reader unseen."""
        self.closed = True
        self.fifo.abandon()

    async def _close_pipe(self, driver: Driver) -> None:
        # A shell that has not opened the FIFO by now finds none, and ends, which tmux notices.
        self.fifo.unlink()
        if self.fifo.writer is None and self._piped is not False:
            # If the dispatch was given up, tmux may just have got it.
            patience = LATE_TIME if self._piped is None else 0
            await self._hear_proof(driver, driver.now() + patience)
        if self.fifo.writer is None or self._is_over():
            return
        await self.stop(driver)
        await self._read_to_end(driver)

    async def _close_through_tmux(self, driver: Driver) -> bool:
        """Close a pipe whose ``cat`` is out of sight, in another PID namespace."""
        server = self.snapshot.entry.server_pid if self.snapshot else None
        pipe_pid = self.snapshot.pipe_pid if self.snapshot else None
        return await close_pipe(driver, self.tmux, self.pane, server, pipe_pid)

    async def _read_to_end(self, driver: Driver) -> None:
        """Wait for the end of ``cat``, so that no child of tmux's outlives the close."""
        limit = driver.now() + END_TIME
        while not self._is_over() and driver.now() < limit:
            await driver.wait([self.fifo.fd], limit)

    def _is_over(self) -> bool:
        """Say whether the pipe has no writer any more; what is unread is dropped."""
        while not self._eof:
            data = self.fifo.read(MOST_BYTES)
            self._eof = data == b""
            if data is None or len(data) == MOST_BYTES:  # a flood is not drained here
                break
        return self._eof
