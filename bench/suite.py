"""Every stage on every text, and its peers: `pytest bench/suite.py`, for pytest-benchmark.

`make bench` runs it and writes the report. A case whose engine is not installed is skipped; one
whose engine says something else than ours of the same text fails.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.cases import CASES, Case, check
from bench.clock import runs_of_a_sample, seconds
from bench.job import Missing

ROUNDS = (5, 50)  # at least and at most


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}: {case.engine}")
def test_speed(
    case: Case, text_bytes: int | None, case_seconds: float, benchmark: BenchmarkFixture
) -> None:
    """Time one case."""
    try:
        job = case.job(text_bytes)
    except Missing as missing:
        pytest.skip(str(missing))
    check(case, job, text_bytes)
    runs, rounds = _how_often(job.run, case_seconds) if case_seconds else (1, 1)
    benchmark.group = case.group
    benchmark.extra_info |= {
        "stage": case.stage,
        "text": case.text,
        "engine": case.engine,
        "bytes": job.size,
        "feeds": job.feeds,
    }
    benchmark.pedantic(job.run, rounds=rounds, iterations=runs)  # type: ignore[no-untyped-call]


def _how_often(run: Callable[[], object], budget: float) -> tuple[int, int]:
    """Return the runs of a round, and how many rounds take ``budget`` seconds."""
    runs = runs_of_a_sample(run)
    least, most = ROUNDS
    rounds = round(budget / max(seconds(run) * runs, 1e-9))
    return runs, min(most, max(least, rounds))
