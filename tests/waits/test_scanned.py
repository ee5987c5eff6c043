"""What the drain scans is judged as if it had been judged here: same hit, same line, same text."""

from __future__ import annotations

import os
import random
import select
import threading

import pytest
from conftest import PATIENCE

from tmux_wait.echo import Ledger
from tmux_wait.observe.drain import Reader, Stream
from tmux_wait.patterns import PatternSet
from tmux_wait.waits.hits import Hit
from tmux_wait.waits.stream import StreamJudge

WORDS = (
    b"ready",
    b"read",
    b"y",
    b"\r",
    b"\r\n",
    b"\n",
    b" ",
    b"\x1b[32m",
    b"\x1b[K",
    b"\b",
    b"STOP",
)
FILLER = b"".join(b"line %d of the log\r\n" % n for n in range(300))


def random_output(chance: random.Random) -> bytes:
    """Return lines in which what is looked for may stand, whole, in pieces or redrawn."""
    pieces = [chance.choice(WORDS) for _ in range(chance.randrange(60))]
    return FILLER * chance.randrange(8) + b"".join(pieces) + FILLER[: chance.randrange(200)]


def judge(stop: tuple[str, ...]) -> StreamJudge:
    """Return a judge that looks for literals."""
    patterns = PatternSet(["ready", "ready y"], stop, regex=False, match_case=False)
    made = StreamJudge(patterns, Ledger(), width=80)
    made.seed(b"$ rea", 5)
    return made


def scanned(made: StreamJudge, reader: Reader, size: int) -> Hit | None:
    """Let the drain scan ``size`` bytes for a judge; return its first hit."""
    hit = None
    while made.heard < size and hit is None:
        scanner = made.lend()
        assert scanner is not None
        reader.lend(scanner)
        assert select.select([reader.fd], [], [], PATIENCE)[0]
        part = reader.take_back()
        if part is not None:
            hit = made.scanned(part.size, part.text, list(part.hits))
    return hit


@pytest.mark.parametrize("seed", range(60))
def test_a_lent_scanner_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    output = random_output(chance)
    stop = ("stop",) if chance.random() < 0.5 else ()
    alone, lending = judge(stop), judge(stop)
    read, write = os.pipe()
    os.set_blocking(read, False)
    stream = Stream(read)
    reader = stream.reader()
    writer = threading.Thread(target=os.write, args=(write, output))
    writer.start()
    try:
        hit = scanned(lending, reader, len(output))
        expected = None
        for at in range(0, len(output), 7):  # cuts change nothing, the size of a feed apart
            expected = alone.feed(output[at : at + 7])
            if expected is not None:
                break
    finally:
        writer.join()
        reader.close()
        stream.close()
        os.close(read)
        os.close(write)
    assert (hit is None) == (expected is None)
    if hit is not None and expected is not None:
        assert (hit.version, hit.at, hit.pattern) == (
            expected.version,
            expected.at,
            expected.pattern,
        )
    else:
        assert (lending.text, lending.line, lending.heard) == (alone.text, alone.line, alone.heard)
        assert lending.finish() == alone.finish()
    assert lending.saw_output == alone.saw_output


@pytest.mark.parametrize(
    ("patterns", "regex"), [([], False), (["a\nb"], False), (["a+"], True)],
    ids=["any output", "two lines", "regular expression"],
)  # fmt: skip
def test_what_needs_each_line_is_not_lent(patterns: list[str], regex: bool) -> None:
    made = PatternSet(patterns, (), regex=regex, match_case=False)
    assert StreamJudge(made, Ledger(), width=80).lend() is None


def test_while_an_echo_is_due_nothing_is_lent() -> None:
    ledger = Ledger()
    made = StreamJudge(PatternSet(["ready"], (), regex=False, match_case=False), ledger, width=80)
    assert made.lend() is not None
    ledger.submit(b"$ ", "echo ready")
    assert made.lend() is None
