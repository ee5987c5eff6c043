"""The widths of characters: the table beside a real tmux, Python's data and its generator."""

from __future__ import annotations

import ctypes
import locale
import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ask_columns import ASKED
from conftest import wait_until

from tmux_wait.stream import TextFilter

if TYPE_CHECKING:
    from conftest import TmuxServerFixture

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HEADER = ROOT / "csrc" / "widths.h"
DATABASE = Path("/usr/share/unicode")  # of Debian's package unicode-data


def spans(*pairs: tuple[int, int]) -> set[int]:
    return {code for first, last in pairs for code in range(first, last + 1)}


# What a C library older than the table has otherwise: wide since Unicode 16; formatting characters
# that later took a cell, and a filler that later took none.
CHANGED = spans(
    (0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D376),
    (0xFFF9, 0xFFFB), (0x1171E, 0x1171E), (0x1734, 0x1734), (0x13430, 0x13455), (0xFFA0, 0xFFA0),
)  # fmt: skip
JAMO = spans((0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))
VS16 = 0xFE0F  # here it makes the A before it wide
HANGUL_FILLER = 0x3164
REGIONAL = spans((0x1F1E6, 0x1F1FF))
EMOJI = spans(
    (0x261D, 0x261D), (0x26F9, 0x26F9), (0x270C, 0x270D), (0x1F3CB, 0x1F3CC), (0x1F574, 0x1F575),
    (0x1F590, 0x1F590),
)  # fmt: skip


def our_cells(codes: list[int]) -> Iterator[int]:
    """Yield how far each character moves the cursor after an A: an X stands in column 9."""
    rows = TextFilter(80).feed(b"".join(b"A" + chr(c).encode() + b"\x1b[9GX\n" for c in codes))
    for row in rows.split(b"\n")[:-1]:
        yield 7 - row[:-1].count(b" ")


def unknown_to_libc() -> set[int]:
    """Return what the C library that tmux asks has no width for: characters newer than it."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
        wcwidth = ctypes.CDLL(None).wcwidth
        return {code for code in ASKED if wcwidth(code) == -1}
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def test_each_code_point_takes_the_cells_that_tmux_gives_it(
    tmux_server: TmuxServerFixture,
) -> None:
    file = tmux_server.folder / "columns"
    ask = [sys.executable, str(HERE / "ask_columns.py"), str(file)]
    pane = tmux_server.pane(f"{shlex.join(ask)}; exec sleep 100", width=80)
    version = tmux_server.get(pane, "#{version}")
    wait_until(file.exists, "the answers")
    real = file.read_bytes()
    allowed = CHANGED | unknown_to_libc()
    if version < "3.7":
        allowed |= {HANGUL_FILLER}
    if version < "3.6":
        allowed |= REGIONAL  # wide in 3.5a
    if version < "3.4":
        allowed |= EMOJI | {VS16}  # their own widths came later
    if version < "3.3":
        allowed |= JAMO
    wrong = {
        hex(code): (ours, real[code])
        for code, ours in zip(ASKED, our_cells(ASKED), strict=True)
        if ours != real[code] and code not in allowed
    }
    assert wrong == {}, "code point: (ours, tmux's); see scripts/make-widths"


def test_python_agrees_on_all_characters_it_knows() -> None:
    """Another copy of Unicode, whatever its version: marks, letters and East Asian widths."""
    for code, cells in zip(ASKED, our_cells(ASKED), strict=True):
        char = chr(code)
        kind = unicodedata.category(char)
        if kind in ("Cn", "Cf") or code in CHANGED | EMOJI | {VS16, HANGUL_FILLER}:
            continue
        wide = unicodedata.east_asian_width(char) in "WF" or 0x3248 <= code <= 0x324F
        joins = kind in ("Mn", "Me") or 0x1160 <= code <= 0x11FF or code in JAMO
        if code in (0x115F, 0x17B4, 0x17B5):
            continue  # fillers
        assert cells == (0 if joins else 1 + wide), hex(code)


def test_the_table_is_what_its_generator_writes() -> None:
    version = re.search(r'WIDTHS_UNICODE "([\d.]+)"', HEADER.read_text())
    assert version
    known = DATABASE / "EastAsianWidth.txt"
    if not known.exists() or f"-{version[1]}.txt" not in known.read_text().splitlines()[0]:
        pytest.skip(f"{DATABASE} does not hold Unicode {version[1]} (Debian: unicode-data)")
    written = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make-widths", DATABASE],
        stdout=subprocess.PIPE, check=True, timeout=60, text=True,
    ).stdout  # fmt: skip
    assert written == HEADER.read_text()


def test_the_readme_states_the_version_of_the_table() -> None:
    version = re.search(r'WIDTHS_UNICODE "(\d+\.\d+)', HEADER.read_text())
    assert version
    assert f"Unicode {version[1]}" in (ROOT / "README.md").read_text()
