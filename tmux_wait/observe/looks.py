"""What is new between two looks at a pane: pure comparison, for the poll ear.

A row is known by its absolute index: rows in the history plus its place on the screen. tmux drops
a tenth of a full history at a time (``grid_collect_history``), and all of it on ``clear-history``;
then every index falls. How far is found by content, so that a row keeps its index for us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import eq

from tmux_wait.observe.entry import Snapshot
from tmux_wait.observe.protocol import Row, Rows

# A numbering is believed if this share of the rows seen before stands where it says.
BELIEVABLE = 0.5


class Looks:
    """The looks at one pane so far, the cut being the first."""

    def __init__(self, cut: Snapshot) -> None:
        self._last = cut
        self._base = 0  # added to tmux's index
        self._seen = {cut.entry.alternate: _texts(cut, 0)}
        self._first = cut.captured[-len(cut.entry.rows)].index if cut.entry.rows else 0
        self._covered = max(self._seen[cut.entry.alternate], default=0)
        self._cut = _last_written(cut)

    def unseen(self, now: Snapshot) -> int:
        """Return how many history rows ``now`` should have captured more, to leave out none."""
        if now.entry.width != self._last.entry.width or not now.captured:
            return 0
        return max(0, now.captured[0].index + self._base - self._covered - 1)

    def compare(self, now: Snapshot) -> Rows:
        """Return what ``now`` shows that was not there at the last look, and keep it."""
        moved = self._renumber(now)
        gap = moved is None or self.unseen(now) > 0
        if moved is None:
            rows = self._beyond(now)
        else:
            self._base += moved
            gap = gap or self._cleared(now, moved)
            rows = self._changed(now)
        quiet = not rows and not gap and _cursor(now) == _cursor(self._last)
        self._keep(now)
        return Rows(rows, gap, quiet)

    def _changed(self, now: Snapshot) -> list[Row]:
        before = self._seen_now(now)
        cursor = _cursor_index(now) + self._base
        same_screen = now.entry.alternate == self._last.entry.alternate
        left = _cursor_index(self._last) + self._base if same_screen else None
        rows = []
        for place, logical in enumerate(now.captured):
            index = logical.index + self._base
            known = before.get(index)
            cut_off = place == 0 and logical.index < now.entry.history_size
            if index < self._first or (cut_off and known is None and index <= self._covered):
                continue  # older than the cut, or the tail of a line that was seen whole
            if known is None:
                told = bool(logical.text) or index <= cursor
            else:
                told = known != logical.text or (index == left and index < cursor)
            if told:
                rows.append(Row(index, logical.text, index > self._cut, index == cursor))
        return rows

    def _beyond(self, now: Snapshot) -> list[Row]:
        """Number all rows behind what was seen; tell those that were not, in the order of lines.

        Lines keep their text and order when they are wrapped anew or the history is trimmed, so
        what was seen is looked for as a run of lines; what stands above it is older.
        """
        first = now.captured[0].index if now.captured else 0
        self._base = self._covered + 1 - first
        seen = [text for _, text in sorted(self._seen_now(now).items()) if text]
        lines = [row for row in now.captured if row.text]
        shift = _best_shift(seen, [row.text for row in lines])
        cursor = _cursor_index(now) + self._base
        rows = []
        for place, row in enumerate(lines):
            at = place - shift
            if at >= len(seen) or (at >= 0 and seen[at] != row.text):
                index = row.index + self._base
                rows.append(Row(index, row.text, True, index == cursor))
        return rows

    def _seen_now(self, now: Snapshot) -> Mapping[int, str]:
        return self._seen.get(now.entry.alternate, {})

    def _renumber(self, now: Snapshot) -> int | None:
        """Return how far tmux's indexes fell since the last look; None: it cannot be told."""
        last = self._last
        if now.entry.width != last.entry.width:
            return None  # every row may be wrapped anew
        tenth = max(1, now.history_limit // 10)
        history, before = now.entry.history_size, last.entry.history_size
        if history >= before and history < now.history_limit - tenth:
            return 0
        falls = [*range(0, max(0, before - history) + len(now.captured) + tenth, tenth), before]
        scores = {fall: self._agreement(now, fall) for fall in falls}
        best = max(falls, key=lambda fall: (scores[fall], -fall))
        return best if scores[best] >= BELIEVABLE else None

    def _agreement(self, now: Snapshot, fall: int) -> float:
        """Return which share of the rows seen last stands in ``now`` where ``fall`` says."""
        texts = _texts(now, self._base + fall)
        seen = self._seen_now(now)
        cursor = _cursor_index(self._last) + self._base
        compared = [index for index in texts if seen.get(index) and index != cursor]
        if not compared:
            return BELIEVABLE if fall == 0 and not any(seen.values()) else 0.0
        return sum(texts[index] == seen[index] for index in compared) / len(compared)

    def _cleared(self, now: Snapshot, moved: int) -> bool:
        """Say whether history that we had not seen may have gone with ``clear-history``."""
        before = self._last.entry.history_size
        return 0 < moved == before and now.entry.history_size < before

    def _keep(self, now: Snapshot) -> None:
        texts = _texts(now, self._base)
        self._seen[now.entry.alternate] = texts
        self._first = max(self._first, min(texts, default=self._first))
        self._covered = max(self._covered, *texts) if texts else self._covered
        self._last = now


def _best_shift(seen: Sequence[str], lines: Sequence[str]) -> int:
    """Return where in ``lines`` the lines ``seen`` begin; as if before them all if nowhere."""
    best, most = -len(seen), 0
    for shift in range(-len(seen), len(lines)):
        same = sum(map(eq, seen[max(0, -shift) :], lines[max(0, shift) :]))
        if same > most:
            best, most = shift, same
    return best


def _texts(look: Snapshot, base: int) -> Mapping[int, str]:
    return {row.index + base: row.text for row in look.captured}


def _cursor_index(look: Snapshot) -> int:
    """Return tmux's index of the cursor's logical row."""
    behind = len(look.entry.rows) - look.entry.cursor_row
    return look.captured[-behind].index if 0 < behind <= len(look.captured) else -1


def _cursor(look: Snapshot) -> tuple[int, int]:
    return _cursor_index(look), look.entry.cursor_cell


def _last_written(look: Snapshot) -> int:
    """Return the index of the last row that holds text or the cursor."""
    written = [row.index for row in look.captured if row.text]
    return max([*written, _cursor_index(look)])
