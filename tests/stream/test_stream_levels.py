"""The vector paths: on each level the processor has, whole lines in bulk are what the twin says."""

from __future__ import annotations

from random import Random
from unittest import mock

import pytest
from control_twin import ScannerTwin, control_twin
from samples import BROKEN, CONTROLS, SEQUENCES, UTF8, WORDS, random_cut
from terminal_twin import TerminalTwin

from tmux_wait import stream
from tmux_wait._core import lib
from tmux_wait.stream import ControlParser, LineScanner, Output, Scanner, TextFilter

LITERALS = [b"ready", b"b\na", b"aab", b"\n", b"0123456789", b"zz", "é世".encode(), b"q" * 70]
ROOMS = {"_HITS_ROOM": 1, "_VERSIONS_ROOM": 5, "_TEXT_ROOM": 0}


def colour(random: Random) -> bytes:
    """A sequence that has no effect at the end of a line, or almost none."""
    values = ";".join(str(random.randrange(300)) for _ in range(random.choice((0, 1, 1, 2, 5, 20))))
    return b"\x1b[%s%c" % (values.encode(), random.choice(b"mmmmmmmmmmmmKHC"))


def log(random: Random) -> bytes:
    """Lines as programs log them, with rare bytes at every place of a block of 64."""
    rare = [*CONTROLS, *SEQUENCES, *BROKEN, b"\r", b"\r\r\n", b"\x1b", b"\x1b[", b"\x1b[1;2"]
    odds = random.choice((0, 0, 0.01, 0.1))

    def piece() -> bytes:
        if random.random() < odds:
            return random.choice(rare)
        kind = random.random()
        if kind < 0.3:
            return random.choice((*WORDS, *UTF8) if odds else WORDS)
        if kind < 0.5:
            return bytes([random.choice(b"abqz 0;[m\\")]) * random.choice((1, 2, 63, 64, 65, 130))
        if kind < 0.7:
            return colour(random)
        if kind < 0.8:
            return b"\x1b]8;;file\x1b\\" if random.random() < 0.5 else b"\x1b]0;a title\x07"
        if odds and kind > 0.99:
            return b"\n" * 700  # more than a block takes
        return random.choice((b"\r\n", b"\r\n", b"\n", b"\r\r\n", b"\n\n", b"\r\n\r\n" * 40))

    return b"".join(piece() for _ in range(random.randint(1, 120)))


def rooms(random: Random) -> dict[str, int]:
    return {**(ROOMS if random.random() < 0.3 else {}), "_LINE_LIMIT": random.choice((64, 65536))}


@pytest.mark.parametrize("seed", range(60))
def test_lines_are_those_of_the_twin(level: str, seed: int) -> None:
    random = Random(seed)
    data, sizes = log(random), rooms(random)
    width, limit = random.choice((None, None, 1, 2, 80)), sizes["_LINE_LIMIT"]
    replace = seed % 2 == 0
    twin = TerminalTwin(tuple(LITERALS), width=width, limit=limit, replace=replace)
    with mock.patch.multiple(stream, **sizes):
        scan = LineScanner(LITERALS, width=width, replace=replace)
        text = TextFilter(width=width)
    hits, versions, lines = [], [], b""
    for part in random_cut(random, data):
        hits += scan.feed(part)
        versions += scan.versions()
        lines += text.feed(part)
    twin.feed(data)
    assert (scan.line, scan.version, scan.write) == (twin.line(), twin.version, twin.write)
    assert scan.visible == twin.visible
    hits += scan.finish()
    versions += scan.versions()
    twin.finish()
    assert hits == twin.hits
    assert versions == twin.versions
    lines += text.flush()
    twin = TerminalTwin((), width=width, context=0, limit=limit)
    twin.feed(data)
    twin.finish()
    assert lines.rstrip(b"\n") == b"".join(twin.lines).rstrip(b"\n")


def escaped(random: Random, data: bytes) -> bytes:
    """Write data into output lines as tmux does, and sometimes as no tmux would."""
    out = []
    while data:
        size = random.choice((1, 5, 64, 200, 1000))
        line = b"".join(
            b"\\%03o" % byte if byte < 32 or byte == 92 else bytes([byte]) for byte in data[:size]
        )
        if random.random() < 0.1:
            line += random.choice((b"\\", b"\\01", b"\\8", b"\\400", b"\r", b"a\rb", b"\\\\033"))
        end = b"\r\n" if random.random() < 0.05 else b"\n"
        out.append(b"%%output %%%d " % random.choice((0, 0, 0, 7)) + line + end)
        data = data[size:]
    return b"".join(out)


@pytest.mark.parametrize("seed", range(60))
def test_control_output_is_that_of_the_twin(level: str, seed: int) -> None:
    random = Random(seed)
    data, sizes = escaped(random, log(random)), rooms(random)
    expected = control_twin(data)
    twin = ScannerTwin(tuple(LITERALS), limit=sizes["_LINE_LIMIT"])
    for event in expected:
        if isinstance(event, Output):
            twin.write(event.pane, event.data)
    parser = ControlParser()
    with mock.patch.multiple(stream, **sizes):
        scanner = Scanner(LITERALS)
    events, hits = [], []
    for part in random_cut(random, data):
        events += parser.feed(part)
        hits += scanner.feed(part)
    assert events == expected
    assert hits == twin.found
    assert sorted(hits + scanner.finish(), key=repr) == sorted(twin.finish(), key=repr)


def test_a_level_that_does_not_exist_is_refused() -> None:
    before = lib.tw_simd_level()
    assert not lib.tw_simd_use(lib.TW_SIMD_LEVELS)
    assert lib.tw_simd_level() == before
    assert lib.tw_simd_use(lib.TW_SIMD_SCALAR)
    assert lib.tw_simd_level() == lib.TW_SIMD_SCALAR
    assert lib.tw_simd_use(before)
