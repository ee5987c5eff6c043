"""The texts that the benchmarks run on: made here from fixed seeds, the same on every machine.

Each is what a pane writes. The logs are of one shape, a timestamp, a level, a component and a
message with numbers; they differ in colour and vocabulary, for vocabulary is what the speed of a
prefilter hangs on. The worst cases are each the enemy of one idea. `control` turns a text into
what a control client writes of it, with the line sizes of a real flood.
"""

from __future__ import annotations

import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path

from bench.phrases import ABSENT, MESSAGES, NEAR_MISSES, PREFIXED
from tmux_wait.stream import TextFilter

MIB = 1 << 20
RECORDING = Path(__file__).parent / "tui.raw.xz"

_LEVELS = ((b"INFO", b"32"), (b"INFO", b"32"), (b"DEBUG", b"36"), (b"WARN", b"33"))
_COMPONENTS = (
    b"http.server", b"db.pool", b"cache", b"worker-3", b"worker-17", b"scheduler", b"auth",
    b"mailer", b"kernel", b"billing.api",
)  # fmt: skip


@dataclass(frozen=True)
class Text:
    """A text of any size, and the literals to search it for.

    ``raw(size)`` is at least ``size`` bytes and ends where a line does, if it has lines.
    ``only_strip``: all that makes lines of it is to remove its escape sequences and controls.
    """

    name: str
    about: str
    make: Callable[[int], bytes]
    literals: tuple[bytes, ...] = ABSENT
    only_strip: bool = True

    def raw(self, size: int) -> bytes:
        """What a pane writes."""
        return _raw(self.name, size)

    def control(self, size: int) -> bytes:
        """The same as a control client writes it."""
        return _control(self.name, size)

    def stripped(self, size: int) -> bytes:
        """Its lines as plain text."""
        return _stripped(self.name, size)


@lru_cache(maxsize=4)
def _raw(name: str, size: int) -> bytes:
    return TEXTS[name].make(size)


@lru_cache(maxsize=4)
def _stripped(name: str, size: int) -> bytes:
    text = TextFilter()
    return text.feed(_raw(name, size)) + text.flush()


@lru_cache(maxsize=4)
def _control(name: str, size: int) -> bytes:
    return control(_raw(name, size))


# --- logs ---


def _log(size: int, messages: tuple[bytes, ...], *, colour: bool = False) -> bytes:
    draw = random.Random(len(messages[0]))
    shape = (
        b"\x1b[2m%s\x1b[0m \x1b[1;%sm%-5s\x1b[0m \x1b[34m%s\x1b[0m: %s\r\n"
        if colour
        else b"%s%.0s %-5s %s: %s\r\n"
    )

    def line(clock: int) -> bytes:
        level, code = draw.choice(_LEVELS)
        said = draw.choice(messages) % (draw.randrange(100_000), draw.randrange(1000))
        return shape % (_time(clock), code, level, draw.choice(_COMPONENTS), said)

    return _lines(size, (line(clock) for clock in _clock(draw)))


def _clock(draw: random.Random) -> Iterator[int]:
    """Yield the milliseconds of the day at which something is logged."""
    now = 0
    while True:
        now += draw.randrange(400)
        yield now


def _time(ms: int) -> bytes:
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return b"2026-03-01T%02d:%02d:%02d.%03dZ" % (hours % 24, minutes, seconds, ms)


def _lines(size: int, lines: Iterator[bytes]) -> bytes:
    """Join as many lines as make ``size`` bytes."""
    taken: list[bytes] = []
    total = 0
    while total < size:
        taken.append(next(lines))
        total += len(taken[-1])
    return b"".join(taken)


def _coloured(size: int) -> bytes:
    return _log(size, MESSAGES, colour=True)


def _plain(size: int) -> bytes:
    return _log(size, MESSAGES)


def _near_miss(size: int) -> bytes:
    return _log(size, NEAR_MISSES)


def _words(size: int) -> bytes:
    """Made-up words with the letters of English, so that any letter meets any other."""
    draw = random.Random(26)
    letters, weights = zip(*_LETTERS.items(), strict=True)
    soup = "".join(draw.choices(letters, weights, k=max(1000, size // 2)))  # cut anywhere

    def line(clock: int) -> bytes:
        at, words = draw.randrange(len(soup)), []
        for _ in range(9):
            length = draw.randrange(2, 11)
            words.append(soup[at : at + length])
            at += length
        return b"%s %s %d\r\n" % (_time(clock), " ".join(words).encode(), draw.randrange(1000))

    return _lines(size, (line(clock) for clock in _clock(draw)))


# How often a letter stands in a thousand of English.
_LETTERS = {
    "e": 127, "t": 91, "a": 82, "o": 75, "i": 70, "n": 67, "s": 63, "h": 61, "r": 60, "d": 43,
    "l": 40, "c": 28, "u": 28, "m": 24, "w": 24, "f": 22, "g": 20, "y": 20, "p": 19, "b": 15,
    "v": 10, "k": 8, "j": 2, "x": 2, "q": 1, "z": 1,
}  # fmt: skip


def _rare_hits(size: int) -> bytes:
    """A coloured log with one of the literals on one line in about two thousand."""
    lines = _log(size, MESSAGES, colour=True).splitlines(keepends=True)
    for at in range(1000, len(lines), 2000):
        lines[at] = lines[at][:-2] + b" " + ABSENT[at // 2000 % 8].upper() + b"\r\n"
    return b"".join(lines)


# --- worst cases and others ---


def _tui(size: int) -> bytes:
    recorded = lzma.decompress(RECORDING.read_bytes())
    return _repeated(size, recorded)


def _escapes(size: int) -> bytes:
    return b"\x1b" * size


def _one_line(size: int) -> bytes:
    return _plain(size).replace(b"\r\n", b" ")


def _all_hits(size: int) -> bytes:
    return _repeated(size, b"".join(literal + b" " for literal in ABSENT) + b"\r\n")


def _progress(size: int) -> bytes:
    def bar(step: int) -> bytes:
        done = step % 101
        end = b"\r\n" if done == 100 else b"\r"
        return b"fetching %3d%% [%-50s] %5d kB/s" % (done, b"#" * (done // 2), step % 977) + end

    return _lines(size, map(bar, count()))


def _utf8(size: int) -> bytes:
    draw = random.Random(8)
    words = (
        "端末", "出力", "を", "待つ", "ничего", "не", "пропадёт", "café", "naïve", "🙂🚀",
        "e\u0301a\u0308", "한국어", "ไทย",
    )  # fmt: skip

    def line() -> bytes:
        return " ".join(draw.choices(words, k=12)).encode() + b"\r\n"

    return _lines(size, iter(line, None))


def _prefixes(size: int) -> bytes:
    return _repeated(size, b"a" * 1022 + b"\r\n")


def _repeated(size: int, piece: bytes) -> bytes:
    return piece * -(-size // len(piece))


TEXTS = {
    text.name: text
    for text in (
        Text("coloured", "a log with colours around time, level and component", _coloured),
        Text("plain", "the same log without colours", _plain),
        Text("near-miss", "a log full of the words of the literals, never one whole", _near_miss),
        Text("words", "a log of made-up words with the letters of English", _words),
        Text("rare hits", "the coloured log, a literal on one line in 2,000", _rare_hits),
        Text("tui", "vim and less at work, recorded", _tui, only_strip=False),
        Text("all hits", "one literal after another", _all_hits),
        Text("one line", "the plain log without a line feed", _one_line, only_strip=False),
        Text("progress", "progress bars redrawn by CR", _progress, only_strip=False),
        Text("utf-8", "CJK, Cyrillic, emoji, combining characters", _utf8),
        Text("prefixes", "a run of what all literals begin with", _prefixes, PREFIXED),
        Text("escapes", "every byte an ESC", _escapes),
    )
}

LOGS = ("coloured", "plain", "near-miss", "words", "rare hits")


# --- as a control client writes it ---

# What tmux 3.3a, 3.7c and 3.8 write of a flood: of 60,000 lines 35 % had 2,730 bytes of data,
# 32 % 1,365, 6 % 32, the rest were spread from 33 to 1,300. (It is one read of 4,096 bytes, cut
# at a third of the 8 KiB that may wait for the client, then at a third of what is left of that.)
_PAIR = (2730, 1365)
_ODD_CHANCE = 0.5  # per pair, so that a third of the lines are neither


def _sizes(draw: random.Random) -> Iterator[int]:
    while True:
        yield from _PAIR
        if draw.random() < _ODD_CHANCE:
            yield 32 if draw.random() < 0.2 else draw.randrange(33, 1300)
        if draw.random() < _ODD_CHANCE:
            yield draw.randrange(33, 1300)


_ESCAPED = [(bytes([byte]), b"\\%03o" % byte) for byte in (0x5C, *range(32))]


def control(raw: bytes, pane: int = 0) -> bytes:
    """Return the ``%output`` lines of what a pane wrote."""
    sizes = _sizes(random.Random(4096))
    lines = []
    at = 0
    while at < len(raw):
        data = raw[at : at + (size := next(sizes))]
        at += size
        for byte, octal in _ESCAPED:
            if byte in data:
                data = data.replace(byte, octal)
        lines.append(b"%%output %%%d %s\n" % (pane, data))
    return b"".join(lines)
