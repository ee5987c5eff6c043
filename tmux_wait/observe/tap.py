"""The tap: one wait's ear on a pane's output pipe, which it may share with other waits.

It hears everything, also what scrolls off at once and the last words of a pane, on every tmux
from 3.1c on, and does not hold the pane back. The first wait on a pane opens the pipe and looks,
in one step. A later one looks while the pipe goes on, and finds in the stream where it looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tmux_wait.drive import Driver
from tmux_wait.observe import taps
from tmux_wait.observe.ask import PaneState, ask_state
from tmux_wait.observe.cut import find_cut
from tmux_wait.observe.ending import Ending, Step
from tmux_wait.observe.entry import Entry, Look, Snapshot
from tmux_wait.observe.pipe import QUIET, Stage
from tmux_wait.observe.protocol import Data, Ended, EndReason, Scanned
from tmux_wait.observe.typing import CANNOT_TYPE, Typing
from tmux_wait.tmux import Tmux

if TYPE_CHECKING:
    from tmux_wait.observe.drain import Reader
    from tmux_wait.stream import LineScanner

# After an event of so many bytes more is let gather for so many seconds: crossing into Python for
# each small piece would cost more than what is done with it. Nobody waits: the drain reads on.
FLOOD_BYTES = 2048
GATHER_TIME = 0.005
# The place of a later wait's cut is looked for in so many bytes before it looked ...
RECALLED_BYTES = 16 * 1024
# ... and in so many, for so many seconds, after; again whenever they have grown by so much.
LOCATE_BYTES = 4 * 1024 * 1024
LOCATE_TIME = 0.3
LOCATE_GROWTH = 1.5
LOCATE_PAUSE = 0.002  # seconds
# How often a later wait that types nothing looks, until a place is found.
MOST_LOOKS = 3
# Openings of others that may come to nothing before this wait does without a pipe.
MOST_OPENINGS = 3
# Where it would type, a later wait does so only while the pipe is there.
NO_SHARING = f"#{{||:#{{==:#{{pane_pipe}},0}},{CANNOT_TYPE}}}"


class Tap:
    """`Observer` over a pane's output pipe; `open` it, and `close` it always."""

    name = "tap"
    complete = True

    def __init__(self, driver: Driver, tmux: Tmux, pane: str) -> None:
        """Raises OSError where no FIFO can be made."""
        self.driver = driver
        self.tmux = tmux
        self.pane = pane
        self.snapshot: Snapshot | None = None
        self._reader: Reader | None = None
        self._heard = 0  # bytes of the pipe's stream up to what is taken next
        self._unread = b""  # taken, and still to be told
        self._ending: Ending | None = None
        self._eof = False
        self._flooded = False
        self._located = False
        self._end: Ended | None = None
        self._pipe = taps.join(self)
        self.scanner: LineScanner | None = None
        """What a flood may go through while `next` waits: then `Scanned` comes instead of `Data`.

        It may be another, or none, for each call.
        """
        self._scanned: Scanned | None = None

    @property
    def cut(self) -> Snapshot:
        """Return all that was seen at the cut."""
        assert self.snapshot is not None
        return self.snapshot

    @property
    def entry(self) -> Entry:
        """Return the pane at the cut."""
        return self.cut.entry

    # -- the cut -----------------------------------------------------------------------------

    async def open(self, typing: Typing | None, until: float) -> Snapshot:
        """Make the cut; the snapshot says whether a pipe of ours is there (not on a pipe).

        Raises what `Look.read` and `Tmux.run` raise, and OSError where no FIFO can be made.
        Whatever happens, `close` is still due.
        """
        self.snapshot = await self._cut(typing, until)
        if self.entry.dead:
            self._end = Ended(EndReason.CLOSED)
        elif not self.entry.piped:
            self._ending = Ending(self.driver, self.entry)
        return self.snapshot

    async def proved(self, until: float) -> bool:
        """Wait until it is certain that all will be heard; False: it will not."""
        pipe = self._pipe
        if self._end is not None:
            return True
        if pipe.opener is not self:
            return self._located
        if await pipe.proved(self.driver, until):
            assert pipe.stream is not None
            self._reader = pipe.stream.reader()
        return self._reader is not None

    async def _cut(self, typing: Typing | None, until: float) -> Snapshot:
        for _ in range(MOST_OPENINGS):
            if self._pipe.opener is self:
                return await self._pipe.open(self.driver, typing, until)
            stage = await taps.settle(self.driver, self._pipe, until)
            if stage in (Stage.DEAF, Stage.OPENING):
                break
            snapshot = await self._share(typing, until) if stage is Stage.OPEN else None
            if snapshot is not None:
                return snapshot
            await self._change_pipe()
        # The cut of a wait that has no pipe.
        return _without_pipe(await self._look(Look(self.pane, typing=typing), until))

    async def _look(self, look: Look, until: float) -> Snapshot:
        return look.read(await self.tmux.run(self.driver, look.commands(), until=until))

    async def _share(self, typing: Typing | None, until: float) -> Snapshot | None:
        """Make the cut beside those who listen already; None: their pipe is no more."""
        pipe = self._pipe
        if pipe.stream is None or pipe.snapshot is None:
            return None
        self._reader = pipe.stream.reader()
        guard = NO_SHARING if typing else CANNOT_TYPE
        for _ in range(1 if typing else MOST_LOOKS):
            first, before = self._reader.recall(RECALLED_BYTES)
            self._heard = first + len(before)
            snapshot = await self._look(Look(self.pane, guard=guard, typing=typing), until)
            if snapshot.entry.dead:
                return _without_pipe(snapshot)
            if not snapshot.entry.piped:
                return None
            if not pipe.may_be(snapshot):
                break
            start = pipe.snapshot.entry if first == 0 else None
            if await self._locate(before, start, snapshot.entry):
                self._located = True
                return _without_pipe(snapshot)
        # What was typed must not be typed again; else the next ear makes a cut of its own.
        return _without_pipe(snapshot) if typing else snapshot

    async def _locate(self, before: bytes, start: Entry | None, screen: Entry) -> bool:
        """Find where in the stream ``screen`` was seen, and begin there."""
        assert self._reader is not None
        taken, tried = b"", -1.0
        now = since = self.driver.now()
        limit = now + LOCATE_TIME
        while True:
            data, self._eof = self._reader.take()
            self._heard += len(data)
            taken += data
            since = now if data else since
            passed = self._pipe.has_passed_on_all(self._heard, now - since)
            if passed and not taken:
                return True
            last = passed or self._eof or now >= limit or len(taken) > LOCATE_BYTES
            if last or len(taken) >= tried * LOCATE_GROWTH:
                stream, tried = before + taken, len(taken)
                at = find_cut(stream, len(before), start, screen)
                # Where nothing came behind the look, the pipe may have been stolen before it.
                if at is not None and (at < len(stream) or (last and not self._eof)):
                    self._unread = stream[at:]
                    return True
            if last:
                return False
            await self.driver.wait([] if data else [self._reader.fd], now + LOCATE_PAUSE)
            now = self.driver.now()

    async def _change_pipe(self) -> None:
        """Leave a pipe that came to nothing for the next one, which may have to be opened."""
        await self._leave()
        await taps.wait_for_closing(self.driver, self.tmux, self.pane)
        self._pipe = taps.join(self)

    # -- listening ---------------------------------------------------------------------------

    async def next(self, until: float | None) -> Data | Scanned | Ended | None:
        """Return what the pane wrote next; see `Observer.next`."""
        if self._unread:
            unread, self._unread = self._unread, b""
            return Data(unread)
        while self._end is None:
            if self._eof:
                self._end = await self._why_it_ended(until)
                break
            assert self._ending is not None
            assert self._reader is not None
            due = self._ending.due(until)
            ready = await self._wait([self._reader.fd, *self._ending.watched], due)
            if self._scanned is not None:
                scanned, self._scanned = self._scanned, None
                self._hear(scanned.size)
                return scanned
            if self._reader.fd in ready:
                data, self._eof = self._reader.take()
                if data:
                    self._hear(len(data))
                    return Data(data)
            if ready:
                self._ending.note(ready)
            elif due is not None and due != until:
                await self._take_step(until)
            else:
                return None
        return self._end

    def _hear(self, size: int) -> None:
        assert self._ending is not None
        self._heard += size
        self._flooded = size >= FLOOD_BYTES
        self._ending.heard()

    async def _wait(self, fds: Sequence[int], until: float | None) -> Sequence[int]:
        """Wait; let a flood gather meanwhile, or be scanned. What was scanned is kept."""
        reader, scanner = self._reader, self.scanner
        assert reader is not None
        if not self._flooded or self._scanned is not None:
            return await self.driver.wait(fds, until)
        if scanner is None:
            self._flooded = False
            pause = self.driver.now() + GATHER_TIME
            await self.driver.wait((), pause if until is None else min(pause, until))
            return await self.driver.wait(fds, until)
        reader.lend(scanner)
        try:
            return await self.driver.wait(fds, until)
        finally:
            self._scanned = reader.take_back()

    async def _take_step(self, until: float | None) -> None:
        """Do what is due about the end of the pane's process; nothing was readable just now."""
        ending = self._ending
        assert ending is not None
        if ending.step is Step.ASK:
            ending.judge(await self._ask(until))
        elif not self._pipe.has_passed_on_all(self._heard, QUIET):
            # tmux calls a pane dead once all of it is written to the pipe.
            ending.again()
        elif await self._pipe.stop(self.driver):
            ending.rest()
        else:  # out of sight, and tmux does not let go of it: that nothing comes has to do
            self._end = Ended(EndReason.CLOSED)

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

    # -- closing -----------------------------------------------------------------------------

    def let_go(self) -> None:
        """Say that `close` will come: the next tap on this pane waits for it, if it is the last."""
        taps.leave(self._pipe, self)

    async def close(self) -> None:
        """End our pipe, if nobody else uses it, and leave nothing; see `Observer.close`.

        If cancelled, calling it again does what is still to do.
        """
        if self._ending is not None:
            self._ending.close()
        await self._leave()

    async def _leave(self) -> None:
        taps.leave(self._pipe, self)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        await taps.close(self.driver, self._pipe)


def _without_pipe(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot that tells of no pipe: the one that is there is ours."""
    return replace(snapshot, entry=replace(snapshot.entry, piped=False))
