"""How many cells of a terminal a text takes, by the table of the stream core."""

from __future__ import annotations

from tmux_wait.stream import character_cells as width

__all__ = ["cells", "up_to_cell", "width"]


def cells(text: str) -> int:
    """Return how many cells a text without control characters takes.

    Characters that tmux makes one (flags, families of emoji) are counted apart.
    """
    return len(text) if text.isascii() else sum(map(width, text))


def up_to_cell(row: str, cell: int) -> str:
    """Return the part of a row before a cell, with blanks where nothing was written."""
    kept, used = "", 0
    for character in row:
        used += width(character) if not character.isascii() else 1
        if used > cell:
            return kept.ljust(len(kept) + cell - cells(kept))
        kept += character
    return kept + " " * (cell - used)
