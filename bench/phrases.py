"""What the texts say, and what they are searched for.

Nothing in MESSAGES or NEAR_MISSES, with its numbers in, holds a phrase that is searched for; the
smoke test of the benchmarks sees to that.
"""

from __future__ import annotations

MESSAGES = (
    b"GET /api/v1/items/%d 200 in %d ms",
    b"took job %d from queue, %d waiting",
    b"user %d logged in from 10.0.4.%d",
    b"cache hit for key item:%d (%d bytes)",
    b"retrying request %d, attempt %d",
    b"flushed %d rows in %d ms",
    b"checkpoint %d complete, %d pages written",
    b"session %d expired after %d s",
)
"""Log messages, each with two numbers to fill in."""

ABSENT = (
    b"READY to accept",
    b"out of memory",
    b"listening on",
    b"segmentation",
    b"connection refused",
    b"build failed",
    b"permission denied",
    b"assertion error",
)
"""What is searched for: eight phrases that somebody would wait for."""

NEAR_MISSES = (
    b"worker %d ready, not ready for traffic yet, already %d seconds",
    b"output of step %d: %d lines of output, none put out twice",
    b"listener %d registered, list of listeners has %d",
    b"segments %d to %d merged, segment cache warm",
    b"connections %d reused, %d connections refuse keep-alive",
    b"building target %d, build %d of the builder is faster",
    b"permissions of user %d changed, %d permissions kept",
    b"assertions checked: %d, assert level %d",
)
"""Log messages made of the words of ABSENT."""

MANY = (
    *ABSENT,
    b"fatal error", b"core dumped", b"no such file", b"timed out", b"Traceback (most recent",
    b"stack overflow", b"disk quota exceeded", b"broken pipe", b"address already in use",
    b"login incorrect", b"password:", b"[y/N]", b"Killed", b"panicked at", b"undefined symbol",
    b"cannot allocate", b"read-only file system", b"host unreachable", b"certificate has",
    b"all tests passed", b"tests failed", b"Compiled successfully", b"server started",
    b"shutting down", b"deadlock", b"rollback", b"checksum mismatch", b"syntax error",
    b"unexpected token", b"npm ERR!", b"make: ***", b"ld returned", b"BUILD SUCCESSFUL",
    b"Connection closed", b"press any key", b"Are you sure", b"(yes/no)", b"Bus error",
    b"Illegal instruction", b"double free", b"heap corruption", b"invalid argument",
    b"operation not permitted", b"resource temporarily", b"too many open files", b"no space left",
    b"device not configured", b"network is down", b"protocol error", b"bad gateway",
    b"upstream prematurely", b"leader elected", b"replication lag", b"migrations applied",
    b"watching for changes", b"hot reload",
)  # fmt: skip
"""64 phrases of the same kind."""

PREFIXED = tuple(b"a" * length + b"b" for length in (7, 11, 15, 23, 31, 47, 63, 95))
"""For a text of nothing but the letter a: every byte continues all of them, none ever ends."""

EXPRESSIONS = (
    r"worker-\d+ (failed|died)",
    r"\b(error|fatal): .* at line \d+",
    r"took [a-z]+ ms$",
    r"^Done in [0-9.]+ ?s",
)
"""Regular expressions for lines; no line of a log matches one."""
