"""How things are timed: one core, no garbage collection, rounds that take turns.

The clock counts this thread's processor time, so that what else runs on the machine disturbs
little: nothing that is timed here waits or has threads.
"""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

SAMPLE_SECONDS = 0.002  # a sample shorter than this is made of several runs
ROUNDS_LEAST = 5


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep to one core, where that can be said, and collect no garbage."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if allowed:
        os.sched_setaffinity(0, {max(allowed)})
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if allowed:
            os.sched_setaffinity(0, allowed)


def seconds(run: Callable[[], object], runs: int = 1) -> float:
    """Return the seconds that one of ``runs`` runs in a row takes."""
    began = time.thread_time()
    for _ in range(runs):
        run()
    return (time.thread_time() - began) / runs


def runs_of_a_sample(run: Callable[[], object]) -> int:
    """Return how many runs make a sample long enough for the clock; also warms up."""
    run()
    return max(1, round(SAMPLE_SECONDS / max(seconds(run), 1e-9)))


def take_turns(jobs: Sequence[Callable[[], object]], budget: float) -> list[list[float]]:
    """Return the seconds of each job in each round, for about ``budget`` seconds in all.

    A round runs every job once, so that whatever slows the machine for a while slows all.
    """
    runs = [runs_of_a_sample(job) for job in jobs]
    rounds: list[list[float]] = []
    end = time.perf_counter() + budget
    while len(rounds) < ROUNDS_LEAST or time.perf_counter() < end:
        rounds.append([seconds(job, count) for job, count in zip(jobs, runs, strict=True)])
    return [list(samples) for samples in zip(*rounds, strict=True)]


@dataclass(frozen=True)
class Spread:
    """A median with the quartiles around it."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Summarise samples, of which there are two at least."""
        low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
        return cls(low, middle, high)
