"""Runs in a pane: asks the terminal how many cells each code point takes.

    python ask_columns.py FILE

FILE gets one byte a code point: the cells by which the cursor moved when it was written after an
``A`` (0 for those that were not asked).
"""

from __future__ import annotations

import os
import re
import sys
import tty
from pathlib import Path

AT_ONCE = 100  # code points: the questions and the answers fit the terminal's buffers
# Each code point but for long stretches of one kind (ideographs, Hangul syllables, private use),
# of which some are asked.
ASKED = [
    *range(0xA0, 0x3400),
    *range(0x3400, 0xA000, 61),
    *range(0xA000, 0xAC00),
    *range(0xAC00, 0xD7A0, 61),
    *range(0xD7A0, 0xD800),
    *range(0xE000, 0xF900, 61),
    *range(0xF900, 0x20000),
    *range(0x20000, 0x40000, 61),
    *range(0xE0000, 0xE0200),
]
ANSWER = re.compile(rb"\x1b\[\d+;(\d+)R")


def columns(terminal: int, codes: list[int]) -> list[int]:
    """Write each code point at the beginning of the row and return how far the cursor moved."""
    question = b"".join(b"\r\x1b[KA" + chr(code).encode() + b"\x1b[6n" for code in codes)
    os.write(terminal, question)
    answer = b""
    while answer.count(b"R") < len(codes):
        answer += os.read(terminal, 65536)
    return [int(column) - 2 for column in ANSWER.findall(answer)]


def main(file: Path) -> None:
    terminal = os.open("/dev/tty", os.O_RDWR)
    tty.setraw(terminal)
    cells = bytearray(sys.maxunicode + 1)
    for i in range(0, len(ASKED), AT_ONCE):
        codes = ASKED[i : i + AT_ONCE]
        for code, moved in zip(codes, columns(terminal, codes), strict=True):
            cells[code] = moved
    part = file.with_suffix(".part")
    part.write_bytes(cells)
    part.rename(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
