"""The stages of the road, ours and what does the same: each makes a job of a text.

The limits of the machine are among them, and plain Python for those who would write it so. Peers
that search for literals are in searchers.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from bench.job import Answer, Job
from bench.phrases import EXPRESSIONS
from bench.searchers import SEARCHERS, Literals, load, re2_options
from bench.texts import Text
from tmux_wait import regexes
from tmux_wait._core import lib
from tmux_wait.stream import (
    ControlParser,
    LineScanner,
    LiteralMatcher,
    Output,
    Scanner,
    TextFilter,
    unescape_into,
)

_Pieces = list[bytes]


def _pieces(data: bytes, read: int | None) -> _Pieces:
    """Cut ``data`` into feeds of ``read`` bytes; None: one feed."""
    size = read or len(data)
    return [data[at : at + size] for at in range(0, len(data), size)]


# --- the limits ---


def find_absent(form: str, text: Text, size: int) -> Job:
    data = getattr(text, form)(size)
    return Job(len(data), lambda: data.find(b"\xff"), lambda found: None)


def copy_all(form: str, text: Text, size: int) -> Job:
    data = getattr(text, form)(size)
    return Job(len(data), lambda: bytearray(data), lambda copied: None)


# --- unescaping ---


def unescape(text: Text, size: int, read: int | None = None) -> Job:
    data = text.control(size)
    pieces = _pieces(data, read)
    parser = ControlParser()

    def kept() -> bytes:
        events = [event for piece in pieces for event in parser.feed(piece)]
        return b"".join(event.data for event in events if isinstance(event, Output))

    def run() -> None:
        for piece in pieces:
            parser.feed(piece)

    return Job(len(data), run, lambda _: kept(), len(pieces))


_OCTAL = re.compile(rb"\\([0-7]{3})")
_BYTES = {b"%03o" % byte: bytes([byte]) for byte in range(256)}


def unescape_alone(text: Text, size: int) -> Job:
    """The same without lines and events: what output lines hold, up to 64 KiB at a time."""
    pieces = [b""]
    for line in text.control(size).splitlines():
        if len(pieces[-1]) >= 1 << 16:
            pieces.append(b"")
        pieces[-1] += line.split(b" ", 2)[2]
    room = bytearray(max(map(len, pieces)))

    def run() -> None:
        for piece in pieces:
            unescape_into(room, piece)

    def kept() -> bytes:
        return b"".join(bytes(room[: unescape_into(room, piece)]) for piece in pieces)

    return Job(sum(map(len, pieces)), run, lambda _: kept(), len(pieces))


def unescape_re(text: Text, size: int) -> Job:
    data = text.control(size)
    lines = re.compile(rb"%output %\d+ (.*)\n")

    def run() -> bytes:
        joined = b"".join(lines.findall(data))
        return _OCTAL.sub(lambda found: _BYTES[found[1]], joined)

    return Job(len(data), run, lambda left: left)


# --- escape removal ---

_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, to BEL or ST
    rb"|[PX^_k][^\x1b]*(?:\x1b[^\\][^\x1b]*)*\x1b\\"  # DCS, SOS, PM, APC, title, to ST
    rb"|[ -/]+[0-~]"  # charset selection and its kin
    rb"|[0-OQ-WYZ\\`-jl-~])"  # two bytes
)
_CONTROLS = bytes([*range(10), *range(11, 32), 127])


def strip(text: Text, size: int, width: int | None = None, read: int | None = None) -> Job:
    data = text.raw(size)
    pieces = _pieces(data, read)
    only_strip = text.only_strip
    texts = TextFilter(width)

    def run() -> bytes:
        left = b""
        for piece in pieces:
            left = texts.feed(piece)
        return left

    return Job(len(data), run, lambda left: left if only_strip and not read else None, len(pieces))


def strip_re(text: Text, size: int) -> Job:
    """The sequences by re.sub, the other controls by translate: twice as fast as re.sub alone."""
    data = text.raw(size)
    only_strip = text.only_strip
    return Job(
        len(data),
        lambda: _SEQUENCE.sub(b"", data).translate(None, _CONTROLS),
        lambda left: left if only_strip else None,
    )


def render_pyte(text: Text, size: int) -> Job:
    pyte = load("pyte", "pyte")
    data = text.raw(size)[:size]
    stream = pyte.ByteStream(pyte.Screen(120, 40))
    return Job(len(data), lambda: stream.feed(data), lambda _: None)


# --- literals ---


def search(name: str, literals: Literals | None, match_case: bool, text: Text, size: int) -> Job:
    searcher = SEARCHERS[name](literals or text.literals, match_case)
    return searcher.job(text.stripped(size))


def build(literals: Literals, text: Text, size: int) -> Job:
    total = sum(len(literal) for literal in literals)
    return Job(total, lambda: LiteralMatcher(literals), lambda _: None)


# --- the fused pass ---


def scan(
    source: Literal["control", "raw"],
    literals: Literals | None,
    text: Text,
    size: int,
    read: int | None = None,
) -> Job:
    data = text.control(size) if source == "control" else text.raw(size)
    pieces = _pieces(data, read)
    scanner = Scanner(literals or text.literals, source=source)

    def run() -> list[Any]:
        return [hit for piece in pieces for hit in scanner.feed(piece)]

    return Job(len(data), run, lambda hits: _indexes(hit.index for hit in hits), len(pieces))


def scan_lines(
    literals: Literals | None, text: Text, size: int, read: int | None = None, take: bool = True
) -> Job:
    """``take``: the completed lines are taken after each feed, as a wait for regexes does."""
    data = text.raw(size)
    pieces = _pieces(data, read)
    scanner = LineScanner(literals or text.literals)

    def run() -> list[Any]:
        hits: list[Any] = []
        for piece in pieces:
            hits += scanner.feed(piece)
            if take:
                scanner.completed()
        return hits

    return Job(len(data), run, lambda hits: _indexes(hit.pattern for hit in hits), len(pieces))


def search_only(name: str, literals: Literals | None, text: Text, size: int) -> Job:
    """A peer's search of the text that is stripped already, for what the fused pass is held to."""
    job = search(name, literals, False, text, size)
    only_strip = text.only_strip

    def answer(found: Any) -> Answer:
        hits = job.answer(found)
        assert hits is not None
        return _indexes(hit[0] for hit in hits if isinstance(hit, tuple)) if only_strip else None

    return Job(job.size, job.run, answer)


def _indexes(found: Iterable[int]) -> list[tuple[int, int]]:
    return [(index, 0) for index in found]


def scan_python(literals: Literals | None, text: Text, size: int) -> Job:
    """The same road in plain Python: re.sub twice and an alternation."""
    unescaped = unescape_re(text, size)
    search = SEARCHERS["re alternation"](literals or text.literals, False).search
    return Job(
        unescaped.size,
        lambda: search(_SEQUENCE.sub(b"", unescaped.run()).translate(None, _CONTROLS)),
        lambda _: None,
    )


# --- feeds ---


def search_feeds(text: Text, size: int, read: int) -> Job:
    data = text.stripped(size)
    pieces = _pieces(data, read)
    matcher = LiteralMatcher(text.literals)

    def run() -> None:
        for piece in pieces:
            matcher.feed(piece)

    return Job(len(data), run, lambda _: None, len(pieces))


def empty_calls(text: Text, size: int, read: int) -> Job:
    """As many calls into C that do nothing."""
    data = text.raw(size)
    pieces = _pieces(data, read)
    call = lib.tw_simd_level

    def run() -> None:
        for _ in pieces:
            call()

    return Job(len(data), run, lambda _: None, len(pieces))


# --- regular expressions ---


def bulk(text: Text, size: int) -> Job:
    lines = text.stripped(size)
    compiled = [regexes.Regex(source, match_case=False) for source in EXPRESSIONS]
    bulk = regexes.bulk_of(compiled, match_case=False)
    assert bulk is not None
    return Job(len(lines), lambda: bulk.search(lines), lambda found: _found(found is not None))


def line_by_line(text: Text, size: int) -> Job:
    data = text.stripped(size)
    lines = data.split(b"\n")
    compiled = [regexes.Regex(source, match_case=False) for source in EXPRESSIONS]

    def run() -> bool:
        return any(regex.finished(line) is not None for line in lines for regex in compiled)

    return Job(len(data), run, _found)


def expressions_re(text: Text, size: int) -> Job:
    data = text.stripped(size)
    source = "|".join(f"(?:{source})" for source in EXPRESSIONS).encode()
    pattern = re.compile(source, re.IGNORECASE | re.MULTILINE)
    return Job(len(data), lambda: pattern.search(data), lambda found: _found(found is not None))


def expressions_re2_set(text: Text, size: int) -> Job:
    data = text.stripped(size)
    module, options = re2_options(match_case=False)
    expressions = module.Set.SearchSet(options)
    for source in EXPRESSIONS:
        expressions.Add(f"(?m:{source})")
    expressions.Compile()
    return Job(len(data), lambda: expressions.Match(data), lambda found: _found(bool(found)))


def expressions_hyperscan(text: Text, size: int) -> Job:
    module = load("hyperscan", "hyperscan")
    data = text.stripped(size)
    database = module.Database(mode=module.HS_MODE_BLOCK)
    database.compile(
        expressions=[source.encode() for source in EXPRESSIONS],
        ids=list(range(len(EXPRESSIONS))),
        elements=len(EXPRESSIONS),
        flags=[module.HS_FLAG_CASELESS | module.HS_FLAG_MULTILINE] * len(EXPRESSIONS),
    )
    database.scratch = module.Scratch(database)

    def run() -> list[int]:
        found: list[int] = []
        database.scan(data, match_event_handler=lambda index, *_: found.append(index))
        return found

    return Job(len(data), run, lambda found: _found(bool(found)))


def _found(found: bool) -> Answer:
    return [(0, 0)] if found else []
