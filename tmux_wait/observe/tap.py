"""The tap: tmux writes what a pane writes into a FIFO of ours (``pipe-pane -I -O``).

It hears everything, also what scrolls off at once and the last words of a pane, on every tmux
from 3.1c on, and does not hold the pane back. A pane has one pipe: it is never taken from others.

``-I`` makes tmux read the pipe as well. Nothing is ever written to it, since the output of the
pipe's ``cat`` is our FIFO; but tmux notices at once, and not at the pane's next output, that
``cat`` has ended. So the tap is closed by ending its ``cat``: without a tmux client, without a
chance to close somebody else's pipe, and for a dead pane too, whose pipe 3.3a to 3.7c do not
close on command.
"""

from __future__ import annotations

from contextlib import suppress

from tmux_wait.drive import Driver
from tmux_wait.drive.blocking import poll_once
from tmux_wait.errors import PaneBusyError, PaneNotFoundError, TmuxWaitError
from tmux_wait.observe import taps
from tmux_wait.observe.ask import PaneState, ask_state, close_pipe
from tmux_wait.observe.ending import Ending, Step
from tmux_wait.observe.entry import Entry, Look, Snapshot
from tmux_wait.observe.fifo import Fifo
from tmux_wait.observe.protocol import Data, Ended, EndReason
from tmux_wait.observe.typing import CANNOT_TYPE, Typing, command_text
from tmux_wait.process import is_asleep
from tmux_wait.tmux import Tmux

MOST_BYTES = 256 * 1024  # of one event
# After an event of so many bytes more is let gather for so many seconds. A pipe holds 64 KiB, and
# tmux renders some 20 KiB in a millisecond.
FLOOD_BYTES = 2048
GATHER_TIME = 0.001
PROOF_TIME = 1.0  # seconds until a tap that has not proved itself open counts as deaf
LEAST_PROOF_TIME = 0.1  # seconds, even past the caller's deadline
CLOSE_TIME = 0.2  # seconds that a close waits for the pipe's processes at most
# A pipe is not opened over another, on a dead pane, or where typing would be refused.
NO_PIPE = "#{||:#{pane_pipe},#{pane_dead}}"
NO_TYPING = f"#{{||:#{{pane_pipe}},{CANNOT_TYPE}}}"


class Tap:
    """`Observer` over a pane's output pipe; `open` it, and `close` it always."""

    name = "tap"
    complete = True

    def __init__(self, driver: Driver, tmux: Tmux, pane: str) -> None:
        self.driver = driver
        self.tmux = tmux
        self.pane = pane
        self.snapshot: Snapshot | None = None
        self.let_go_of = False
        self.closing = False
        self._fifo = Fifo(pane.removeprefix("%"))
        self._ending: Ending | None = None
        self._unread = b""  # came together with the proof
        self._eof = False
        self._flooded = False
        self._end: Ended | None = None
        # Whether our pipe is there: None while the answer to the dispatch is not known.
        self._piped: bool | None = None
        self._closed = False
        taps.remember(self)

    @property
    def cut(self) -> Snapshot:
        """Return all that was seen at the cut."""
        assert self.snapshot is not None
        return self.snapshot

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        return self.cut.entry

    async def open(self, typing: Typing | None, until: float) -> Snapshot:
        """Make the cut; the snapshot says whether our pipe could be opened (not on a pipe).

        Raises what `Look.read` and `Tmux.run` raise. Whatever happens, `close` is still due.
        """
        command = ["pipe-pane", "-I", "-O", "-t", self.pane, self._fifo.shell_command()]
        guard = NO_TYPING if typing else NO_PIPE
        look = Look(self.pane, pipe=command_text(command), guard=guard, typing=typing)
        reply = await self.tmux.run(self.driver, look.commands(), until=until)
        try:
            self.snapshot = snapshot = look.read(reply)
        except (PaneBusyError, PaneNotFoundError):
            self._piped = False
            raise
        entry = snapshot.entry
        self._piped = not entry.piped and not entry.dead
        if entry.dead:
            self._end = Ended(EndReason.CLOSED)
        elif self._piped:
            self._ending = Ending(self.driver, entry)
        return snapshot

    async def proved(self, until: float) -> bool:
        """Wait until the pipe's shell has opened the FIFO; False: it does not."""
        now = self.driver.now()
        limit = max(min(until, now + PROOF_TIME), now + LEAST_PROOF_TIME)
        if self._end is None and not await self._hear_proof(limit):
            return False
        self._fifo.unlink()
        return True

    async def next(self, until: float | None) -> Data | Ended | None:
        """Return what the pane wrote next; see `Observer.next`."""
        if self._unread:
            unread, self._unread = self._unread, b""
            return Data(unread)
        while self._end is None:
            if self._eof:
                self._end = await self._why_it_ended(until)
                break
            assert self._ending is not None
            await self._gather(until)
            due = self._ending.due(until)
            ready = await self.driver.wait([self._fifo.fd, *self._ending.watched], due)
            if self._fifo.fd in ready:
                data = self._fifo.read(MOST_BYTES)
                self._eof = data == b""
                if data:
                    self._flooded = len(data) >= FLOOD_BYTES
                    self._ending.heard()
                    return Data(data)
            if ready:
                self._ending.note(ready)
            elif due is not None and due != until:
                await self._take_step(until)
            else:
                return None
        return self._end

    async def _gather(self, until: float | None) -> None:
        """Let a flood gather: a reader that takes each small piece slows the pane down."""
        if self._flooded:
            self._flooded = False
            pause = self.driver.now() + GATHER_TIME
            await self.driver.wait((), pause if until is None else min(pause, until))

    def let_go(self) -> None:
        """Say that `close` will come: the next tap on this pane waits for it."""
        self.let_go_of = True

    async def close(self) -> None:
        """End our pipe, if it is still there, and leave nothing; see `Observer.close`.

        If cancelled, calling it again does what is still to do.
        """
        if self._closed or self.closing:
            return
        self.closing = True
        try:
            with suppress(TmuxWaitError):
                await self._close_pipe()
            if self._ending is not None:
                self._ending.close()
            self._fifo.close()
            self._closed = True
            taps.forget(self)
        finally:
            self.closing = False

    async def _close_pipe(self) -> None:
        # A shell that has not opened the FIFO by now finds none, and ends, which tmux notices.
        self._fifo.unlink()
        if self._fifo.writer is None and self._piped is not False:
            # If the dispatch was given up, tmux may just have got it.
            patience = CLOSE_TIME if self._piped is None else 0
            await self._hear_proof(self.driver.now() + patience)
        if self._fifo.writer is None or self._is_over():
            return
        if not self._fifo.stop_writer():
            await self._close_through_tmux()
        await self._read_to_end()

    async def _close_through_tmux(self) -> bool:
        """Close a pipe whose `cat` is out of sight, in another PID namespace."""
        server = self.snapshot.entry.server_pid if self.snapshot else None
        pipe_pid = self.snapshot.pipe_pid if self.snapshot else None
        return await close_pipe(self.driver, self.tmux, self.pane, server, pipe_pid)

    async def _read_to_end(self) -> None:
        """Wait for the end of `cat`, so that no child of tmux's outlives the close."""
        limit = self.driver.now() + CLOSE_TIME
        while not self._is_over() and self.driver.now() < limit:
            await self.driver.wait([self._fifo.fd], limit)

    def _is_over(self) -> bool:
        """Say whether the pipe has no writer any more; what is unread is dropped."""
        while not self._eof:
            data = self._fifo.read(MOST_BYTES)
            self._eof = data == b""
            if data is None or len(data) == MOST_BYTES:  # a flood is not drained here
                break
        return self._eof

    async def _hear_proof(self, limit: float) -> bool:
        while True:
            ready = await self.driver.wait([self._fifo.fd], limit)
            data = self._fifo.read(MOST_BYTES) if ready else None
            if data:
                self._unread += data
                try:
                    rest = self._fifo.prove(self._unread)
                except ValueError:
                    return False
                if rest is not None:
                    self._unread = rest
                    return True
            if self.driver.now() >= limit:
                return False
            # Some systems call a FIFO without a writer readable before there was one.
            await self.driver.wait((), min(limit, self.driver.now() + 0.002))

    async def _take_step(self, until: float | None) -> None:
        """Do what is due about the end of the pane's process; nothing was readable just now."""
        ending = self._ending
        assert ending is not None
        if ending.step is Step.ASK:
            ending.judge(await self._ask(until))
        elif not self._has_passed_on_all():
            ending.again()
        elif self._fifo.stop_writer() or await self._close_through_tmux():
            ending.rest()
        else:  # out of sight, and tmux does not let go of it: that nothing comes has to do
            self._end = Ended(EndReason.CLOSED)

    def _has_passed_on_all(self) -> bool:
        """Say whether the pipe's `cat` waits for more than the dead pane has given.

        tmux calls a pane dead once all of it is written to the pipe. A `cat` that is asleep then,
        with an empty FIFO, has nothing left to read.
        """
        writer = self._fifo.writer
        return writer is not None and is_asleep(writer) and not poll_once([self._fifo.fd], 0)

    async def _why_it_ended(self, until: float | None) -> Ended:
        ending = self._ending
        assert ending is not None
        while not ending.gone:
            state = await self._ask(until)
            if ending.is_theft(state):
                return Ended(EndReason.STOLEN)
            ending.judge(state)
            if not ending.gone:
                await self.driver.wait((), ending.due(None))
        return Ended(EndReason.CLOSED)

    async def _ask(self, until: float | None) -> PaneState | None:
        server = self.entry.server_pid
        return await ask_state(self.driver, self.tmux, self.pane, server, until)
