"""Cells: wide characters take two, combining ones none."""

from __future__ import annotations

import pytest

from tmux_wait.cells import cells, up_to_cell


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("", 0),
        ("abc", 3),
        ("é", 1),
        ("e\u0301", 1),
        ("漢字", 4),
        ("a漢b", 4),
        ("a\u1161\u3164☝", 3),
    ],
)
def test_cells_of_a_text(text: str, wide: int) -> None:
    assert cells(text) == wide


@pytest.mark.parametrize(
    ("row", "cell", "kept"),
    [
        ("$ x", 2, "$ "),
        ("$", 2, "$ "),
        ("", 3, "   "),
        ("漢字$", 4, "漢字"),
        ("漢字$", 3, "漢 "),
        ("e\u0301x", 1, "e\u0301"),
        ("abc", 0, ""),
    ],
)
def test_the_part_of_a_row_before_a_cell(row: str, cell: int, kept: str) -> None:
    assert up_to_cell(row, cell) == kept
