"""What tests of the vector paths share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tmux_wait._core import lib

LEVELS = {
    "scalar": lib.TW_SIMD_SCALAR,
    "sse2": lib.TW_SIMD_SSE2,
    "avx2": lib.TW_SIMD_AVX2,
    "avx512": lib.TW_SIMD_AVX512,
    "neon": lib.TW_SIMD_NEON,
}


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make what is built in the test use this level."""
    before = lib.tw_simd_level()
    if not lib.tw_simd_use(LEVELS[request.param]):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    assert lib.tw_simd_use(before)
