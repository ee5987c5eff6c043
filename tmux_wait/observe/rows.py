"""Which screen rows are one line: the plain and the joined (``-J``) capture, aligned.

``capture-pane -J`` joins soft-wrapped rows and keeps trailing blanks, but does not say which rows
it joined; the plain capture says where rows are. tmux 3.1c pads every joined row with blanks;
3.7 and newer print tabs as they were written, older ones as blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tmux_wait.cells import cells
from tmux_wait.cells import width as width_of

TAB_WIDTH = 8  # cells; tmux's default stops, as it does not say where a program put others
BANNER = re.compile(r"Pane is dead(?: \(|$)")
STYLE = re.compile(r"#\[[^\]]*\]")


@dataclass(frozen=True, slots=True)
class LogicalRow:
    """One line as the screen shows it."""

    index: int  # history size + screen row of its first row
    text: str  # without trailing blanks
    parts: tuple[str, ...]  # the text of each screen row, blanks before a wrap included

    @property
    def height(self) -> int:
        """Return how many screen rows it takes."""
        return len(self.parts)


def join_rows(
    plain: Sequence[str], joined: Sequence[str], width: int, first: int
) -> list[LogicalRow]:
    """Return the logical rows of one capture; ``first`` is the index of its first row."""
    result = []
    at = 0
    for raw in _align([row.rstrip(" ") for row in plain], joined):
        parts = _without_edge_blanks([_without_tabs(part) for part in raw], width)
        result.append(LogicalRow(first + at, "".join(parts).rstrip(" "), tuple(parts)))
        at += len(parts)
    return result


def locate_cursor(rows: Sequence[LogicalRow], row: int, column: int) -> tuple[int, int]:
    """Return the logical row that holds a cursor, and the cursor's cell in it.

    ``row`` counts as `LogicalRow.index` does. A cursor below all rows stands at the last.
    """
    for number, logical in enumerate(rows):
        if row < logical.index + logical.height:
            above = max(0, row - logical.index)
            return number, sum(map(cells, logical.parts[:above])) + column
    return max(0, len(rows) - 1), column


def without_banner(
    rows: Sequence[LogicalRow], history: int, banner: str
) -> tuple[list[LogicalRow], int]:
    """Return a dead pane's rows as they were before tmux wrote its banner, and the screen's top.

    tmux scrolls once for each row of the banner, so as many history rows come back, and it flags
    the row before the banner as wrapped, so that ``-J`` joins the two. ``banner`` is
    ``remain-on-exit-format``, expanded; empty on tmux before 3.3.
    """
    at = next((at for at in reversed(range(len(rows))) if rows[at].text), None)
    if at is None:
        return list(rows), history
    last, banner = rows[at], STYLE.sub("", banner).rstrip()
    for number in reversed(range(last.height)):
        if _is_banner("".join(last.parts[number:]).rstrip(" "), banner):
            parts = last.parts[:number]
            rest = [LogicalRow(last.index, "".join(parts).rstrip(" "), parts)] if parts else []
            return [*rows[:at], *rest], history - (last.height - number)
    return list(rows), history


def _is_banner(text: str, banner: str) -> bool:
    return bool(BANNER.match(text)) or (bool(banner) and banner.startswith(text))


def _without_tabs(text: str) -> str:
    if "\t" not in text:
        return text
    *pieces, last = text.split("\t")
    result = ""
    for piece in pieces:
        result += piece
        result += " " * (TAB_WIDTH - cells(result) % TAB_WIDTH)
    return result + last


def _align(plain: Sequence[str], joined: Sequence[str]) -> list[list[str]]:
    """Cut each joined row into the rows it was joined from; unjoined if they do not fit."""
    groups: list[list[str]] = []
    at = 0
    for text in joined:
        parts: list[str] = []
        rest = text
        while at < len(plain) and (not parts or rest.strip(" ")):
            blanks = _indent(rest) - _indent(plain[at]) if plain[at] and parts else 0
            if blanks < 0 or not rest.startswith(plain[at], blanks):
                return [[row] for row in plain]
            if blanks:
                parts[-1] += " " * blanks
            parts.append(plain[at])
            rest = rest[blanks + len(plain[at]) :]
            at += 1
        if not parts:
            return [[row] for row in plain]
        parts[-1] += rest
        groups.append(parts)
    if any(plain[at:]) or not groups:
        return [[row] for row in plain]
    # Blank rows that are flagged as wrapped though nothing is on them.
    return groups if at == len(plain) else [*groups[:-1], [*groups[-1], *plain[at:]]]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _without_edge_blanks(parts: list[str], width: int) -> list[str]:
    """Remove the blank that 3.1c puts where a wide character did not fit at the edge."""
    for at in range(len(parts) - 1):
        wide = parts[at + 1] and width_of(parts[at + 1][0]) == 2
        if wide and parts[at].endswith(" ") and cells(parts[at]) == width:
            parts[at] = parts[at][:-1]
    return parts
