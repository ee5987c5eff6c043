"""The logic of a wait for text: no I/O, no clock.

A ``TextWait`` is told what was heard and what time it is; ``result`` is set once it has decided,
and ``wakeup`` says until when it can be left alone. Every rule is in "What a wait for text
means" of the design.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tmux_wait.echo import Ledger
from tmux_wait.patterns import PatternSet
from tmux_wait.results import WaitOutcome, WaitResult
from tmux_wait.waits.hits import TEXT_KEPT, Hit
from tmux_wait.waits.screen_rows import EntryJudge, RowJudge
from tmux_wait.waits.stream import StreamJudge

if TYPE_CHECKING:
    from tmux_wait.observe import Row, Scanned
    from tmux_wait.observe.entry import Entry
    from tmux_wait.stream import LineScanner

QUIET = 0.050
"""Seconds without output after which what stands on an unfinished line counts."""
LINE_QUIET = 0.020
"""Seconds without output after which a line that holds a hit is taken as whole."""
LINE_MOST = 0.050
"""Seconds that an answer waits at most for the rest of its line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a wait was asked for; ``deadline`` is a monotonic time in seconds, or None."""

    patterns: PatternSet
    started: float
    deadline: float | None
    fresh: bool = False
    accept_pending: bool = False


class TextWait:
    """One wait for text."""

    def __init__(self, asked: Asked, ledger: Ledger) -> None:
        self._asked = asked
        self._ledger = ledger
        self._entry: Entry | None = None
        self._at_entry: EntryJudge | None = None
        self._stream: StreamJudge | None = None
        self._rows: RowJudge | None = None
        self._past: list[StreamJudge | RowJudge] = []  # of the ears before
        self._shown: RowJudge | None = None  # the screen between two ears, until more comes
        self._hit: Hit | None = None
        self._answer_by = math.inf  # the hit's line is taken as whole then
        self._answer_at_most = math.inf
        self._quiet_at = math.inf
        self.backend = "none"
        self.complete = True
        self.result: WaitResult | None = None

    @property
    def pane(self) -> str:
        """The pane's id, once its entry was taken."""
        return self._entry.pane if self._entry is not None else ""

    # -- what can happen ---------------------------------------------------------------------

    def entry(self, entry: Entry, now: float) -> None:
        """Take the screen at the cut."""
        asked = self._asked
        self._entry = entry
        judge = self._at_entry = EntryJudge(asked.patterns, self._ledger, entry)
        if asked.fresh:
            pass
        elif judge.finished is not None:
            self._decide(WaitOutcome.PRESENT_AT_ENTRY, now, judge.finished, screen=True)
        elif judge.on_cursor_row is not None:
            accepted = WaitOutcome.PRESENT_AT_ENTRY if asked.accept_pending else None
            outcome = accepted or WaitOutcome.PENDING
            self._decide(outcome, now, judge.on_cursor_row, screen=True)
        if self.result is None and entry.dead:
            self._decide(WaitOutcome.PANE_CLOSED, now, screen=True)

    def listen(self, backend: str, entry: Entry) -> None:
        """Go on with what an ear of this name hears after its cut, ``entry``.

        May be called again with the next ear, after `gap`.
        """
        self.backend = backend
        if backend == "poll":
            self.complete = False
            self._rows = RowJudge(self._asked.patterns, self._ledger, entry)
            return
        self._stream = StreamJudge(self._asked.patterns, self._ledger, width=entry.width)
        row = entry.rows[entry.cursor_row] if entry.cursor_row < len(entry.rows) else ""
        self._stream.seed(row.encode(), entry.cursor_cell)

    def data(self, data: bytes, now: float) -> None:
        """Take bytes that the pane wrote."""
        if self.result is not None:
            return
        assert self._stream is not None
        self._shown = None
        if self._hit is None:
            self._heard(self._stream.feed(data), now)
            self._quiet_at = now + QUIET if self._stream.unsettled else math.inf
            return
        line = self._stream.follow(data, self._hit.version)
        if line is not None:
            self._answer(now, line)
        else:
            self._answer_by = min(now + LINE_QUIET, self._answer_at_most)

    def lend(self) -> LineScanner | None:
        """Return the scanner that whoever hears the pane may feed until the next call; or None."""
        if self._stream is None or self._hit is not None or self.result is not None:
            return None
        return self._stream.lend()

    def scanned(self, scanned: Scanned, now: float) -> None:
        """Take what went through the scanner that was lent."""
        if self.result is not None:
            return
        assert self._stream is not None
        self._shown = None
        hit = self._stream.scanned(scanned.size, scanned.text, list(scanned.hits))
        self._heard(hit, now)
        self._quiet_at = scanned.at + QUIET if self._stream.unsettled else math.inf

    def resize(self, width: int) -> None:
        """The pane is ``width`` cells wide from now on."""
        if self._stream is not None:
            self._stream.resize(width)

    def rows(self, rows: Sequence[Row], now: float, *, quiet: bool) -> None:
        """Take rows that were seen to be new or changed.

        The poll ear sees nothing else; from an ear of bytes it is the pane's last screen, which
        may show what was not heard.
        """
        if self.result is not None or self._hit is not None:
            return
        if self._rows is None:
            self._judge_screen(rows, now)
            return
        self._shown = None if rows else self._shown
        hit = self._rows.feed(rows)
        if hit is None and quiet:
            hit = self._rows.quiet()
        if hit is not None:
            self._decide_hit(hit, now)

    def time(self, now: float) -> None:
        """Take the time: quiet moments and the deadline."""
        if self.result is not None:
            return
        if self._hit is not None:
            if now >= self._answer_by:
                self._answer(now, None)
            return
        if now >= self._quiet_at:
            self._quiet_at = math.inf
            judge = self._shown or self._stream
            hit = judge.quiet() if judge is not None else None
            if hit is not None:
                self._decide_hit(hit, now)
                return
        if self._asked.deadline is not None and now >= self._asked.deadline:
            self._end(WaitOutcome.DEADLINE, now)

    def gap(self, rows: Sequence[Row], now: float) -> None:
        """Take what the pane shows that was written since the cut: the ear was lost.

        What came and scrolled off before the next ear opened is not known.
        """
        self.complete = False
        if self.result is not None:
            return
        if self._hit is not None:
            self._answer(now, None)
            return
        self._past += [ear for ear in (self._stream, self._rows) if ear is not None and ear.heard]
        self._stream = self._rows = None
        self._shown = self._judge_screen(rows, now)
        self._quiet_at = now + QUIET

    def closed(self, now: float) -> None:
        """Take the end of the pane; all that it wrote has been told."""
        self._end(WaitOutcome.PANE_CLOSED, now)

    def lost(self, now: float) -> None:
        """Take that nothing can be heard of a pane that lives."""
        self.complete = False
        self._end(WaitOutcome.STREAM_LOST, now)

    def cancelled(self, now: float) -> None:
        """Take that the server object was closed."""
        if self.result is None:
            self._decide(WaitOutcome.CANCELLED, now)

    # -- what it needs -----------------------------------------------------------------------

    @property
    def wakeup(self) -> float | None:
        """The monotonic time at which ``time`` must be called, or None: no bound."""
        deadline = math.inf if self._asked.deadline is None else self._asked.deadline
        soonest = min(deadline, self._answer_by, self._quiet_at)
        return None if soonest == math.inf else soonest

    # -- how it decides ----------------------------------------------------------------------

    def _judge_screen(self, rows: Sequence[Row], now: float) -> RowJudge:
        """Judge rows of a screen; what we typed stands there, whether or not it was heard."""
        assert self._entry is not None
        texts = [row.text.encode() for row in rows]
        echoes = self._ledger.on_screen(texts)
        for place in echoes:
            self._ledger.pass_by(texts[place])
        judge = RowJudge(self._asked.patterns, self._ledger, self._entry)
        hit = judge.feed([row for place, row in enumerate(rows) if place not in echoes])
        if hit is not None:
            self._past.append(judge)
            self._decide_hit(hit, now)
        return judge

    def _heard(self, hit: Hit | None, now: float) -> None:
        """Fix the outcome at the hit; give its line a moment to become whole."""
        if hit is None:
            return
        if hit.whole:
            self._decide_hit(hit, now)
            return
        self._hit = hit
        most = now + LINE_MOST
        if self._asked.deadline is not None:
            most = max(now, min(most, self._asked.deadline))
        self._answer_at_most = most
        self._answer_by = min(now + LINE_QUIET, most)

    def _answer(self, now: float, line: bytes | None) -> None:
        """Answer with the held hit; ``line`` is its whole line, None: as it stands."""
        assert self._hit is not None
        assert self._stream is not None
        hit, last = self._hit, self._stream.line if line is None else line
        lines = (*hit.lines[:-1], last)
        self._decide_hit(Hit(hit.version, hit.at, hit.pattern, lines, True), now)

    def _end(self, outcome: WaitOutcome, now: float) -> None:
        """End the wait; the unfinished line counts as ended and may still hold a hit."""
        if self.result is not None:
            return
        if self._hit is not None:
            self._answer(now, None)
            return
        hit = self._shown.quiet() if self._shown is not None else None
        if hit is None and self._stream is not None:
            hit = self._stream.finish()
        if hit is None and self._rows is not None:
            hit = self._rows.quiet()
        if hit is not None:
            self._decide_hit(hit, now)
        else:
            self._decide(outcome, now)

    def _decide_hit(self, hit: Hit, now: float) -> None:
        stopped = hit.pattern is not None and hit.pattern.stop
        self._decide(WaitOutcome.STOPPED if stopped else WaitOutcome.MATCHED, now, hit)

    def _decide(
        self, outcome: WaitOutcome, now: float, hit: Hit | None = None, *, screen: bool = False
    ) -> None:
        judge, entry = self._at_entry, self._entry
        ears = [*self._past, *(ear for ear in (self._stream, self._rows) if ear is not None)]
        pattern = hit.pattern if hit else None
        lines = tuple(line.decode(errors="replace") for line in hit.lines) if hit else ()
        shown = "\n".join(entry.rows).rstrip("\n") if entry is not None else ""
        self.result = WaitResult(
            outcome=outcome,
            pane=self.pane,
            matched_index=pattern.index if pattern else None,
            matched_pattern=pattern.text if pattern else None,
            matched_line=lines[-1] if lines else None,
            matched_lines=lines,
            text=shown if screen or not ears else _joined([ear.text for ear in ears]),
            bytes=sum(ear.heard for ear in ears),
            elapsed=now - self._asked.started,
            backend=self.backend,
            complete=self.complete,
            entry_match=_line(judge.finished) if judge else None,
            entry_stop=_line(judge.stop) if judge else None,
            saw_output=any(ear.saw_output for ear in ears),
            alternate_screen=any(ear.alternate for ear in ears)
            or (entry is not None and entry.alternate),
        )


def _line(hit: Hit | None) -> str | None:
    """Return the line of a hit as text."""
    return hit.lines[-1].decode(errors="replace") if hit else None


def _joined(texts: Sequence[str]) -> str:
    """Return what several ears heard, one after the other; each begins a line."""
    if len(texts) == 1:
        return texts[0]
    lines = [text if text.endswith("\n") else f"{text}\n" for text in texts[:-1] if text]
    return ("".join(lines) + texts[-1]).encode()[-TEXT_KEPT:].decode(errors="replace")
