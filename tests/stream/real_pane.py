"""What a real tmux pane makes of many short byte strings: one pane, one capture for all of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import TmuxServerFixture

HISTORY = 1_000_000  # rows: more than any batch scrolls off
BEGIN = "<<<case %d>>>"


def real_rows(
    server: TmuxServerFixture,
    cases: Sequence[bytes],
    width: int,
    height: int = 50,
    *,
    joined: bool = False,
) -> list[list[str]]:
    """Write each case to a pane as a program would and return the rows that tmux then shows.

    Each case begins in the first column of the second row of a terminal just reset, above it a row
    with a marker; the line feeds after it scroll all of its rows into the history. Rows lose the
    blanks at their ends, which tmux keeps or not by its version, and the last ones without text
    go. ``joined`` rows are whole lines: one that wrapped goes on in the same. A case must not
    write more than ``height - 2`` rows, nor clear the history.
    """
    assert width >= len(BEGIN % len(cases))
    if not server.pid:
        server.pane()
    server.tmux("set-option", "-g", "history-limit", str(HISTORY))
    file = server.folder / "cases"
    done = BEGIN % len(cases)
    reset = b"\x18\x1b\\\x1bc\x1b[H"
    away = b"\x18\x1b\\\x1b[r\x1b[?6l\x1b[%d;1H" % height + b"\n" * height
    with file.open("wb") as out:
        for number, case in enumerate(cases):
            out.write(reset + (BEGIN % number).encode() + b"\r\n" + case + away)
        out.write(reset + done.encode())
    show = f"stty raw -echo; cat {shlex.quote(str(file))}; exec sleep 100"
    pane = server.pane(show, width=width, height=height)
    server.shows(pane, done)
    flags = "-pJ" if joined else "-p"
    shown = server.tmux("capture-pane", flags, "-S", "-", "-t", pane)
    server.tmux("kill-pane", "-t", pane)
    blocks = re.split(r"^<<<case (\d+)>>> *$", shown, flags=re.MULTILINE)
    assert blocks[1::2] == [str(number) for number in range(len(cases) + 1)], "a marker was hit"
    return [
        [row.rstrip(" ") for row in block.rstrip(" \n").removeprefix("\n").split("\n")]
        for block in blocks[2:-1:2]
    ]


def same_rows(real: list[str], ours: list[str]) -> bool:
    """Compare rows with tmux's own."""
    return len(real) == len(ours) and all(map(_same_row, real, ours))


def _same_row(real: str, ours: str) -> bool:
    """Compare a row with tmux's, where 3.7 and later keep a tab for the blanks it made."""
    real = real.rstrip("\t ")
    return re.fullmatch("( +)".join(map(re.escape, real.split("\t"))), ours) is not None
