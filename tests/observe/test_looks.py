"""What the poll ear tells of two looks: new rows, changed rows, gaps, quiet."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tmux_wait.observe.entry import Entry, Snapshot
from tmux_wait.observe.looks import Looks
from tmux_wait.observe.rows import LogicalRow

HEIGHT = 4


def look(
    rows: Sequence[str],
    history: int = 0,
    *,
    lookback: int = 0,
    cursor: int | None = None,
    width: int = 20,
    limit: int = 2000,
    alternate: bool = False,
) -> Snapshot:
    """Make a look whose ``rows`` are the last of the history and then the screen."""
    first = history - lookback
    logical = tuple(LogicalRow(first + at, text, (text,)) for at, text in enumerate(rows))
    screen = rows[lookback:]
    entry = Entry(
        "%0", 1, "3.3a", 2, width, HEIGHT, history, False, None, False, alternate, False,
        tuple(screen), len(screen) - 1 if cursor is None else cursor, 0,
    )  # fmt: skip
    return Snapshot(entry, logical, limit, None)


def told(looks: Looks, now: Snapshot) -> list[tuple[int, str, bool]]:
    """Return what the next look tells, without its gap and quiet."""
    return [(row.index, row.text, row.new) for row in looks.compare(now).rows]


def test_nothing_new_is_quiet() -> None:
    looks = Looks(look(["a", "$", "", ""], cursor=1))
    found = looks.compare(look(["a", "$", "", ""], cursor=1))
    assert (found.rows, found.gap, found.quiet) == ([], False, True)


def test_a_moved_cursor_is_not_quiet() -> None:
    looks = Looks(look(["a", "$", "", ""], cursor=1))
    assert not looks.compare(look(["a", "$", "", ""], cursor=2)).quiet


def test_rows_below_the_cut_are_new() -> None:
    looks = Looks(look(["a", "$", "", ""], cursor=1))
    assert told(looks, look(["a", "$ go", "out", "$"], cursor=3)) == [
        (1, "$ go", False),
        (2, "out", True),
        (3, "$", True),
    ]


def test_the_row_of_the_cursor_is_marked() -> None:
    looks = Looks(look(["a", "", "", ""], cursor=1))
    rows = looks.compare(look(["a", "b", "c", ""], cursor=2)).rows
    assert [(row.text, row.cursor) for row in rows] == [("b", False), ("c", True)]


def test_a_row_that_the_cursor_has_left_is_told_again_as_finished() -> None:
    looks = Looks(look(["a", "b", "", ""], cursor=1))
    rows = looks.compare(look(["a", "b", "", ""], cursor=2)).rows
    assert [(row.text, row.cursor) for row in rows] == [("b", False)]


def test_rows_that_scrolled_off_between_two_looks_are_told() -> None:
    looks = Looks(look(["a", "b", "c", "$"]))
    now = look(["a", "b", "c", "d", "e", "f", "g", "$"], 4, lookback=4)
    assert [text for _, text, _ in told(looks, now)] == ["d", "e", "f", "g", "$"]


def test_history_from_before_the_cut_is_not_told() -> None:
    looks = Looks(look(["h3", "a", "b", "c", "d"], 4, lookback=1))
    now = look(["h0", "h1", "h2", "h3", "a", "b", "c", "d", "e"], 5, lookback=5)
    assert told(looks, now) == [(7, "d", False), (8, "e", True)]


def test_history_that_was_not_captured_is_a_gap_and_said_before() -> None:
    looks = Looks(look(["a", "b", "c", "d"]))
    now = look(["w", "x", "y", "z"], 10)
    assert looks.unseen(now) == 6
    found = looks.compare(now)
    assert found.gap
    assert [row.text for row in found.rows] == ["w", "x", "y", "z"]


def test_a_row_that_changed_is_told_as_changed() -> None:
    looks = Looks(look(["10 %", "", "", ""], cursor=0))
    assert told(looks, look(["20 %", "", "", ""], cursor=0)) == [(0, "20 %", False)]
    assert told(looks, look(["", "", "", ""], cursor=0)) == [(0, "", False)]


def test_a_row_that_changed_and_scrolled_off_is_told() -> None:
    looks = Looks(look(["a", "b", "c", "d..."]))
    now = look(["c", "d... done", "e", "f", "g", "h"], 4, lookback=2)
    assert (3, "d... done", False) in told(looks, now)


def test_a_trimmed_history_keeps_the_numbers_of_rows() -> None:
    before = [f"line {n}" for n in range(100, 106)]
    looks = Looks(look(before, 100, lookback=2, limit=100))
    # 3 more lines; tmux dropped 10 of the oldest first.
    now = look([f"line {n}" for n in range(98, 109)], 93, lookback=7, limit=100)
    found = looks.compare(now)
    assert not found.gap
    assert [(row.index, row.text) for row in found.rows] == [
        (104, "line 106"), (105, "line 107"), (106, "line 108")
    ]  # fmt: skip


def test_a_cleared_history_is_a_gap_and_tells_nothing_twice() -> None:
    looks = Looks(look(["a", "b", "c", "$"], 50))
    found = looks.compare(look(["a", "b", "c", "$"], 0))
    assert (found.rows, found.gap) == ([], True)
    assert told(looks, look(["a", "b", "c", "$", "d"], 1, lookback=1)) == [
        (53, "$", False), (54, "d", True)
    ]  # fmt: skip


def test_a_taller_pane_takes_rows_back_from_history() -> None:
    looks = Looks(look(["a", "b", "c", "$"], 4))
    found = looks.compare(look(["y", "z", "a", "b", "c", "$"], 2))
    assert (found.rows, found.gap) == ([], False)


def test_another_width_is_a_gap_that_tells_only_what_was_not_seen() -> None:
    looks = Looks(look(["abc", "def", "", "$"]))
    found = looks.compare(look(["abc", "def", "new", "$"], width=10))
    assert found.gap
    # The prompt stands on another line than it did: in doubt it is shown.
    assert [(row.text, row.new) for row in found.rows] == [("new", True), ("$", True)]


def test_what_was_above_the_cut_is_not_told_after_another_width() -> None:
    looks = Looks(look(["h1", "h2", "a", "b", "c", "$"], 2, lookback=2))
    found = looks.compare(look(["h0", "h1", "h2", "a", "b", "c", "$", "d"], 4, lookback=4, width=9))
    assert [row.text for row in found.rows] == ["d"]


def test_the_main_screen_that_comes_back_is_not_told_again() -> None:
    looks = Looks(look(["error: old", "$", "", ""], cursor=1))
    assert told(looks, look(["~", "vim", "", ""], cursor=1, alternate=True)) == [
        (0, "~", False), (1, "vim", False)
    ]  # fmt: skip
    assert told(looks, look(["error: old", "$", "", ""], cursor=1)) == []
    assert told(looks, look(["error: old", "$ x", "", ""], cursor=1)) == [(1, "$ x", False)]


def test_the_tail_of_a_seen_line_at_the_top_of_a_capture_is_not_told() -> None:
    wrapped = LogicalRow(11, "long line", ("long ", "line"))
    looks = Looks(look(["a", "b", "c", "d"], 10))
    first = look(["a", "", "", "x", "x", "x"], 12, lookback=2)
    rows = (first.captured[0], wrapped, *first.captured[3:])
    looks.compare(Snapshot(first.entry, rows, 2000, None))
    now = look(["line", "x", "x", "x", "y"], 13, lookback=1)
    assert told(looks, now) == [(15, "x", True), (16, "y", True)]


@pytest.mark.parametrize("seed", range(20))
def test_a_scrolling_log_is_told_once_whatever_the_ticks(seed: int) -> None:
    """A naive terminal prints numbered lines; every line is told once, in order."""
    chance = random.Random(seed)
    limit = chance.choice([20, 50, 1000])
    lines = ["line 0"]
    dropped = 0

    def terminal(lookback: int) -> Snapshot:
        kept = lines[dropped:]
        history = max(0, len(kept) - HEIGHT)
        lookback = min(lookback, history)
        rows = kept[history - lookback :]
        rows += [""] * (HEIGHT - len(kept))
        return look(
            rows, history, lookback=lookback, limit=limit, cursor=min(len(kept), HEIGHT) - 1
        )

    looks = Looks(terminal(4))
    heard: list[str] = []
    for _ in range(60):
        for _ in range(chance.randrange(min(8, limit // 10 + 4))):
            lines.append(f"line {len(lines)}")
            if len(lines) - dropped - HEIGHT >= limit:
                dropped += max(1, limit // 10)
        found = looks.compare(terminal(12))
        assert not found.gap, f"seed {seed}"
        heard += [row.text for row in found.rows if row.text not in heard[-1:]]
    assert heard == lines[1:] or heard == lines, f"seed {seed}"
