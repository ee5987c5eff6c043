"""The numbers to reach, as ratios: `python -m bench.ratios [--seconds N] [--only WORD]`.

Each ratio is measured by itself: ours and what it is held to take turns, and the ratio is the
median of the rounds' ratios. Engines are checked to agree before the clock starts. Where a peer
can be run in two ways the faster one of the run counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import cases
from bench.cases import Case, check, find, fused_stage, search_stage
from bench.clock import Spread, one_core, take_turns
from bench.job import OURS, Job, Missing

GIGA = 1e9
MICRO = 1e-6

BUDGET = 40.0  # seconds that all ratios take together, about

# A reading makes a number of the seconds of ours and of one that it is held to.
Reading = Callable[[float, float, Job, Job], float]


def own_bytes(ours: float, other: float, our_job: Job, other_job: Job) -> float:
    """Bytes per second of each one's own input, ours by the other's."""
    return (our_job.size / ours) / (other_job.size / other)


def same_content(ours: float, other: float, our_job: Job, other_job: Job) -> float:
    """The other's time by ours: both had the same content, however many bytes it took."""
    return other / ours


def growth(ours: float, other: float, our_job: Job, other_job: Job) -> float:
    """Time per byte, ours by the other's."""
    return 1 / own_bytes(ours, other, our_job, other_job)


def gigabytes(ours: float, other: float, our_job: Job, other_job: Job) -> float:
    """GB/s of our own input."""
    return our_job.size / ours / GIGA


def extra_microseconds(ours: float, other: float, our_job: Job, other_job: Job) -> float:
    """Microseconds of a feed above one call of the other."""
    return (ours / our_job.feeds - other / other_job.feeds) / MICRO


@dataclass(frozen=True)
class Goal:
    """A number to reach: ``target`` at least, or at most if ``at_most``; None: only told."""

    name: str
    beside: str
    reading: Reading
    ours: Case
    others: tuple[Case, ...]
    target: float | None
    at_most: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Result:
    """A goal as it was measured."""

    name: str
    beside: str
    value: float
    low: float
    high: float
    target: float | None
    at_most: bool
    unit: str
    ours_speed: float  # bytes per second of the own input
    other_speed: float

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target


def measure(goal: Goal, budget: float, size: int | None = None) -> Result:
    """Measure one goal for about ``budget`` seconds; raise ``Missing`` without its peer."""
    jobs = []
    for case in (goal.ours, *goal.others):
        jobs.append(case.job(size))
        check(case, jobs[-1], size)
    samples = take_turns([job.run for job in jobs], budget)
    ours, *others = samples
    best = min(range(len(others)), key=lambda at: statistics.median(others[at]))
    other, other_job = others[best], jobs[1 + best]
    values = Spread.of(
        [goal.reading(a, b, jobs[0], other_job) for a, b in zip(ours, other, strict=True)]
    )
    return Result(
        goal.name, goal.beside, values.middle, values.low, values.high, goal.target, goal.at_most,
        goal.unit,
        jobs[0].size / statistics.median(ours),
        other_job.size / statistics.median(other),
    )  # fmt: skip


# --- the goals ---

_EIGHT = search_stage("8 literals")
_FUSED = fused_stage("8 literals")
_BUILDS = ("hyperscan", "libhs")


def _fused() -> list[Goal]:
    ours = find(_FUSED, "coloured", OURS)
    return [
        Goal(
            f"fused pass, coloured log, {said}", f"{build}, search alone", reading, ours,
            (
                find(_FUSED, "coloured", f"{build}, search alone"),
                find(_FUSED, "coloured", f"{build}, as regexes, search alone"),
            ),
            0.8,
        )
        for said, reading in (("own bytes", own_bytes), ("same content", same_content))
        for build in _BUILDS
    ]  # fmt: skip


def _search() -> list[Goal]:
    def goal(text: str, engines: Sequence[str], target: float | None) -> Goal:
        return Goal(
            f"literal search, {text} log", engines[0], own_bytes, find(_EIGHT, text, OURS),
            tuple(find(_EIGHT, text, engine) for engine in engines), target,
        )  # fmt: skip

    return [
        *(goal("coloured", (build, f"{build}, as regexes"), 2.0) for build in _BUILDS),
        goal("coloured", ("ahocorasick-rs",), 8.0),
        *(goal("near-miss", (build, f"{build}, as regexes"), 1.0) for build in _BUILDS),
        *(goal("words", (build, f"{build}, as regexes"), None) for build in _BUILDS),
        goal("coloured", ("ahocorasick-rs, leftmost",), None),
    ]


def _strip() -> list[Goal]:
    coloured = find(cases.STRIP, "coloured", OURS)
    in_feeds = find(cases.STRIP, "coloured", f"{OURS}, 64 KiB feeds")
    others = (find(cases.STRIP, "coloured", "re.sub"),)
    feeds = find(cases.UNESCAPE, "coloured", f"{OURS}, 64 KiB feeds")
    alone = find(cases.UNESCAPE, "coloured", f"{OURS}, alone")
    memchr = (find(cases.UNESCAPE, "coloured", "memchr"),)
    return [
        Goal("escape removal, coloured log", "re.sub", own_bytes, coloured, others, 20.0),
        Goal("escape removal, 64 KiB feeds", "re.sub", own_bytes, in_feeds, others, 20.0),
        Goal(
            "octal unescaping, 64 KiB feeds",
            "in itself",
            gigabytes,
            feeds,
            memchr,
            2.0,
            unit="GB/s",
        ),
        Goal("octal unescaping alone", "bytes.find (memchr)", own_bytes, alone, memchr, 0.15),
    ]


def _feeds() -> list[Goal]:
    empty = (find(cases.FEEDS_SMALL, "coloured", "an empty call"),)
    return [
        Goal(
            f"a feed of 64 bytes, {name}", "an empty cffi call", extra_microseconds,
            find(cases.FEEDS_SMALL, "coloured", name), empty, 2.0, at_most=True, unit="µs",
        )
        for name in (
            "LiteralMatcher", "TextFilter", "ControlParser", "Scanner, raw", "Scanner, control",
            "LineScanner",
        )
    ]  # fmt: skip


def _growth() -> list[Goal]:
    return [
        Goal(
            f"64 literals, {said}, {text} log", "1 literal", growth,
            find(stage("64 literals"), text, OURS), (find(stage("1 literal"), text, OURS),),
            2.0, at_most=True,
        )
        for said, stage in (("search", search_stage), ("fused pass", fused_stage))
        for text in ("coloured", "near-miss")
    ]  # fmt: skip


GOALS = (*_fused(), *_search(), *_strip(), *_feeds(), *_growth())


# --- said ---


def verdict(result: Result) -> str:
    """Say the target and whether it was reached."""
    said = {True: "pass", False: "FAIL", None: "told"}[result.reached]
    return f"{said}, {target(result)}"


def target(result: Result) -> str:
    """Say the target."""
    if result.target is None:
        return "no target"
    return f"{'at most' if result.at_most else 'at least'} {result.target:g}"


def line(result: Result) -> str:
    """Say a result in a line of text."""
    speeds = f"{result.ours_speed / GIGA:7.3f} by {result.other_speed / GIGA:7.3f} GB/s"
    value = f"{result.value:8.2f} {result.unit:4}"
    spread = f"{result.low:.2f} to {result.high:.2f}"
    named = f"{result.name} / {result.beside}"
    return f"{named:74} {value} [{spread:>16}] {verdict(result):22} {speeds}"


def measure_all(goals: Sequence[Goal], budget: float, size: int | None = None) -> list[Result]:
    """Measure and print goals, one after another; a missing peer is said and passed over."""
    results = []
    with one_core():
        for goal in goals:
            try:
                results.append(measure(goal, budget / len(goals), size))
            except Missing as missing:
                print(f"{goal.name} / {goal.beside}: left out, {missing}", flush=True)
                continue
            print(line(results[-1]), flush=True)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.ratios", description=__doc__)
    parser.add_argument("--seconds", type=float, default=BUDGET, help="for all (%(default)s)")
    parser.add_argument("--only", default="", metavar="WORD", help="goals whose name holds it")
    parser.add_argument("--bytes", type=int, help="of raw text, instead of 8 MiB of a log")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    options = parser.parse_args(arguments)
    goals = [goal for goal in GOALS if options.only in f"{goal.name} / {goal.beside}"]
    if not goals:
        parser.error(f"no goal has {options.only!r} in its name")
    results = measure_all(goals, options.seconds * len(goals) / len(GOALS), options.bytes)
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
