"""The benchmarks: each a stage, a text and an engine.

The engines of one stage and text get the same content and must give the same answer. Slow ones get
a smaller text; speed is bytes by seconds for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from bench import stages
from bench.job import OURS, Answer, Job, agree
from bench.phrases import ABSENT, MANY
from bench.searchers import SEARCHERS, Literals
from bench.texts import LOGS, MIB, TEXTS, Text

LOG_BYTES = 8 * MIB  # of a log: several times the second-level cache
OTHER_BYTES = 4 * MIB
FEEDS_BYTES = MIB // 2  # for feeds of 64 bytes, a few thousand of them

READ = 64 * 1024  # bytes: what a pipe gives at most at once
PAGE = 4096
SMALL = 64  # bytes: a feed whose price is the call

# By how much the text is smaller for what takes seconds for the whole of it.
_SHARES = {
    "pyahocorasick": 8,
    "google-re2 alternation": 4,
    "re alternation": 64,
    "re.sub": 8,
    "pyte": 64,
    "plain Python": 64,
    "line by line": 32,
}


@dataclass(frozen=True)
class Case:
    """One benchmark."""

    stage: str
    text: str
    engine: str
    make: Callable[[Text, int], Job]

    @property
    def group(self) -> str:
        """What is compared with one another."""
        return f"{self.stage}: {self.text}"

    def job(self, size: int | None = None) -> Job:
        """Make it ready, for ``size`` bytes of raw text instead of the usual."""
        return self.make(TEXTS[self.text], max(1, self.size(size)))

    def size(self, size: int | None = None) -> int:
        """Return how many bytes of raw text it gets."""
        whole = size or usual_size(self.text)
        if self.stage == FEEDS_SMALL:
            whole = min(whole, FEEDS_BYTES)
        return whole // _SHARES.get(self.engine, 1)


def usual_size(text: str) -> int:
    """Return how many bytes of a text are made, at least."""
    return LOG_BYTES if text in LOGS else OTHER_BYTES


class Disagreement(Exception):
    """Two engines that should have done the same work have not."""


def check(case: Case, job: Job, size: int | None = None) -> None:
    """Run the job once; raise ``Disagreement`` unless it says what ours says of the same text."""
    answer = job.answer(job.run())
    if not agree(_reference(case, case.size(size)), answer):
        raise Disagreement(f"{case.engine} disagrees with {OURS}, {case.group}")


_references: dict[tuple[str, int], Answer] = {}


def _reference(case: Case, size: int) -> Answer:
    """Return what ours says of ``size`` bytes of a case's text; None if it is not in the group."""
    key = case.group, size
    if key not in _references:
        _references.clear()  # they may be large, and cases come group by group
        ours = [other for other in CASES if (other.group, other.engine) == (case.group, OURS)]
        job = ours[0].make(TEXTS[case.text], size) if ours else None
        _references[key] = job.answer(job.run()) if job else None
    return _references[key]


# --- which there are ---

LIMITS = "limits of the machine"
UNESCAPE = "octal unescaping"
STRIP = "escape removal"
RENDER = "rendering"
LINES = "lines of one pane, 8 literals"
FEEDS_SMALL = "feeds of 64 bytes"
FEEDS_PAGE = "feeds of 4 KiB"
REGEX = "regular expressions"
BUILD = "building a matcher"

_SETS: tuple[tuple[str, Literals | None], ...] = (
    ("8 literals", None),
    ("1 literal", ABSENT[:1]),
    ("64 literals", MANY),
)


def search_stage(literals: str, match_case: bool = False) -> str:
    """Name the search for "8 literals", say, in stripped text."""
    return f"{literals}{', matching case' if match_case else ''}"


def fused_stage(literals: str) -> str:
    """Name the way from what tmux writes to hits."""
    return f"fused pass, {literals}"


_BLOCK_SCANS = ("hyperscan", "libhs")


def _limits() -> Iterator[Case]:
    for form in ("stripped", "raw", "control"):
        for name, make in (("memchr", stages.find_absent), ("memcpy", stages.copy_all)):
            yield Case(LIMITS, "coloured", f"{name}, {form}", partial(make, form))


def _unescaping() -> Iterator[Case]:
    for text in ("coloured", "plain", "tui", "escapes"):
        for name, make in (
            (OURS, stages.unescape),
            (f"{OURS}, 64 KiB feeds", partial(stages.unescape, read=READ)),
            (f"{OURS}, alone", stages.unescape_alone),
            ("re.sub", stages.unescape_re),
            ("memchr", partial(stages.find_absent, "control")),
        ):
            yield Case(UNESCAPE, text, name, make)


def _stripping() -> Iterator[Case]:
    for text in TEXTS:
        yield Case(STRIP, text, OURS, stages.strip)
        yield Case(STRIP, text, f"{OURS}, 64 KiB feeds", partial(stages.strip, read=READ))
        yield Case(STRIP, text, "re.sub", stages.strip_re)
        yield Case(STRIP, text, "memchr", partial(stages.find_absent, "raw"))
    yield Case(RENDER, "tui", OURS, partial(stages.strip, width=120))
    yield Case(RENDER, "tui", "pyte", stages.render_pyte)


def _searching() -> Iterator[Case]:
    hard = ("rare hits", "all hits", "prefixes", "utf-8", "tui")
    for name, literals in _SETS:
        for match_case in (False, True):
            texts = ("coloured", "near-miss", "words", *(hard if name == "8 literals" else ()))
            for text in texts if not match_case else texts[:3]:
                for engine in SEARCHERS:
                    make = partial(stages.search, engine, literals, match_case)
                    yield Case(search_stage(name, match_case), text, engine, make)
                yield Case(
                    search_stage(name, match_case), text, "memchr",
                    partial(stages.find_absent, "stripped"),
                )  # fmt: skip
        yield Case(BUILD, "coloured", name, partial(stages.build, literals or ABSENT))


def _fused() -> Iterator[Case]:
    for name, literals in _SETS:
        stage = fused_stage(name)
        for text in TEXTS if name == "8 literals" else ("coloured", "near-miss"):
            yield Case(stage, text, OURS, partial(stages.scan, "control", literals))
            yield Case(stage, text, f"{OURS}, raw", partial(stages.scan, "raw", literals))
            for engine in SEARCHERS:
                if engine.startswith(_BLOCK_SCANS) and text != "escapes":
                    make = partial(stages.search_only, engine, literals)
                    yield Case(stage, text, f"{engine}, search alone", make)
            if text in LOGS:
                yield Case(stage, text, "plain Python", partial(stages.scan_python, literals))


def _lines() -> Iterator[Case]:
    for text in TEXTS:
        yield Case(LINES, text, OURS, partial(stages.scan_lines, None))


def _feeds() -> Iterator[Case]:
    for stage, read in ((FEEDS_SMALL, SMALL), (FEEDS_PAGE, PAGE)):
        for name, make in (
            ("an empty call", stages.empty_calls),
            ("LiteralMatcher", stages.search_feeds),
            ("TextFilter", stages.strip),
            ("ControlParser", stages.unescape),
            ("Scanner, raw", partial(stages.scan, "raw", None)),
            ("Scanner, control", partial(stages.scan, "control", None)),
            ("LineScanner", partial(stages.scan_lines, None, take=False)),
        ):
            yield Case(stage, "coloured", name, partial(make, read=read))


def _regexes() -> Iterator[Case]:
    for text in ("coloured", "near-miss"):
        yield Case(REGEX, text, OURS, stages.bulk)
        yield Case(REGEX, text, "line by line", stages.line_by_line)
        yield Case(REGEX, text, "hyperscan", stages.expressions_hyperscan)
        yield Case(REGEX, text, "google-re2 Set", stages.expressions_re2_set)
        yield Case(REGEX, text, "re alternation", stages.expressions_re)


CASES = (
    *_limits(), *_unescaping(), *_stripping(), *_searching(), *_fused(), *_lines(), *_feeds(),
    *_regexes(),
)  # fmt: skip


def find(stage: str, text: str, engine: str) -> Case:
    """Return a case by its names."""
    return next(c for c in CASES if (c.stage, c.text, c.engine) == (stage, text, engine))
