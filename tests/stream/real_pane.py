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
    server: TmuxServerFixture, cases: Sequence[bytes], width: int, height: int = 50
) -> list[list[str]]:
    """Write each case to a pane as a program would and return the lines that tmux then shows.

    Each case begins in the first column of the second row of a terminal just reset, above it a row
    with a marker; the line feeds after it scroll all of its rows into the history. Rows that
    wrapped are joined; blanks at the end of a line, which tmux keeps or not by its version, and
    lines without text go. A case must not write more than ``height - 2`` rows.
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
    shown = server.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", pane)
    server.tmux("kill-pane", "-t", pane)
    blocks = re.split(r"^<<<case (\d+)>>> *$", shown, flags=re.MULTILINE)
    assert blocks[1::2] == [str(number) for number in range(len(cases) + 1)], "a marker was hit"
    return [
        [row for row in (line.rstrip() for line in block.split("\n")) if row]
        for block in blocks[2:-1:2]
    ]
