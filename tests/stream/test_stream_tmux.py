"""The line model beside a real tmux: the same bytes give the rows that tmux shows."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tmux_wait.stream import TextFilter

if TYPE_CHECKING:
    from conftest import TmuxServerFixture

WIDTH = 20
DIGITS = b"0123456789abcdefghij"  # as many as the row has cells

CASES: dict[str, bytes] = {
    "overwriting": b"first draft\rFIRST\b\bxx",
    "a wrap and CR": DIGITS + b"more\rM",
    "a full row and CR": DIGITS + b"\rX",
    "a full row and BS": DIGITS + b"\bX",
    "a full row and CUB": DIGITS + b"\x1b[2DX",
    "a full row and CUF": DIGITS + b"\x1b[CX",
    "a full row and EL": DIGITS + b"\x1b[KX",
    "a full row and ECH": DIGITS + b"\x1b[XX",
    "a full row and a tab": DIGITS + b"\tX",
    "BS over a wrap": DIGITS + b"kl\b\b\bX",
    "up and down in a wrapped line": DIGITS * 2 + b"end\x1b[2AX\x1b[BY\x1b[B\x1b[FZ",
    "up out of a full row": DIGITS * 2 + b"\x1b[AX",
    "reverse index out of a full row": DIGITS * 2 + b"\x1bMX",
    "erasing a part of a wrapped line": DIGITS + b"klmno\x1b[A\x1b[1KX\x1b[KY",
    "erasing below": DIGITS * 2 + b"end\x1b[A\x1b[JX",
    "deleting in a wrapped line": DIGITS + b"klmno\x1b[A\r\x1b[3PX",
    "inserting in a wrapped line": DIGITS + b"klmno\x1b[A\r\x1b[3@X",
    "insert mode": b"abcdef\r\x1b[4hXY\x1b[4lZ",
    "cursor forward and tabs": b"a\x1b[3Cb\tc\x1b[99Cd",
    "backward tabs": b"0123456789\x1b[2ZX\x1b[ZY",
    "save and restore": b"ab\x1b7cdef\x1b8X\x1b[s\x1b[5Cz\x1b[uY",
    "a wide character at the margin": DIGITS[:19] + "世界!".encode(),
    "marks": "e\u0301a\u0301".encode() + b"x" * 17 + "y\u0301z\u0301".encode(),
    "strings vanish": b"a\x1b]0;t\x07b\x1b_x\x1b\\c\x1bkx\x1b\\d\x1b^x\x1b\\e\x1b[?2004hf\x1b(Bg",
    "malformed sequences": b"a\x1b[3?Cb\x1b[1:2Cc\x1b[ Cd\x1b[3\x18e\x1b#3f\x1b[2147483648Cg",
    "REP": b"ab\x1b[3b\x1b[2bc\x1b[m\x1b[2bd",
    "no wrap": b"\x1b[?7l" + DIGITS + b"xyz\x1b[?7h\rA",
    "readline at the margin": b"$ 34567890123456789k \rl\b \bm",
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_shows_what_tmux_shows(name: str, tmux_server: TmuxServerFixture) -> None:
    data = CASES[name] + b"\x1b[24;1H.end."
    file = tmux_server.folder / "bytes"
    file.write_bytes(data)
    show = f"stty raw -echo; cat {shlex.quote(str(file))}; exec sleep 100"
    pane = tmux_server.pane(show, width=WIDTH)
    tmux_server.shows(pane, ".end.")
    text_filter = TextFilter(WIDTH)
    rows = (text_filter.feed(data) + text_filter.flush()).decode().splitlines()
    # tmux keeps blanks at the end of rows, 3.1c pads with more and shows the column that a wide
    # character left unused as one; 3.7 and later show a tab as a tab.
    screen = tmux_server.screen(pane).replace("i 世", "i世").expandtabs()
    shown = [row.rstrip() for row in screen.splitlines() if row.strip()]
    assert [row.rstrip() for row in rows] == shown
