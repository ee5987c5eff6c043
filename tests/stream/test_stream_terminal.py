"""Named cases of what a line becomes, and each byte in each state of the escape parser."""

from __future__ import annotations

from random import Random

import pytest
from terminal_twin import TABLE, TerminalTwin

from tmux_wait.cells import width
from tmux_wait.stream import LineScanner, TextFilter

MARKS = "".join(chr(code) for code in range(0xA0, 0xD800) if width(chr(code)) == 0)

# name: (input, width, text with the unfinished line)
CASES: dict[str, tuple[bytes, int | None, bytes]] = {
    "colours vanish": (b"rea\x1b[1;32mdy\x1b(B\x1b[m\n", None, b"ready\n"),
    "a title ended by BEL": (b"re\x1b]0;x\x07ady\n", None, b"ready\n"),
    "a title ended by ST": (b"re\x1b]0;x\x1b\\ady\n", None, b"ready\n"),
    "screen's title string": (b"re\x1bktitle\x1b\\ady\n", None, b"ready\n"),
    "a DCS with doubled ESCs": (
        b"re\x1bPtmux;\x1b\x1b[1mX\x1b\x1b\\Y\x1b\\ady\n", None, b"ready\n"),
    "APC, PM and SOS": (b"a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d\n", None, b"abcd\n"),
    "CAN and SUB abort": (b"a\x1b[3\x18b\x1b]0;\x1ac\x1bPq\x18d\n", None, b"abcd\n"),
    "ESC in a sequence begins a new one": (b"a\x1b[3\x1b[1mb\x1b]0;\x1b[mc\n", None, b"abc\n"),
    "a control in a sequence is executed": (b"abc\x1b[\rmX\n", None, b"Xbc\n"),
    "SI and SO vanish": (b"a\x0fb\x0ec\n", None, b"abc\n"),
    "NUL, BEL and DEL vanish": (b"a\0b\x07c\x7fd\n", None, b"abcd\n"),
    "charsets take one more byte": (b"a\x1b(0b\x1b)Bc\x1b#5d\x1b Fe\n", None, b"abcde\n"),
    "two-byte escapes": (b"a\x1b=b\x1b>c\x1bHd\x1bNe\n", None, b"abcde\n"),
    "C1 in UTF-8 vanishes and does nothing": ("a\x85b\x9b1mc\n".encode(), None, b"ab1mc\n"),
    "raw C1 is text": (b"a\x9b1mb\n", None, b"a\x9b1mb\n"),
    "private sequences vanish": (b"a\x1b[?2004hb\x1b[>4;2mc\x1b[?25l\n", None, b"abc\n"),
    "broken UTF-8 stays as it is": (
        b"a\xffb\xe4\xb8c\xf0\x9f\x99\n", None, b"a\xffb\xe4\xb8c\xf0\x9f\x99\n"),
    "VT and FF are line feeds": (b"a\vb\fc\n", None, b"a\nb\nc\n"),
    "LF begins in the first column": (b"abc\ndef\n", None, b"abc\ndef\n"),
    "empty lines": (b"\n\r\n\n", None, b"\n\n\n"),
    "CR overwrites": (b"abcdef\rXY\n", None, b"XYcdef\n"),
    "a progress bar": (b"10%\r50%\r100%\n", None, b"100%\n"),
    "BS overwrites": (b"abc\b\bX\n", None, b"aXc\n"),
    "BS stops at the first column": (b"a\b\b\bX\n", None, b"X\n"),
    "BS goes back over a wrap, as in tmux": (b"0123456789ab\b\b\bX\n", 10, b"012345678Xab"),
    "BS in a full row": (b"0123456789\bX\n", 10, b"012345678X\n"),
    "tabs": (b"a\tb\t\tc\n", None, b"a       b               c\n"),
    "tabs stop at the last column": (b"a\t\t\tb\n", 10, b"a        b\n"),
    "tabs over text keep it": (b"0123456789\r\tX\n", None, b"01234567X9\n"),
    "cursor forward makes spaces": (b"a\x1b[3Cb\n", None, b"a   b\n"),
    "trailing blanks never written": (b"a\x1b[5C\n", None, b"a\n"),
    "cursor forward stops at the margin": (b"a\x1b[99Cb\n", 10, b"a        b\n"),
    "cursor forward has a reach": (b"\x1b[99999Cb\n", None, b" " * 10_000 + b"b\n"),
    "CUB and CHA": (b"abcdef\x1b[2DX\x1b[2GY\x1b[1`Z\n", None, b"ZYcdXf\n"),
    "CHA 0 is the first column": (b"abc\x1b[0GX\n", None, b"Xbc\n"),
    "EL to the end": (b"abcdef\r\x1b[2C\x1b[K\n", None, b"ab\n"),
    "EL at the end changes nothing": (b"ready\x1b[K\n", None, b"ready\n"),
    "EL from the start": (b"abcdef\x1b[3D\x1b[1K\n", None, b"    ef\n"),
    "EL all": (b"abcdef\x1b[3D\x1b[2KX\n", None, b"   X\n"),
    "EL 0 in a full row changes nothing": (b"0123456789\x1b[K\n", 10, b"0123456789\n"),
    "EL in a wrapped line keeps the other rows": (
        b"0123456789abcdefghijAB\x1b[A\x1b[K\n", 10, b"0123456789ab        AB"),
    "ED to the end takes the rows below": (
        b"0123456789abcdefghijAB\x1b[A\x1b[J\n", 10, b"0123456789ab\n"),
    "ED 3 changes nothing": (b"abc\x1b[3J\n", None, b"abc\n"),
    "ECH": (b"abcdef\r\x1b[2X\n", None, b"  cdef\n"),
    "DCH": (b"abcdef\r\x1b[2P\n", None, b"cdef\n"),
    "DCH in a wrapped line keeps the rows": (
        b"0123456789ab\x1b[A\r\x1b[2P\n", 10, b"23456789  ab"),
    "ICH": (b"abcdef\r\x1b[2@X\n", None, b"X abcdef\n"),
    "ICH in a full row loses its end": (b"0123456789ab\x1b[A\r\x1b[2@\n", 10, b"  01234567ab"),
    "insert mode": (b"abc\r\x1b[4hXY\x1b[4lZ\n", None, b"XYZbc\n"),
    "REP": (b"ab\x1b[3bc\n", None, b"abbbbc\n"),
    "REP repeats only what was just written": (b"ab\x1b[m\x1b[3bc\n", None, b"abc\n"),
    "a soft wrap does not end the line": (b"0123456789abc\n", 10, b"0123456789abc\n"),
    "CR goes to the start of the row": (b"0123456789abc\rX\n", 10, b"0123456789Xbc\n"),
    "CR in a full row": (b"0123456789\rX\n", 10, b"X123456789\n"),
    "no wrap mode": (b"\x1b[?7l0123456789abc\n", 10, b"012345678c\n"),
    "up and down within the line": (b"0123456789ab\x1b[AX\x1b[BY\n", 10, b"01X3456789ab Y\n"),
    "LF before the last row moves down": (b"0123456789ab\x1b[AX\nY\n", 10, b"01X3456789ab Y\n"),
    "LF in the last row ends the line": (b"0123456789ab\x1b[A\r\nY\nz", 10, b"0123456789Yb\nz"),
    "LF ends a line that never wraps": (b"0123456789ab\rX\nY\n", None, b"X123456789ab\nY\n"),
    "up beyond the line leaves it": (b"abc\x1b[Ade\n", 10, b"abc\n   de\n"),
    "up without a width leaves it": (b"012345\x1b[Ax\n", None, b"012345\n      x\n"),
    "reverse index within the line": (b"0123456789ab\x1bMX\n", 10, b"01X3456789ab"),
    "the cursor's address leaves the line": (b"abc\x1b[5;3Hde\x1b[Hf\n", None, b"abc\n  de\nf\n"),
    "leaving an empty line leaves no trace": (b"\x1b[H\x1b[2J\x1b[3;1Habc\n", None, b"abc\n"),
    "NEL leaves the line": (b"abc\x1bEdef\n", None, b"abc\ndef\n"),
    "save and restore": (b"ab\x1b7cd\x1b8X\x1b[sY\x1b[uZ\n", None, b"abXZ\n"),
    "restoring what is elsewhere leaves": (b"ab\x1b7\ncdefg\x1b8X\n", None, b"ab\ncdefg\n  X\n"),
    "a wide character takes two cells": ("世界\r\x1b[2CX\n".encode(), None, "世X \n".encode()),
    "half of it overwritten": ("世界\r\x1b[CX\n".encode(), None, " X界\n".encode()),
    "it does not split at the margin": ("012345678世a\n".encode(), 10, "012345678世a\n".encode()),
    "CR after it wrapped": ("012345678世\rX\n".encode(), 10, b"012345678X \n"),
    "marks join the cell before": ("e\u0301x\b\bE\n".encode(), None, b"Ex\n"),
    "marks at the start vanish": ("\u0301ab\n".encode(), None, b"ab\n"),
    "readline wraps with space and CR": (
        b"$ 34567890 \r1\b12\n", 10, b"$ 3456789012\n"),
    "zsh wraps with space, CR and EL": (
        b"% 34567890 \r\x1b[K0\r0a\n", 10, b"% 345678900a\n"),
    "zsh marks an unfinished line": (
        b"text\x1b[7m%\x1b[27m" + b" " * 9 + b"\r \r$ ", 10, b"text%     $   "),
    "bash leaves paste mode": (b"$ ls\x1b[?2004l\r\r\nfile\r\n", 80, b"$ ls\nfile\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_line_becomes_this_text_however_it_is_cut(name: str) -> None:
    data, width, text = CASES[name]
    whole = TextFilter(width)
    assert whole.feed(data) + whole.flush() == text
    one_by_one = TextFilter(width)
    pieces = [one_by_one.feed(data[i : i + 1]) for i in range(len(data))]
    assert b"".join(pieces) + one_by_one.flush() == text
    twin = TerminalTwin(width=width)
    if len(text) < 5000:
        twin.feed(data)
        assert b"".join(twin.lines) + twin.line() == text, "the twin itself"


# An input that brings the parser into each of its states.
STATES = {
    "ground": b"ab", "esc": b"ab\x1b", "esc_i": b"ab\x1b(", "csi": b"ab\x1b[", "csi_p": b"ab\x1b[1",
    "csi_i": b"ab\x1b[1 ", "csi_x": b"ab\x1b[1?", "osc": b"ab\x1b]0", "str": b"ab\x1b_",
    "dcs": b"ab\x1bP", "dcs_p": b"ab\x1bP1", "dcs_i": b"ab\x1bP ", "body": b"ab\x1bPq",
    "body_esc": b"ab\x1bPq\x1b",
}  # fmt: skip


@pytest.mark.parametrize("state", TABLE)
def test_each_byte_in_each_state_does_what_the_table_says(state: str) -> None:
    for byte in range(256):
        # What follows tells the states apart: text, parameters, ends.
        for tail in (b"xy", b"2Cxy", b"\\xy", b"\x07xy", b";2Hxy", b" qxy", b"\x1b\\xy"):
            data = STATES[state] + bytes([byte]) + tail
            twin = TerminalTwin(width=20)
            twin.feed(STATES[state])
            assert twin.state == state
            twin.feed(bytes([byte]) + tail)
            scan = LineScanner(width=20)
            scan.feed(data)
            assert (scan.line, scan.version) == (twin.line(), twin.version), data


@pytest.mark.parametrize(
    ("sequence", "works"),
    [
        (b"\x1b[" + b"0" * 62 + b"2C", True),
        (b"\x1b[" + b"0" * 62 + b"22C", False),
        (b"\x1b[2" + b";" * 23 + b"C", True),
        (b"\x1b[2" + b";" * 24 + b"C", False),
        (b"\x1b[2147483648C", False),
        (b"\x1b[18446744073709551618C", False),
    ],
)
def test_a_sequence_over_tmuxs_limits_is_ignored(sequence: bytes, works: bool) -> None:
    text_filter = TextFilter()
    assert text_filter.feed(b"a" + sequence + b"b\n") == (b"a  b\n" if works else b"ab\n")


def test_an_unterminated_string_keeps_nothing() -> None:
    scan = LineScanner()
    for _ in range(100):
        scan.feed(b"\x1b]0;" + b"x" * 100_000)
    assert scan.line == b""
    assert scan.feed(b"\x07text") == []
    assert scan.line == b"text"


@pytest.mark.parametrize("seed", range(10))
def test_what_is_not_utf8_takes_a_cell_for_each_replacement_that_python_makes(seed: int) -> None:
    random = Random(seed)
    # Leads with their narrower second bytes, at, below and above their bounds.
    alphabet = bytes.fromhex("61 7a c1 c3 a9 e0 9f a0 e2 90 80 bf ed f0 8f f4 f8 ff")
    for _ in range(300):
        data = bytes(random.choices(alphabet, k=random.randint(1, 60)))
        shown = [char for char in data.decode(errors="replace") if not "\x80" <= char < "\xa0"]
        # A mark joins what is before it, or vanishes in the first column.
        cells = sum(width(char) for char in shown)
        text_filter = TextFilter()
        text = text_filter.feed(data + b"\x1b[100GX\n").decode(errors="replace")
        assert text.removesuffix("X\n").rstrip(" ") == "".join(shown).lstrip(MARKS)
        assert len(text) - 2 == 99 - cells + len("".join(shown).lstrip(MARKS)), data
