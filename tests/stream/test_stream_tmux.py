"""The line model beside a real tmux: the same bytes give the rows that tmux shows."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest
from conftest import wait_until
from real_pane import real_rows, same_rows
from terminal_twin import REGIONAL, WIDENS, TerminalTwin

from tmux_wait.stream import LineScanner, TextFilter, VersionEnd

if TYPE_CHECKING:
    from conftest import TmuxServerFixture

WIDTH = 20


def tmux_version(server: TmuxServerFixture) -> str:
    """Return the version of the server: "3.1c", "3.8"."""
    return server.get(server.pane(), "#{version}")


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


# What no version before 3.7 does so: it joined characters in other ways, or not at all.
NEW = {
    "regional": "🇩🇪🇫🇷🇩x",
    "skin tones": "👍🏻x☝🏻y🏻👍z",
    "joiners": "👨\u200d👩\u200d👧x👨\u200déy👨\u200dAz",
    "the emoji selector": "❤\ufe0fx❤\ufe0ey世\ufe0fz",
    "the emoji selector over text": "abc\r❤\ufe0fx",
    "the emoji selector at the margin": "0123456789abcdefghi❤\ufe0fxy",
    "the emoji selector in insert mode": "abc\r\x1b[4h❤\ufe0fx",
    "marks in the first column": "\u0301a\r\u200db\r\u1161c",
    "marks after blanks": "\x1b[3C\u0301x",
    "a mark inside a wide character": "世x\x1b[2G\u0301y",
    "more marks than a cell holds": "e" + "\u0301" * 20 + "x" + "e" + "\u20d7" * 20 + "y",
    "Hangul": "\u1112\u1161\u11abx\u1112\u11aby\u1161z\u3164w",
    "REP of a mark": "e\u0301\x1b[2bx",
}


def lines_of(case: bytes) -> list[str]:
    """Return the lines that the filter gives, without the blanks at their ends."""
    text_filter = TextFilter(WIDTH)
    text = text_filter.feed(case) + text_filter.flush()
    return [line.rstrip(" ") for line in text.decode().split("\n")]


def wrong_lines(server: TmuxServerFixture, cases: dict[str, bytes]) -> dict[str, object]:
    """Return the cases for which tmux shows other lines, with both."""
    shown = real_rows(server, list(cases.values()), WIDTH, joined=True)
    # 3.1 shows the column that a wide character left unused.
    shown = [[line.replace("i 世", "i世") for line in real] for real in shown]
    both = {
        name: (lines_of(case), real)
        for (name, case), real in zip(cases.items(), shown, strict=True)
    }
    return {name: (ours, real) for name, (ours, real) in both.items() if not same_rows(real, ours)}


def test_the_model_shows_what_tmux_shows(tmux_server: TmuxServerFixture) -> None:
    assert wrong_lines(tmux_server, CASES) == {}


def test_characters_join_as_in_tmux_3_7(tmux_server: TmuxServerFixture) -> None:
    if tmux_version(tmux_server) < "3.7":
        pytest.skip("older versions join characters in other ways")
    assert wrong_lines(tmux_server, {name: case.encode() for name, case in NEW.items()}) == {}


# --- random sequences ---

TEXT = [b"a", b"bc", b"def", b"  ", b"0123456789"]
WIDE = [c.encode() for c in ("é", "世", "🙂", "e\u0301", "\u0301")]
JOINED = [
    c.encode()
    for c in ("❤\ufe0f", "👍🏻", "🏼", "👨\u200d👩", "🇩🇪", "\u1112\u1161", "\u200d", "\ufe0f")
]
MOVES = (
    b"\r|\b|\b\b|\t|\x1b[D|\x1b[3D|\x1b[C|\x1b[5C|\x1b[99C|\x1b[3G|\x1b[9`|\x1b[99G|\x1b[Z|\x1b[2Z"
)
ROWS = b"\x1b[A|\x1b[B|\x1b[2A|\x1bM|\x1bD|\x1b[E|\x1b[F|\x1b[2E"
EDITS = (
    b"\x1b[K|\x1b[1K|\x1b[2K|\x1b[J|\x1b[X|\x1b[4X|\x1b[40X|\x1b[P|\x1b[3P|\x1b[40P|\x1b[@|\x1b[3@"
)
MODES = (
    b"\x1b7|\x1b8|\x1b[s|\x1b[u|\x1b[4h|\x1b[4l|\x1b[?7l|\x1b[?7h|\x1b[b|\x1b[3b|\x1b[m|\x1b(B|\x0f"
)
TABS = b"\x1bH|\x1b[g|\x1b[3g|\x1b[Z"


class Comparable(TerminalTwin):
    """Notices what makes a case say nothing: the line was left, or tmux has a quirk of its own.

    The quirks (``not_comparable`` becomes their name):
    - A row erased as a whole no longer continues the row before it (from 3.3 on), so that BS does
      not go back over that wrap. Here it stays in its line: zsh erases each row that it begins.
    - ICH of more cells than it moves leaves some of them as they were; programs write over them.
    - Where half of a wide character is erased, moved or inserted before, tmux keeps the other half
      (as bytes without cells, or as a cell that nothing can be drawn in). So does VS16 beside one.
      Before 3.7 it does so too where one half is written over, or a mark written between them.
    - VS16 and flags in the last column: a wide character in one cell, which takes no more marks.
    - From 3.7 on a tab is kept as one character of several cells, and edits cut it in two.
    - REP before 3.4 repeats ASCII only, and in 3.1 goes on over the margin.
    """

    def __init__(self, width: int, version: str) -> None:
        super().__init__(width=width)
        self.tmux = version
        self.not_comparable = ""
        self.unwrapped = self.splits = False

    def leave(self, column: int | None) -> None:
        self.not_comparable = "left"
        super().leave(column)

    def control(self, byte: int) -> None:
        if byte == 0x08 and self.column == 0 and self.row > 0 and self.unwrapped:
            self.not_comparable = "BS over an erased row"
        if byte == 0x09 and self.tmux >= "3.7":
            self.not_comparable = "a tab is one character"
        super().control(byte)

    def counted(self, final: str, n: int) -> None:
        assert self.width
        if final == "@" and n > self.width - self.column - n:
            self.not_comparable = "ICH over more than it moves"
        if final == "b" and self.tmux < "3.4":
            self.not_comparable = "REP of its own kind"
        self.splits = final in "@PX"
        super().counted(final, n)
        self.splits = False
        self.look_for_erased_rows()

    def erase(self, begin: int, end: int) -> None:
        self.splits = True
        super().erase(begin, end)
        self.splits = False
        self.look_for_erased_rows()

    def look_for_erased_rows(self) -> None:
        assert self.width
        starts = range(0, max(len(self.cells), self.row + 1), self.width)
        rows = (self.cells[start : start + self.width] for start in starts)
        self.unwrapped |= any(all(cell.bytes == [(0x20, -1)] for cell in row) for row in rows)

    def split(self, cell: int) -> None:
        if (self.splits or self.tmux < "3.7") and self.is_tail(cell):
            self.not_comparable = "half a character"
        super().split(cell)

    def put(self, data: bytes, width: int, is_blank: bool) -> None:
        if self.insert and (width == 2 or self.is_tail(self.cursor())):
            self.not_comparable = "a wide character inserted"
        super().put(data, width, is_blank)

    def joins(self, data: bytes, width: int) -> bool:
        at, column = self.cursor(), self.column
        if self.tmux < "3.7" and self.is_tail(at):
            self.not_comparable = "half a character"
        over_wide = self.is_tail(at + 1)
        joined = super().joins(data, width)
        two = data.decode(errors="replace") in WIDENS + REGIONAL
        if joined and two and (over_wide or column == self.width or at == self.limit):
            self.not_comparable = "made wide where there is no place"
        return joined

    def rows(self) -> list[str]:
        """Return the rows of the line, without the blanks at their ends and the empty last ones."""
        assert self.width
        starts = range(0, len(self.cells), self.width)
        cells = [self.cells[start : start + self.width] for start in starts]
        rows = [
            bytes(b for cell in row for b, _ in cell.bytes).decode().rstrip(" ") for row in cells
        ]
        while rows and not rows[-1]:
            rows.pop()
        return rows or [""]


def tokens(random: Random, joined: bool) -> Iterator[bytes]:
    """Yield parts of a terminal's input without end."""
    some = [TEXT, TEXT, WIDE, *(m.split(b"|") for m in (MOVES, MOVES, ROWS, EDITS, MODES, TABS))]
    if joined:
        some.append(JOINED)
    while True:
        yield random.choice(random.choice(some))


def compare(data: bytes, width: int, version: str) -> Comparable:
    twin = Comparable(width, version)
    twin.feed(data)
    return twin


def random_case(seed: str, width: int, version: str) -> bytes:
    """Return a sequence that both terminals must show in the same way."""
    random = Random(seed)
    case = b""
    for token in islice(tokens(random, version >= "3.7"), random.randint(3, 25)):
        # What comes last shows where the cursor is.
        if not compare(case + token + b"|", width, version).not_comparable:
            case += token
    return case + b"|"


@pytest.mark.parametrize("width", [15, 20, 23])
def test_random_sequences_give_the_rows_that_tmux_shows(
    width: int, tmux_server: TmuxServerFixture
) -> None:
    version = tmux_version(tmux_server)
    cases = [random_case(f"{width} {i}", width, version) for i in range(250)]
    assert sum(len(case) for case in cases) > 5000
    wrong = []
    for case, real in zip(cases, real_rows(tmux_server, cases, width), strict=True):
        twin = compare(case, width, version)
        scan = LineScanner(width=width)
        scan.feed(case)
        assert scan.line == twin.line(), case
        if not same_rows(real, twin.rows()):
            wrong.append((case, twin.rows(), real))
    assert wrong == [], "(input, our rows, tmux's)"


# --- what leaves the line ---

LEAVING = {
    "CUP": b"\x1b[H",
    "HVP": b"\x1b[2;3f",
    "VPA": b"\x1b[9d",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "CNL": b"\x1b[E",
    "reverse index": b"\x1bM",
    "index": b"\x1bD",
    "scrolling region": b"\x1b[2;5r",
    "scrolling up": b"\x1b[S",
    "scrolling down": b"\x1b[T",
    "inserting lines": b"\x1b[L",
    "deleting lines": b"\x1b[M",
    "clearing": b"\x1b[2J",
    "clearing above": b"\x1b[1J",
    "the alternate screen": b"\x1b[?1049h",
    "the old alternate screen": b"\x1b[?47h",
    "origin mode": b"\x1b[?6h",
    "132 columns": b"\x1b[?3h",
    "the alignment test": b"\x1b#8",
    "a reset": b"\x1bc",
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_goes_elsewhere_ends_the_line_and_says_so(
    name: str, tmux_server: TmuxServerFixture
) -> None:
    """What is written next stands in the column that tmux gives it, in another row."""
    file = tmux_server.folder / "bytes"
    # Down six rows first, so that there is room above; then where the cursor went.
    file.write_bytes(b"\n" * 6 + b"\rabcdef" + LEAVING[name] + b"\x1b[6n")
    asks = f"import sys; sys.stdout.buffer.write(open({str(file)!r}, 'rb').read())"
    read = f'IFS= read -r -d R answer; printf %s "$answer" > {shlex.quote(str(file))}.at'
    show = f"stty raw -echo; {shlex.join([sys.executable, '-c', asks])}; {read}; exec sleep 100"
    tmux_server.pane(shlex.join(["bash", "-c", show]), width=WIDTH)
    answer = file.with_suffix(".at")
    wait_until(lambda: answer.exists() and answer.read_bytes() != b"", "the cursor's position")
    row, column = map(int, answer.read_bytes().removeprefix(b"\x1b[").split(b";"))
    scan = LineScanner(width=WIDTH)
    scan.feed(b"abcdef" + LEAVING[name] + b"x")
    assert [(v.text, v.end) for v in scan.versions()] == [(b"abcdef", VersionEnd.LEFT)]
    assert scan.line == b" " * (column - 1) + b"x"
    moved = row != 7 or name in ("the alternate screen", "the old alternate screen")
    assert moved or name.startswith(("scrolling", "inserting", "deleting", "clearing"))
