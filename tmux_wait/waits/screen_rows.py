"""Judges rows of a rendered screen: the screen at entry, and what the poll ear sees.

Rows are logical: soft wraps are joined and trailing blanks are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tmux_wait.echo import Ledger
from tmux_wait.patterns import Found, PatternSet
from tmux_wait.waits.hits import TEXT_KEPT, Hit

if TYPE_CHECKING:
    from tmux_wait.observe import Row
    from tmux_wait.observe.entry import Entry


class EntryJudge:
    """What the screen at the cut holds: wanted and stop patterns, outside our own echo."""

    def __init__(self, patterns: PatternSet, ledger: Ledger, entry: Entry) -> None:
        self._patterns = patterns
        rows = [row.encode() for row in entry.rows]
        echoes = ledger.on_screen(rows)
        cursor = -1 if entry.dead else entry.cursor_row
        self.finished = self._first(rows, echoes | {cursor}, stop=False)
        """The first hit of a wanted pattern on the finished rows, top to bottom."""
        self.on_cursor_row = None
        """A hit of a wanted pattern on the cursor's own row, not our submitted line."""
        if 0 <= cursor < len(rows) and cursor not in echoes:
            self.on_cursor_row = self._first([rows[cursor]], set(), stop=False)
        self.stop = self._first(rows, echoes, stop=True)
        """The first hit of a stop pattern anywhere on the screen."""

    def _first(self, rows: Sequence[bytes], skip: set[int], *, stop: bool) -> Hit | None:
        """Return the first hit from top to bottom; rows in ``skip`` are blank to it."""
        shown = [b"" if place in skip else row for place, row in enumerate(rows)]
        for place, row in enumerate(shown):
            for found in self._patterns.search(row) if row else ():
                if found.pattern.stop is stop:
                    return Hit(place, found.end, found.pattern, (row,), True)
        text = b"\n".join(shown)
        for found in self._patterns.search_lines(text):
            if found.pattern.stop is stop:
                return Hit(0, found.end, found.pattern, _touched(text, found), True)
        return None


def _touched(text: bytes, found: Found) -> tuple[bytes, ...]:
    """Return the whole lines of ``text`` that a match touches."""
    begin = text.rfind(b"\n", 0, found.start) + 1
    end = text.find(b"\n", found.end)
    return tuple(text[begin : len(text) if end < 0 else end].split(b"\n"))


class RowJudge:
    """Rows in, the first hit out: the judge of the poll ear."""

    def __init__(self, patterns: PatternSet, ledger: Ledger, entry: Entry) -> None:
        self._patterns = patterns
        self._ledger = ledger
        self._at_entry = [row.encode() for row in entry.rows]
        self._rows: dict[int, bytes] = {}  # absolute index: text, as last seen
        # The cursor's row: its index, its text, and how much of that stood there before.
        self._open: tuple[int, bytes, int] | None = None
        self.heard = 0
        self.saw_output = False
        self.alternate = entry.alternate

    @property
    def text(self) -> str:
        """What was seen to be written, row by row."""
        rows = b"\n".join(text for _, text in sorted(self._rows.items()))
        return rows[-TEXT_KEPT:].decode(errors="replace")

    @property
    def line(self) -> bytes:
        """The cursor's row as last seen."""
        return self._open[1] if self._open else b""

    def feed(self, rows: Sequence[Row]) -> Hit | None:
        """Take rows that are new or changed; return the first hit outside our echo."""
        found: list[Hit] = []
        for row in rows:
            text = row.text.encode()
            after = self._unchanged(row.index, text, row.new)
            self.heard += len(text) - after
            self._rows[row.index] = text
            if not found:
                found += self._judge(row.index, text, row.cursor, after)
        self._forget()
        if not found:
            found += self._several(rows)
        return min(found, key=lambda hit: hit.order, default=None)

    def judge_row(self, index: int, row: str, *, cursor: bool) -> Hit | None:
        """Judge one row of a screen for itself."""
        hits = self._judge(index, row.encode(), cursor, 0)
        return hits[0] if hits else None

    def quiet(self) -> Hit | None:
        """Judge the cursor's row as if it ended here: two looks showed the same."""
        if self._open is None or self._ledger.explains(self._open[1]):
            return None
        index, text, after = self._open
        for found in self._patterns.search(text, after=after):
            return Hit(index, found.end, found.pattern, (text,), True)
        if not self._patterns.wanted and text[after:].strip():
            return Hit(index, len(text), None, (text,), True)
        return None

    def _judge(self, index: int, text: bytes, cursor: bool, after: int) -> list[Hit]:
        if cursor:
            self._open = (index, text, after)
            echo = self._ledger.live and self._ledger.explains(text)
        else:
            self._passed(index)
            echo = self._ledger.pass_by(text)
        if echo:
            return []
        found = self._patterns.search(text, after=after, goes_on=cursor)
        hits = [
            Hit(index, hit.end, hit.pattern, (text,), not cursor)
            for hit in found
            if not (self._ledger.live and self._ledger.explains(text[: hit.end]))
        ]
        if text[after:].strip():
            self.saw_output = True
            if not self._patterns.wanted and not (cursor and self._patterns.stop):
                hits.append(Hit(index, len(text), None, (text,), not cursor))
        return hits[:1]

    def _several(self, rows: Sequence[Row]) -> list[Hit]:
        """Search what was written, as far as it is known, for patterns over several lines."""
        if not rows:
            return []
        text = b"\n".join(text for _, text in sorted(self._rows.items()))
        return [
            Hit(rows[-1].index, found.end, found.pattern, _touched(text, found), True)
            for found in self._patterns.search_lines(text)
        ]

    def _passed(self, index: int) -> None:
        """Note that the cursor left its row for a lower one: that line has ended."""
        if self._open is not None and self._open[0] < index:
            self._ledger.pass_by(self._open[1])
            self._open = None

    def _unchanged(self, index: int, text: bytes, new: bool) -> int:
        """Return how many leading bytes of a row stood there before."""
        if index in self._rows:
            return _common(text, self._rows[index])
        return 0 if new else max((_common(text, old) for old in self._at_entry), default=0)

    def _forget(self) -> None:
        """Keep no more rows than the answer can hold."""
        size = sum(map(len, self._rows.values()))
        for index in sorted(self._rows):
            if size <= TEXT_KEPT:
                break
            size -= len(self._rows.pop(index))


def _common(text: bytes, old: bytes) -> int:
    """Return the length of what two rows have in common at their beginning."""
    pairs = enumerate(zip(text, old))  # noqa: B905 - the shorter one ends it
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(old)))
