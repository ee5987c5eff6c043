"""Plain and joined captures, aligned: which rows are one line, and where the cursor is in it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tmux_wait.cells import cells
from tmux_wait.observe.rows import LogicalRow, join_rows, locate_cursor, without_banner

# name: (width, plain capture, joined capture, logical rows, as each tmux prints them)
ALIGNED: dict[str, tuple[int, list[str], list[str], list[str]]] = {
    "nothing wrapped": (8, ["a", "b"], ["a", "b"], ["a", "b"]),
    "a wrapped line": (4, ["abcd", "ef", "g"], ["abcdef", "g"], ["abcdef", "g"]),
    "wrapped over three rows": (4, ["abcd", "efgh", "i"], ["abcdefghi"], ["abcdefghi"]),
    "a full row is not joined": (4, ["abcd", "abcd"], ["abcd", "abcd"], ["abcd", "abcd"]),
    "a blank before the wrap": (4, ["abc", "def"], ["abc def"], ["abc def"]),
    "a blank after the wrap": (4, ["abcd", " ef"], ["abcd ef"], ["abcd ef"]),
    "blanks around the wrap": (4, ["ab", "  cd"], ["ab    cd"], ["ab    cd"]),
    "trailing blanks": (8, ["ab", "c"], ["ab   ", "c"], ["ab", "c"]),
    "blank rows": (8, ["", "a", "", ""], ["", "a", "", ""], ["", "a", "", ""]),
    "3.1c pads with blanks": (6, ["abcdef", "gh", ""], ["abcdefgh   ", "   "], ["abcdefgh", ""]),
    "a wide character over the edge": (5, ["abcd", "漢字"], ["abcd漢字"], ["abcd漢字"]),
    "the same on 3.1c": (5, ["abcd", "漢字"], ["abcd 漢字 "], ["abcd漢字"]),
    "a blank row within a line": (4, ["abcd", "", "ef"], ["abcd    ef"], ["abcd    ef"]),
    "a blank row flagged as wrapped": (4, ["ab", "", "c"], ["ab", "c"], ["ab", "c"]),
    "tabs": (16, ["a\tb", "\tc\t"], ["a\tb", "\tc\t"], ["a       b", "        c"]),
    "a tab in a wrapped line": (
        16, ["a\tb", "c\td"], ["a\tb       c\td"], ["a       b       c       d"]
    ),
    "blank rows at the end are one": (4, ["ab", "", ""], ["ab"], ["ab"]),
    "captures that do not fit": (4, ["ab", "cd"], ["xy"], ["ab", "cd"]),
    "no joined rows": (4, ["ab", "cd"], [], ["ab", "cd"]),
}  # fmt: skip


@pytest.mark.parametrize(("width", "plain", "joined", "lines"), ALIGNED.values(), ids=ALIGNED)
def test_captures_are_aligned(
    width: int, plain: Sequence[str], joined: Sequence[str], lines: Sequence[str]
) -> None:
    rows = join_rows(plain, joined, width, 7)
    assert [row.text for row in rows] == lines
    assert rows[0].index == 7
    assert sum(row.height for row in rows) == len(plain)
    assert all(after.index == row.index + row.height for row, after in zip(rows, rows[1:]))  # noqa: B905, RUF007


def test_many_rows_take_linear_time() -> None:
    plain = ["x" * 4, "y", ""] * 20_000
    rows = join_rows(plain, ["xxxxy", ""] * 20_000, 4, 0)
    assert len(rows) == 40_000


CELLS = {"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "😀": 2, "a\u200bb": 2, "ﾊ": 1}


@pytest.mark.parametrize(("text", "count"), CELLS.items())
def test_cells_are_counted(text: str, count: int) -> None:
    assert cells(text) == count


ROWS = [LogicalRow(5, "ab", ("ab",)), LogicalRow(6, "abcdef", ("abcd", "ef"))]
CURSORS = {
    "in the first row": (5, 1, (0, 1)),
    "beyond the text": (5, 3, (0, 3)),
    "in the first row of a wrapped line": (6, 2, (1, 2)),
    "in its second row": (7, 1, (1, 5)),
    "below all": (9, 2, (1, 2)),
    "above all": (3, 2, (0, 2)),
}


@pytest.mark.parametrize(("row", "column", "found"), CURSORS.values(), ids=CURSORS)
def test_the_cursor_is_located(row: int, column: int, found: tuple[int, int]) -> None:
    assert locate_cursor(ROWS, row, column) == found


def test_a_cursor_behind_a_wide_character_that_was_wrapped_counts_real_cells() -> None:
    rows = join_rows(["abcd", "漢"], ["abcd漢"], 5, 0)
    assert locate_cursor(rows, 1, 2) == (0, 6)


def _rows(*texts: str) -> list[LogicalRow]:
    return [LogicalRow(at, text, (text,)) for at, text in enumerate(texts)]


def test_the_banner_of_a_dead_pane_goes_and_what_it_pushed_off_comes_back() -> None:
    rows, top = without_banner(_rows("1", "2", "", "Pane is dead (status 3, now)"), 1, "")
    assert [row.text for row in rows] == ["1", "2", ""]
    assert top == 0


def test_a_wrapped_banner_pushed_off_as_many_rows_as_it_takes() -> None:
    banner = LogicalRow(3, "Pane is dead (status 3)", ("Pane is dead", " (status 3)"))
    rows, top = without_banner([*_rows("1", "2", "3"), banner], 2, "")
    assert [row.text for row in rows] == ["1", "2", "3"]
    assert top == 0


def test_a_row_that_was_joined_to_the_banner_stays() -> None:
    joined = LogicalRow(2, "$ xPane is dead (signal 9)", ("$ x", "Pane is dead (signal 9)"))
    rows, top = without_banner([*_rows("1", "2"), joined], 1, "")
    assert [row.text for row in rows] == ["1", "2", "$ x"]
    assert top == 0


def test_the_blank_row_of_the_cursor_that_was_joined_to_the_banner_stays() -> None:
    joined = LogicalRow(2, "Pane is dead (signal 9)", ("", "Pane is dead (signal 9)"))
    rows, top = without_banner([*_rows("1", "2"), joined], 1, "")
    assert [row.text for row in rows] == ["1", "2", ""]
    assert top == 0


def test_the_users_own_banner_is_recognised_also_cut_off_at_the_edge() -> None:
    rows, _ = without_banner(_rows("1", "gone: exit"), 1, "#[fg=red]gone: exit 3")
    assert [row.text for row in rows] == ["1"]


@pytest.mark.parametrize("text", ["Pane is deadly", "the Pane is dead (status 1)", "gone"])
def test_a_programs_own_last_line_is_not_taken_for_the_banner(text: str) -> None:
    rows, top = without_banner(_rows("1", text), 1, "")
    assert [row.text for row in rows] == ["1", text]
    assert top == 1
