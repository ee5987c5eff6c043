"""Runs a wait for text: opens an ear, tells the machine what it hears, leaves nothing behind."""

from __future__ import annotations

from tmux_wait.cells import up_to_cell
from tmux_wait.drive import Driver
from tmux_wait.echo import LedgerBook
from tmux_wait.errors import NoServerError, PaneNotFoundError, TmuxWaitError
from tmux_wait.observe import Data, Ended, EndReason, Observer, Rows, Scanned
from tmux_wait.observe.ask import lives_on
from tmux_wait.observe.choose import look, open_observer
from tmux_wait.observe.ending import loses_last_words
from tmux_wait.observe.entry import Entry
from tmux_wait.observe.looks import Looks
from tmux_wait.observe.poll import MOST_LOOKBACK
from tmux_wait.observe.tap import Tap
from tmux_wait.observe.width import TerminalWidth
from tmux_wait.results import WaitResult
from tmux_wait.tmux import PATIENCE, Tmux
from tmux_wait.waits.request import TextRequest
from tmux_wait.waits.text import Asked, TextWait

# What must not be used again on a pane in this wait, by how an ear on it ended. Somebody who took
# our pipe, or made our client leave, has it their way: another tap would break their toggle.
UNUSABLE_AFTER = {
    EndReason.STOLEN: {"tap"},
    EndReason.DETACHED: {"control"},
    EndReason.MOVED: set[str](),
}
# Ears opened after the first one before only looking is left: each is a disturbance by somebody.
MOST_OPENINGS = 20


class TextRun:
    """One wait for text on one pane; ``run`` it once, over either driver."""

    def __init__(
        self, driver: Driver, tmux: Tmux, request: TextRequest, book: LedgerBook, backend: str
    ) -> None:
        self._driver = driver
        self._tmux = tmux
        self._request = request
        self._book = book
        self._backend = backend
        self._started = driver.now()
        self._wait: TextWait | None = None
        self._observer: Observer | None = None
        # Ears that must not be used on this pane when the first one has ended.
        self._avoid = {"tap"} if backend == "control" else set()
        self._openings = 0
        self._width: TerminalWidth | None = None

    async def run(self) -> WaitResult:
        """Wait and return how it ended.

        If cancelled, the ear is closed behind it, as it is after an answer or an error.
        """
        try:
            if self._request.seconds == 0:
                return await self._look()
            return await self._listen()
        finally:
            self._let_go()

    def cancelled(self) -> WaitResult:
        """Return the result of a wait that was cancelled because its server object closed."""
        wait = self._wait or TextWait(self._asked(), self._book.blank())
        wait.cancelled(self._driver.now())
        assert wait.result is not None
        return wait.result

    async def _look(self) -> WaitResult:
        """Judge the screen once; no ear is opened."""
        entry = await look(
            self._driver, self._tmux, self._request.target,
            typing=self._request.typing, until=self._until(),
        )  # fmt: skip
        wait = self._begin(entry)
        wait.time(self._driver.now())
        assert wait.result is not None
        return wait.result

    async def _listen(self) -> WaitResult:
        self._observer = await open_observer(
            self._driver, self._tmux, self._request.target, backend=self._backend,
            typing=self._request.typing, until=self._until(),
        )  # fmt: skip
        wait = self._begin(self._observer.entry)
        if wait.result is None:
            wait.listen(self._observer.name, self._observer.entry)
            self._width = TerminalWidth(self._driver, self._tmux, self._observer.entry)
        while wait.result is None:
            if isinstance(self._observer, Tap):
                self._observer.scanner = wait.lend()
            try:
                event = await self._observer.next(wait.wakeup)
            except NoServerError:  # its socket was removed: nobody can be asked any more
                wait.lost(self._driver.now())
                break
            now = self._driver.now()
            wait.complete = wait.complete and self._observer.complete
            if isinstance(event, Data):
                await self._follow_width(wait)
                wait.data(event.data, now)
            elif isinstance(event, Scanned):
                wait.scanned(event, now)
                await self._follow_width(wait)
            elif isinstance(event, Rows):
                wait.rows(event.rows, now, quiet=event.quiet)
            elif isinstance(event, Ended):
                await self._ended(wait, event.reason)
            wait.time(now)
        assert wait.result is not None
        return wait.result

    async def _follow_width(self, wait: TextWait) -> None:
        """Tell the machine how wide the pane is, if that has changed."""
        if self._width is not None and await self._width.changed():
            wait.resize(self._width.cells)

    def _begin(self, entry: Entry) -> TextWait:
        """Start the machine with the entry; then note what was typed behind the cut."""
        ledger = self._book.of(entry.server_pid, entry.pane)
        wait = self._wait = TextWait(self._asked(), ledger)
        wait.entry(entry, self._driver.now())
        typing = self._request.typing
        if typing is not None and typing.text is not None:
            row = entry.rows[entry.cursor_row] if entry.cursor_row < len(entry.rows) else ""
            ledger.submit(up_to_cell(row, entry.cursor_cell).encode(), typing.text)
        return wait

    async def _ended(self, wait: TextWait, reason: EndReason) -> None:
        """The ear ended: with its pane, or the pane lives and the next ear takes over."""
        ear = self._observer
        assert ear is not None
        if reason is EndReason.CLOSED:
            if loses_last_words(ear.entry.server_version):
                wait.complete = False
            wait.closed(self._driver.now())
            return
        wait.complete = False
        self._let_go()
        self._avoid |= UNUSABLE_AFTER[reason]
        server = ear.entry.server_pid
        try:
            self._observer = await self._open_next(wait.pane)
            closed = self._observer.entry.server_pid != server
        except TmuxWaitError as failure:
            closed = isinstance(failure, PaneNotFoundError) or (
                isinstance(failure, NoServerError) and not await lives_on(self._driver, server)
            )
        if closed:
            wait.closed(self._driver.now())
        elif self._observer is None:
            wait.lost(self._driver.now())
        else:
            between = Looks(ear.cut).compare(self._observer.cut)
            wait.gap(between.rows, self._driver.now())
            # Not only behind the answer: tmux keeps all that a pane writes for a control client
            # in a session that the pane has left.
            await ear.close()
            if wait.result is None:
                wait.listen(self._observer.name, self._observer.entry)
                self._width = TerminalWidth(self._driver, self._tmux, self._observer.entry)

    async def _open_next(self, pane: str) -> Observer:
        """Open another ear on a pane that lives; what it shows since the cut is in its cut."""
        self._openings += 1
        if self._openings > MOST_OPENINGS:
            self._avoid |= {"tap", "control"}
        return await open_observer(
            self._driver, self._tmux, pane, avoid=self._avoid, lookback=MOST_LOOKBACK,
            until=self._until(),
        )  # fmt: skip

    def _let_go(self) -> None:
        """Close the ear, after the answer where that is possible."""
        if self._observer is not None:
            self._observer.let_go()
            self._driver.later(self._observer.close)
            self._observer = None

    def _asked(self) -> Asked:
        request = self._request
        return Asked(
            patterns=request.patterns,
            started=self._started,
            deadline=None if request.seconds is None else self._started + request.seconds,
            fresh=request.fresh,
            accept_pending=request.accept_pending,
        )

    def _until(self) -> float:
        """Return until when tmux should have answered (monotonic, seconds)."""
        deadline = self._asked().deadline
        return self._driver.now() + PATIENCE if deadline is None else deadline
