"""The option of the suite, and the core that it keeps to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.clock import one_core


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the texts be smaller and the timing shorter, to see whether all works."""
    parser.addoption("--text-bytes", type=int, help="bytes of raw text, instead of 4 or 8 MiB")
    parser.addoption("--case-seconds", type=float, default=0.25, help="timing a case, at least")


@pytest.fixture(scope="session")
def text_bytes(pytestconfig: pytest.Config) -> int | None:
    """How many bytes of raw text each case gets; None: as many as is usual."""
    size: int | None = pytestconfig.getoption("--text-bytes")
    return size


@pytest.fixture(scope="session")
def case_seconds(pytestconfig: pytest.Config) -> float:
    """For how long a case is timed, if its rounds are short enough; 0: one round."""
    seconds: float = pytestconfig.getoption("--case-seconds")
    return seconds


@pytest.fixture(scope="session", autouse=True)
def _one_core() -> Iterator[None]:
    with one_core():
        yield
