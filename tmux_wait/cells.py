"""How many cells of a terminal a text takes.

The widths are Python's own Unicode data (East Asian Width, UAX #11); tmux may know a rare
character better.
"""

from __future__ import annotations


def cells(text: str) -> int:
    """Return how many cells a text without control characters takes."""
    return len(text) if text.isascii() else sum(map(width, text))


def width(character: str) -> int:
    """Return the cells of one character: 0 if it joins the one before, 2 if it is wide."""
    import unicodedata

    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def up_to_cell(row: str, cell: int) -> str:
    """Return the part of a row before a cell, with blanks where nothing was written."""
    kept, used = "", 0
    for character in row:
        used += width(character) if not character.isascii() else 1
        if used > cell:
            return kept.ljust(len(kept) + cell - cells(kept))
        kept += character
    return kept + " " * (cell - used)
